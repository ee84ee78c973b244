"""A cluster's state without a cluster: what changes would make of it, one after another and undone in any order."""

from dataclasses import dataclass, replace

from harness.brokers.embedded.changes import apply, undo
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.cluster_view import ClusterView
from harness.levers import ClusterChange
from harness.plan import ClusterShape


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """`made` are the changes that were not undone, each with the state before it, as the controller keeps them. States
    have no epochs, so that those which differ in nothing else are equal."""

    declared: ClusterState
    state: ClusterState
    made: tuple[tuple[ClusterChange, ClusterState], ...] = ()

    @classmethod
    def of(cls, shape: ClusterShape) -> "EmbeddedModel":
        """Raises ClusterStateError for a shape that cannot be."""
        state = _without_epochs(Controller(shape, lambda broker: ("", broker)).state)
        return cls(state, state)

    @property
    def view(self) -> ClusterView:
        view = self.state.view()
        declared = (broker.broker_id for broker in self.declared.brokers)
        return replace(view, departed=tuple(broker for broker in declared if broker not in view.brokers))

    def changed(self, change: ClusterChange) -> "EmbeddedModel":
        """Raises ClusterStateError for a change that cannot be."""
        state = _without_epochs(apply(self.state, change, self.declared))
        return replace(self, state=state, made=(*self.made, (change, self.state)))

    def undone(self, change: ClusterChange) -> "EmbeddedModel":
        """Without the last one of several equal changes. Raises ClusterStateError."""
        index = max(index for index, (made, _) in enumerate(self.made) if made == change)
        state = _without_epochs(undo(self.state, change, self.made[index][1]))
        return replace(self, state=state, made=(*self.made[:index], *self.made[index + 1 :]))


def _without_epochs(state: ClusterState) -> ClusterState:
    topics = tuple(
        replace(topic, partitions=tuple(replace(placed, leader_epoch=0) for placed in topic.partitions))
        for topic in state.topics
    )
    return replace(state, epoch=0, topics=topics)

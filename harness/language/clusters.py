"""The cluster of a scenario; brokers that it names have to exist."""

from collections.abc import Sequence

from harness.brokers.names import advertised_address, dialled_as
from harness.brokers.own_certificates import CertificateProblem, read_certificate, unreadable_files
from harness.language.schema import CertificateShape, Cluster
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import Tree, at
from harness.plan import BLACKHOLED_BASE, REFUSED_BASE, CertificateFiles, ClusterShape, Topic
from harness.quantities import quote_value


def cluster_shape(cluster: Cluster, tree: Tree, diagnostics: Diagnostics) -> ClusterShape:
    """The cluster. Leaders and replicas that it cannot have are reported."""
    topics: list[Topic] = []
    for index, topic in enumerate(cluster.topics):
        place = ("topics", index)
        if any(known.name == topic.name for known in topics):
            where = at(tree, (*place, "name"))
            diagnostics.add(where, "duplicate-topic", f"two topics are called {quote_value(topic.name)}", "rename one")
        if topic.replication > cluster.brokers:
            where = at(tree, (*place, "replication"))
            message = f"{topic.replication} replicas need {topic.replication} brokers"
            diagnostics.add(where, "no-such-broker", message, f"the cluster has {cluster.brokers}")
        turns = (1 + i % cluster.brokers for i in range(topic.partitions))
        leaders = tuple(topic.leaders) if topic.leaders is not None else tuple(turns)
        if len(leaders) != topic.partitions:
            message = f"{len(leaders)} leaders for {topic.partitions} partitions"
            diagnostics.add(at(tree, (*place, "leaders")), "leaders", message, "name one leader for each partition")
        for i, leader in enumerate(leaders):
            check_broker(leader, cluster.brokers, at(tree, (*place, "leaders", i)), diagnostics)
        topics.append(
            Topic(name=topic.name, partitions=topic.partitions, replication=topic.replication, leaders=leaders)
        )
    return ClusterShape(
        brokers=cluster.brokers,
        topics=tuple(topics),
        tls=bool(cluster.tls),
        sasl=tuple(dict.fromkeys(cluster.sasl)),
        names=cluster.names,
        certificates=_certificates(cluster, tree, diagnostics),
    )


def _certificates(cluster: Cluster, tree: Tree, diagnostics: Diagnostics) -> CertificateFiles | None:
    """The user's own. What clients would refuse is reported where it is named."""
    own = cluster.tls
    if not isinstance(own, CertificateShape):
        return None
    files = CertificateFiles(ca=own.ca, certificate=own.certificate, key=own.key, path=diagnostics.path)
    named = ClusterShape(brokers=cluster.brokers, names=cluster.names)
    hosts = [dialled_as(named, advertised_address)(broker)[0] for broker in named.broker_ids]
    problems = unreadable_files(files)
    if not problems:
        try:
            read_certificate(files, hosts)
        except CertificateProblem as wrong:
            problems = (wrong,)
    for one in problems:
        diagnostics.add(at(tree, ("tls", one.key)), "certificate", str(one), one.hint)
    return None if problems else files


def check_broker(broker: int, brokers: int, where: Span, diagnostics: Diagnostics) -> None:
    """Note a broker number that the cluster does not have."""
    if broker > brokers:
        hint = f"brokers are 1 to {brokers}" if brokers > 1 else "the only broker is 1"
        diagnostics.add(where, "no-such-broker", f"there is no broker {broker}", hint)


def bootstrap_ids(bootstrap: Sequence[int | str]) -> tuple[int, ...]:
    """The list as plans hold it: each address that is no member's has a number of its own."""
    numbers: list[int] = []
    counts = {"dark": BLACKHOLED_BASE, "refused": REFUSED_BASE}
    for seed in bootstrap:
        if isinstance(seed, str):
            counts[seed] += 1
        numbers.append(counts[seed] if isinstance(seed, str) else seed)
    return tuple(numbers)


def check_bootstrap(bootstrap: Sequence[int | str], brokers: int, tree: Tree, diagnostics: Diagnostics) -> None:
    """Note bootstrap brokers that the cluster does not have, or that are named twice."""
    for i, broker in enumerate(bootstrap):
        if isinstance(broker, str):
            continue
        where = at(tree, ("bootstrap", i))
        check_broker(broker, brokers, where, diagnostics)
        if broker in bootstrap[:i]:
            diagnostics.add(where, "duplicate-broker", f"broker {broker} is named twice", "remove one of them")

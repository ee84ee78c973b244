"""Sarama, the Go client: its producers with the timing of their source. Files and functions carry upstream's names.

The waits that it traces lie end to end on the path of a send, so that their sum is the send's time, with three
exceptions. A dial that was started to look ahead (the leader's, before the first message) may overlap with another
wait. Several partitions, and the refresh in the background (its back-offs are called so), wait at the same time. Behind
each error of `updateLeader` the partition's producer backs off once more: that wait begins when the caller already has
the error.
"""

from client.golang import GoResolver
from client.profiles.contract import Profile
from client.profiles.sarama.config import find_conflicts
from client.profiles.sarama.preparation import prepare
from client.profiles.sarama.releases import RELEASES
from client.profiles.sarama.session import NO_DEADLINE, PRODUCERS, SaramaSession
from client.profiles.sarama.settings import CREDENTIALS, SETTINGS

PROFILE = Profile(
    name="sarama",
    about="Sarama's SyncProducer and AsyncProducer (Go)",
    releases=tuple(RELEASES),
    settings=SETTINGS,
    open=SaramaSession,
    producers=tuple(PRODUCERS),
    no_deadline=NO_DEADLINE,
    conflicts=find_conflicts,
    prepare=prepare,
    resolver=GoResolver,
    credentials=CREDENTIALS,
)

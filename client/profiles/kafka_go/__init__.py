"""kafka-go, the Go client: its Writer on a Transport, and its Dialer, with the timing of their source.

Files and functions carry upstream's names. The waits that it traces lie end to end on the path of a send, so that their
sum is the send's time. Metadata is refreshed in the background at the same time; the very first refresh of a pool is
what the first send waits for.
"""

from client.golang import GoResolver
from client.profiles.contract import Profile
from client.profiles.kafka_go.formulas import FUNCTIONS
from client.profiles.kafka_go.preparation import prepare
from client.profiles.kafka_go.releases import RELEASES
from client.profiles.kafka_go.session import NO_DEADLINE, PRODUCERS, open_session
from client.profiles.kafka_go.settings import SETTINGS

PROFILE = Profile(
    name="kafka-go",
    about="kafka-go's Writer, Transport and Dialer (Go)",
    releases=tuple(RELEASES),
    settings=SETTINGS,
    open=open_session,
    producers=PRODUCERS,
    no_deadline=NO_DEADLINE,
    functions=FUNCTIONS,
    prepare=prepare,
    resolver=GoResolver,
)

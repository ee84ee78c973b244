"""What decides the timing of Go programs: channels, select, timers, contexts, net.Dialer, and the order of maps.

Profiles of Go clients are written with these, so that their tasks wait for one another as in the upstream source. A
goroutine is started by `client.tasks.BackgroundTasks.go`.
"""

from client.golang.channel import Channel, ClosedChannelError
from client.golang.context import Context, background, with_cancel, with_deadline, with_timeout
from client.golang.dialer import Dialer
from client.golang.maps import GoMap, first_in_map, in_map_order
from client.golang.mutex import Mutex
from client.golang.neterrors import go_error_name, go_error_text, go_lookup_text
from client.golang.resolver import GoResolver, resolve_within
from client.golang.rwmutex import RWMutex
from client.golang.select import Receive, Selected, Send, select, select_or_default
from client.golang.sleep import sleep
from client.golang.time import Ticker, Timer, after
from client.golang.tls_records import TlsRecords
from client.golang.waitgroup import WaitGroup

__all__ = [
    "Channel",
    "ClosedChannelError",
    "Context",
    "Dialer",
    "GoMap",
    "GoResolver",
    "Mutex",
    "RWMutex",
    "Receive",
    "Selected",
    "Send",
    "Ticker",
    "Timer",
    "TlsRecords",
    "WaitGroup",
    "after",
    "background",
    "first_in_map",
    "go_error_name",
    "go_error_text",
    "go_lookup_text",
    "in_map_order",
    "resolve_within",
    "select",
    "select_or_default",
    "sleep",
    "with_cancel",
    "with_deadline",
    "with_timeout",
]

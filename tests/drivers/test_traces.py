"""Protects the quick way of reading a trace line: where it reads one at all, it reads what the careful one reads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.events import TraceKind
from harness.drivers import protocol
from harness.drivers.errors import SubjectError
from harness.drivers.protocol import SubjectEvent, Trace, parse

NAMES = st.sampled_from([
    "operation", "connection", "broker", "address", "bytes", "limit_s", "try_number", "text", "colour", "id", "ev",
])  # fmt: skip
VALUES = (
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text(max_size=5)
    | st.sampled_from(["\ud800", "é", 0, -(2**63), 2**63, 1e300, 1e30, [], {}])
)  # fmt: skip
LINES = st.builds(
    lambda at_ns, kind, fields: json.dumps(
        {"ev": "trace", "at_ns": at_ns, "kind": kind, **fields}, separators=(",", ":")
    ).encode(),
    st.integers(0, 2**64) | st.none() | st.just(1.5),
    st.sampled_from([*[kind.value for kind in TraceKind], "lunch"]) | st.none(),
    st.dictionaries(NAMES, VALUES, max_size=4),
)


def outcome(line: bytes) -> SubjectEvent | str:
    try:
        return parse(line)
    except SubjectError as error:
        return error.text.split(": ")[0]


@given(LINES)
def test_both_ways_say_the_same(line: bytes) -> None:
    quick = outcome(line)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protocol, "plain_trace", lambda _: None)
        careful = outcome(line)
    assert quick == careful
    if isinstance(quick, Trace) and isinstance(careful, Trace):
        assert [type(value) for value in quick.fields.values()] == [type(value) for value in careful.fields.values()]


def test_a_bundled_clients_trace_goes_the_quick_way() -> None:
    line = b'{"ev":"trace","at_ns":5,"kind":"wait_started","waiting_on":"Net.ReadTimeout","limit_s":2.0,"broker":-1}'
    wanted = Trace(5, "wait_started", {"waiting_on": "Net.ReadTimeout", "limit_s": 2.0, "broker": -1})
    assert protocol.plain_trace(json.loads(line)) == wanted
    assert parse(line) == parse(json.loads(line)) == wanted


def test_what_was_never_spelt_out_is_held_to_the_same_rules() -> None:
    with pytest.raises(SubjectError, match=r"unknown field 'colour'.*colour.:.red"):
        parse({"ev": "trace", "at_ns": 5, "kind": "state", "colour": "red"})

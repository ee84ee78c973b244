"""Protects the framing: however TCP cuts the stream, the same frames come out, and a bad size ends it at once."""

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.wire.exceptions import WireError
from client.wire.frames import FrameError, FrameReader, frame


@given(payloads=st.lists(st.binary(max_size=40), max_size=8), data=st.data())
def test_every_cut_of_the_stream_gives_the_same_frames(payloads: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(frame(p) for p in payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    reader = FrameReader()
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += reader.feed(stream[start:end])
    reader.eof()
    assert found == payloads


def test_one_byte_at_a_time() -> None:
    reader = FrameReader()
    found = [f for byte in frame(b"hello") + frame(b"") for f in reader.feed(bytes([byte]))]
    assert found == [b"hello", b""]


@pytest.mark.parametrize(
    ("size", "text"),
    [(-1, "a frame's size is negative: -1"), (101, "a frame's size of 101 bytes is over the limit of 100")],
)
def test_a_bad_size_is_refused_for_ever(size: int, text: str) -> None:
    reader = FrameReader(max_bytes=100)
    with pytest.raises(FrameError) as refused:
        reader.feed(frame(b"before") + struct.pack(">i", size))
    assert str(refused.value) == text
    assert refused.value.frames == (b"before",)
    assert isinstance(refused.value, WireError)
    with pytest.raises(FrameError, match="size"):
        reader.feed(frame(b"after"))


def test_the_limit_itself_is_legal() -> None:
    assert FrameReader(max_bytes=5).feed(frame(b"12345")) == [b"12345"]


def test_a_huge_size_sets_no_memory_aside() -> None:
    reader = FrameReader(max_bytes=2**31 - 1)
    tracemalloc.start()
    reader.feed(struct.pack(">i", 2**31 - 1))
    with pytest.raises(FrameError):
        FrameReader().feed(struct.pack(">i", 2**31 - 1))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 1_000_000


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (b"\x00\x00", "end of stream inside a frame's size: 2 of 4 bytes"),
        (b"\x00\x00\x00\x09", "end of stream inside a frame's body: 0 of 9 bytes"),
        (b"\x00\x00\x00\x09abc", "end of stream inside a frame's body: 3 of 9 bytes"),
    ],
)
def test_the_end_inside_a_frame_says_where(held: bytes, text: str) -> None:
    reader = FrameReader()
    assert reader.feed(frame(b"whole") + held) == [b"whole"]
    with pytest.raises(FrameError) as cut:
        reader.eof()
    assert str(cut.value) == text


def test_the_end_between_frames_is_no_error() -> None:
    reader = FrameReader()
    reader.eof()
    reader.feed(frame(b"whole"))
    reader.eof()

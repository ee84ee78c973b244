"""Protects DNS messages: what is written is read again, and what is no message is refused, never misread."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.net.dns import (
    Answer,
    Question,
    RecordKind,
    ResponseCode,
    decode_answer,
    decode_question,
    encode_answer,
    encode_question,
)

ASKED = Question(4711, "broker-1.kafka.test", RecordKind.A)
GOS_QUESTION = bytes.fromhex(
    "26c8010000010000000000010862726f6b65722d31056b61666b610474657374000001000100002904d0000000000000"
)
"""What Go 1.26 sends, with its EDNS record."""


def test_a_question_as_go_asks_it() -> None:
    assert decode_question(GOS_QUESTION) == Question(0x26C8, "broker-1.kafka.test", RecordKind.A)


@pytest.mark.parametrize(
    ("kind", "addresses"), [(RecordKind.A, ("127.0.2.1", "127.0.2.2")), (RecordKind.AAAA, ("::1",)), (RecordKind.A, ())]
)
def test_what_is_written_is_read_again(kind: RecordKind, addresses: tuple[str, ...]) -> None:
    question = ASKED._replace(kind=kind)
    assert decode_question(encode_question(question)) == question
    answer = Answer(question.number, ResponseCode.NO_ERROR, addresses)
    assert decode_answer(encode_answer(question, answer)) == answer


def test_a_name_that_does_not_exist() -> None:
    answer = Answer(ASKED.number, ResponseCode.NO_SUCH_NAME)
    assert decode_answer(encode_answer(ASKED, answer)) == answer


@pytest.mark.parametrize("name", ["", ".", "a..b", "x" * 64, ".".join(["label"] * 50), "bröker"])
def test_what_is_no_name_cannot_be_asked_for(name: str) -> None:
    with pytest.raises(ValueError):
        encode_question(ASKED._replace(name=name))


def test_every_cut_is_refused() -> None:
    whole = encode_answer(ASKED, Answer(ASKED.number, ResponseCode.NO_ERROR, ("127.0.2.1",)))
    for length in range(len(whole)):
        with pytest.raises(ValueError):
            decode_answer(whole[:length])
    for length in range(len(GOS_QUESTION) - 15):
        with pytest.raises(ValueError):
            decode_question(GOS_QUESTION[:length])


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_or_read_and_nothing_else(message: bytes) -> None:
    for decode in (decode_question, decode_answer):
        with suppress(ValueError):
            decode(message)


def test_a_question_is_no_answer() -> None:
    with pytest.raises(ValueError, match="no answer"):
        decode_answer(encode_question(ASKED))
    with pytest.raises(ValueError, match="no question"):
        decode_question(encode_answer(ASKED, Answer(ASKED.number, ResponseCode.NO_ERROR)))

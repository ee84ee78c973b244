"""What a subject can do wrong: each with a stable code, in words that its author can act on."""

from enum import StrEnum


class ProtocolViolation(StrEnum):
    """The codes of `SubjectError`, as docs/SUBJECT_PROTOCOL.md lists what ends a run as the subject's error."""

    NOT_STARTED = "subject-not-started"
    NEVER_READY = "subject-never-ready"
    DIED = "subject-died"
    GARBAGE_LINE = "subject-garbage-line"
    UNKNOWN_EVENT = "subject-unknown-event"
    OUT_OF_ORDER = "subject-out-of-order"
    ANSWERS_UNKNOWN = "subject-answers-unknown"
    ANSWERS_TWICE = "subject-answers-twice"
    FLOODS = "subject-floods"
    IGNORES_CLOSE = "subject-ignores-close"
    STOPPED_READING = "subject-stopped-reading"
    REFUSES_SETTINGS = "subject-refuses-settings"
    NOT_CONNECTED = "subject-not-connected"


class SubjectError(Exception):
    """The subject broke the protocol. `code` is stable, `text` says what it did, what was due, and where its log is."""

    def __init__(self, code: ProtocolViolation, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

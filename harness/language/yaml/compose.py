"""Turns a YAML text into nodes with places, or raises its first error.

libyaml reads an ordinary file some twenty times as fast as ruamel.yaml does. What it refuses, and what the two are
known to read differently, is read by ruamel.yaml: it knows YAML 1.2, and its errors say what was expected where.
"""

import re
import warnings
from typing import TYPE_CHECKING, Any, Protocol, cast

from yaml import YAMLError

from harness.quantities import quote_value

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError
    from yaml import CBaseLoader
else:
    try:
        from yaml import CBaseLoader
    except ImportError:  # PyYAML was built without libyaml: ruamel.yaml reads everything
        CBaseLoader = None

DEEPEST = 40
"""The deepest nesting of nodes; the document's root is at 0."""

NEEDS_RUAMEL = re.compile(
    r"""
      [^\n\ -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]  # tabs, other line ends, BOM, control and rare ones
    | ^%                                # directives
    | (?:^|[\s\[\]{},:?-]) (?:&|!(?!=))  # anchors and tags
    | [|>][-+0-9]*\s*(?:$|\#)           # blocks of text
    | [\]}]\s*:                         # collections as keys
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What the two libraries treat differently, and what is rare, is read by ruamel.yaml."""


class Mark(Protocol):
    """A place in the text: `index` counts characters from 0."""

    @property
    def index(self) -> int: ...


class Node(Protocol):
    """What both libraries call a node: `id` is scalar, sequence or mapping, and `value` what it holds."""

    id: str
    value: Any
    start_mark: Mark
    end_mark: Mark


class YamlSyntaxError(Exception):
    """The text is not YAML: the error is at character `index`."""

    def __init__(self, index: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.index = index
        self.code = code
        self.message = message
        self.hint = hint


def compose(source: str) -> Node | None:
    """The text's one document, None where there is none. Raises YamlSyntaxError."""
    return compose_with_libyaml(source) or compose_with_ruamel(source)


def compose_with_libyaml(source: str) -> Node | None:
    """The text's one document; None where there is none, and for a text that is left to ruamel.yaml."""
    if CBaseLoader is None or NEEDS_RUAMEL.search(source) is not None:
        return None
    try:
        return cast("Node | None", _LibyamlLoader(source).get_single_node())
    except YAMLError:
        return None


class _NeedsRuamel(YAMLError):
    """Left to ruamel.yaml."""


if CBaseLoader is not None:

    class _LibyamlLoader(CBaseLoader):
        """libyaml's composer without tags: `scalars` says what plain scalars mean."""

        depth = -1

        def resolve(self, kind: object, value: object, implicit: object) -> str:
            if value == "" and implicit == (True, False):  # where nothing stands is a matter of opinion
                raise _NeedsRuamel
            return ""

        def descend_resolver(self, *_: object) -> None:
            self.depth += 1
            if self.depth > DEEPEST:  # the composer recurses in C
                raise _NeedsRuamel

        def ascend_resolver(self) -> None:
            self.depth -= 1


def compose_with_ruamel(source: str) -> Node | None:
    """The text's one document, None where there is none. Raises YamlSyntaxError, whatever ruamel.yaml raises."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.error import YAMLError as AnyError
    from ruamel.yaml.reader import ReaderError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an anchor that is defined again is legal YAML
            return YAML(typ="safe", pure=True).compose(source)  # type: ignore[no-any-return]
    except MarkedYAMLError as error:
        raise _translated(error, source) from error
    except ReaderError as error:
        where = error.position if isinstance(error.position, int) else 0
        message = f"character U+{_codepoint(error.character):04X} has no place in YAML"
        raise YamlSyntaxError(where, "yaml", message, "remove it") from error
    except RecursionError as error:
        raise YamlSyntaxError(0, "too-deep", "lists and mappings are nested too deeply") from error
    except (AnyError, ValueError, LookupError, AttributeError, TypeError, AssertionError, OverflowError) as error:
        raise YamlSyntaxError(0, "yaml", f"this is not YAML: {quote_value(str(error))}") from error


def _translated(error: "MarkedYAMLError", source: str) -> YamlSyntaxError:
    """ruamel's error, with a clearer message where there is one."""
    mark = error.problem_mark or error.context_mark
    index = min(getattr(mark, "index", 0), len(source))
    code, message, hint = "yaml", f"this is not YAML: {error.problem or error.context}", ""
    if source[index : index + 1] == "\t":
        code, message, hint = "tab", "a tab where YAML wants spaces", "indent with spaces"
    elif "another document" in message:
        message, hint = "a file holds one scenario", "move what follows `---` to a file of its own"
    elif "undefined alias" in message:
        code, hint = "unknown-anchor", "define it before with &name, or quote the text"
    elif "mapping values are not allowed" in message:
        hint = "put the value in quotes, or begin a new line before the key"
    elif "stream end" in message or "end of stream" in message:
        hint = "a bracket or a quote is not closed"
    return YamlSyntaxError(index, code, message, hint)


def _codepoint(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")

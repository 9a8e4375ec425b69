"""A YAML file -> plain values. Imports only YAML, so that errors of the file appear at once.

Reads with libyaml if PyYAML was built with it, which is seven times faster. A file without anchors,
tags and the like, as nearly all are, is built from the events of its one reading, three times as
fast again. Errors have the texts of PyYAML's own reader, so that they do not depend on the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from bridge.errors import ConfigError
from bridge.runtime.memory import uncollected

_DEEPEST = 100  # levels of nesting; libyaml overruns the stack of the process at about 30,000
DEFAULT_STORE = Path("data/bridge.sqlite3")
_STORE = re.compile(
    r"^store:[ \t]*(?:\{.*?|(?:#.*)?\n(?:[ \t]+.*\n|[ \t]*\n)*?[ \t]+)"
    r"path:[ \t]*[\"']?([^\"'\s#,}]+)",
    re.MULTILINE,
)
_UNQUOTED = re.compile(r"[-:\[,{]\s*([@*&!%`])")
_OPENS: dict[type, type] = {yaml.MappingStartEvent: dict, yaml.SequenceStartEvent: list}
_CLOSES = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
_Fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "bool", "int", "float", "null")}


class _Strict:
    """Rejects a key that appears twice in a mapping, because its first value would be lost, and
    values that are invalid for their type, such as the date 2026-02-30."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except ValueError as error:
            raise yaml.MarkedYAMLError(
                problem=f"{error}; a text must stand in quotes", problem_mark=node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in keys:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark
                )
            keys.add(str(key.value))
        return super().construct_mapping(node, deep)  # type: ignore[misc]


class _StrictLoader(_Strict, yaml.SafeLoader):
    pass


class FileLoader(_Strict, _Fast):
    """Builds any file; its errors are those of the machine's YAML library."""


def store_named_in(path: Path) -> Path:
    """The store's path in a configuration file that may be invalid, if it can be found, else the
    default."""
    try:
        match = _STORE.search(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        match = None
    named = Path(match[1]) if match else DEFAULT_STORE
    return path.parent / named.expanduser()


def read_yaml(path: Path) -> object:
    """The value in the file; {} for an empty file. Raises ConfigError with the place of an error
    and what to do."""
    return parsed_yaml(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of the file. Raises ConfigError."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ConfigError(
            f"Cannot read the configuration {str(path)!r}: {error.strerror}; give its path with "
            "-c, or make one with `uacs-bridge init`"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not text in UTF-8; save it again as UTF-8") from None


def parsed_yaml(text: str, path: Path) -> object:
    """The value of a text from this file, as `read_yaml` returns it. Raises ConfigError."""
    try:
        return _parsed(text) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}{_problem(error, text)}") from None
    except RecursionError:
        raise ConfigError(
            f"{path}: lists and mappings are nested more than {_DEEPEST} levels deep; correct the "
            "brackets or the indentation"
        ) from None


def plain_value(text: str) -> object | None:
    """The value of a text without anchors, tags and the like; None for any other one, for an
    invalid and for an empty one."""
    try:
        with uncollected():
            return _PlainFile(text).value()
    except (_Unusual, yaml.YAMLError, UnicodeEncodeError):
        return None


def _parsed(text: str) -> object:
    """Raises YAMLError, and RecursionError for a text that is nested too deeply."""
    if (value := plain_value(text)) is not None:
        return value
    try:
        with uncollected():
            _check_depth(text)
            return yaml.load(text, FileLoader)  # noqa: S506 - it is a safe loader
    except (yaml.YAMLError, UnicodeEncodeError):
        return yaml.load(text, _StrictLoader)  # noqa: S506 - it is a safe loader; it says why


class _Unusual(Exception):
    """The file holds what only YAML's own loader builds, or what it rejects."""


class _PlainFile:
    """A file of mappings with texts as keys, of sequences and of plain values, each built from the
    parser's events, and each distinct plain text once."""

    def __init__(self, text: str) -> None:
        self._loader = _Fast(text)
        self._values: dict[str, Any] = {}

    def value(self) -> object:
        """Raises _Unusual, or YAMLError."""
        event: Callable[[], yaml.Event] = self._loader.get_event
        event()  # the stream starts
        if isinstance(event(), yaml.StreamEndEvent):
            return None
        value = self._collection(event)
        event()  # the document ends
        if not isinstance(event(), yaml.StreamEndEvent):
            raise _Unusual
        return value

    def _collection(self, next_event: Callable[[], Any]) -> object:
        """The document's value, which is a mapping or a sequence. `key` is the one whose value
        comes next; None where a key comes next."""
        outer: list[Any] = []
        top: list[Any] = []
        inner: Any = top
        key: str | None = None
        while True:
            event = next_event()
            kind = type(event)
            if kind in _CLOSES:
                inner, key = outer.pop(), None
                if inner is top:
                    return top[0]
                continue
            if kind is yaml.AliasEvent or event.anchor is not None or event.tag is not None:
                raise _Unusual
            value = self._scalar(event) if kind is yaml.ScalarEvent else _OPENS[kind]()
            if type(inner) is list:
                inner.append(value)
            elif key is not None:
                inner[key], key = value, None
            elif type(value) is str and value not in inner:
                key = value
            else:
                raise _Unusual
            if kind is not yaml.ScalarEvent:
                outer.append(inner)
                inner = value
                if len(outer) > _DEEPEST:
                    raise _Unusual
            elif inner is top:
                raise _Unusual

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if not event.implicit[0]:
            return text
        if text not in self._values:
            tag = self._loader.resolve(yaml.ScalarNode, text, (True, False))
            if tag not in _PLAIN_TAGS:
                raise _Unusual
            try:
                self._values[text] = self._loader.construct_object(yaml.ScalarNode(tag, text))
            except ValueError:
                raise _Unusual from None
        return self._values[text]


def _check_depth(text: str) -> None:
    """Check the nesting with YAML events, which need no recursion: libyaml builds nodes recursively
    in C, without a limit."""
    depth = 0
    for event in yaml.parse(text, _Fast):
        if type(event) in _OPENS:
            depth += 1
            if depth > _DEEPEST:
                raise RecursionError
        elif isinstance(event, _CLOSES):
            depth -= 1


def _problem(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return (
            f" line {line} is not valid YAML: it holds {chr(error.character)!r}, which no text has"
        )
    mark = getattr(error, "problem_mark", None)
    line = f" line {mark.line + 1}" if mark else ""
    problem = getattr(error, "problem", None) or "see its syntax"
    todo = _todo(text.splitlines()[mark.line : mark.line + 1] if mark else [])
    return f"{line} is not valid YAML: {problem}{todo}"


def _todo(lines: Sequence[str]) -> str:
    """How to correct the line where parsing failed, if that is known."""
    line = next(iter(lines), "")
    if "\t" in line:
        return "; indent with spaces, never with tabs"
    if match := _UNQUOTED.search(line):
        return f"; what begins with {match[1]!r} must stand in quotes"
    return ""

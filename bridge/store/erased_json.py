"""JSON of messages that quote or mention what is erased -> the same JSON without it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from bridge.model import ActorId
from bridge.model.erasure_records import ERASED, ERASED_NAME
from bridge.model.refs import split_key

_SHORTEST = 8  # characters of a text that is looked for in other messages
_BEGINNING = 24  # characters by which an excerpt is recognised


class TextEraser:
    """Replaces texts, and excerpts of them that begin as they do, by `[erased]`. Texts of less than
    8 characters tell nobody anything and stay."""

    def __init__(self, texts: Iterable[str]) -> None:
        variants = {form for text in texts for form in (text, " ".join(text.split()))}
        self._texts = sorted((t for t in variants if len(t) >= _SHORTEST), key=len, reverse=True)

    @property
    def is_empty(self) -> bool:
        """Whether there is no text to look for."""
        return not self._texts

    def erase(self, body: bytes) -> bytes:
        """Return the JSON without the texts; the same bytes if it has none of them."""
        return _rewritten(body, self._in_string)

    def _in_string(self, value: str) -> str:
        for text in self._texts:
            value = _without(value, text)
        return value


def _without(value: str, text: str) -> str:
    beginning = text[:_BEGINNING]
    start = value.find(beginning)
    while start >= 0:
        end = start + len(beginning)
        while end < len(value) and end - start < len(text) and value[end] == text[end - start]:
            end += 1
        value = value[:start] + ERASED + value[end:]
        start = value.find(beginning, start + len(ERASED))
    return value


class PersonEraser:
    """Replaces a person, in mentions, lists of names and native objects, by one without a name.

    - `native_id`: the platform's id of the person.
    - `stand_in`: the actor in their place.
    - `names`: the person's names, the longest first.
    """

    def __init__(
        self, actor: ActorId, native_id: str, stand_in: ActorId, names: Sequence[str]
    ) -> None:
        self._actor = actor
        self._native_id = native_id
        self._stand_in = stand_in
        self._native_stand_in = split_key(stand_in)[-1]
        url = "|".join(map(re.escape, {actor, quote(actor, safe=""), quote(actor, safe=":")}))
        self._mention = re.compile(rf"\[(?:\\.|[^\]\\])*\]\(<?uacs:actor/(?:{url})[^)]*\)")
        self._native = re.compile(rf"(?<![\w-]){re.escape(native_id)}(?![\w-])")
        self._names = re.compile("|".join(f"@{re.escape(name)}" for name in names) or r"(?!)")

    def erase(self, body: bytes) -> bytes:
        """Return the JSON without the person; the same bytes if it does not name them."""
        return _rewritten(body, self._in_string, self._in_object)

    def _in_string(self, value: str) -> str:
        mention = f"[@{ERASED_NAME}](uacs:actor/{self._stand_in})"
        value = self._mention.sub(lambda _: mention, value)
        value = value.replace(self._actor, self._stand_in)
        replaced = self._native.sub(self._native_stand_in, value)
        # A text that names the person by an id may name them in words, too.
        return self._names.sub(f"@{ERASED_NAME}", replaced)

    def _in_object(self, value: dict[str, Any]) -> dict[str, Any] | None:
        """A native object about the person, and a list of names by actor id."""
        if value.get("id") in (self._native_id, self._actor):
            return {key: self._of_person(key, member) for key, member in value.items()}
        if self._actor in value or self._native_id in value:
            return {
                self._in_string(key): ERASED_NAME
                if key in (self._actor, self._native_id) and isinstance(member, str)
                else member
                for key, member in value.items()
            }
        return None

    def _of_person(self, key: str, member: Any) -> Any:
        if key == "id":
            return self._in_string(member)
        if isinstance(member, str):
            return ERASED_NAME if "name" in key else ""
        return None if isinstance(member, dict | list) else member


def _rewritten(
    body: bytes,
    in_string: Callable[[str], str],
    in_object: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None,
) -> bytes:
    before = json.loads(body)
    after = _walk(before, in_string, in_object)
    if after == before:
        return body
    return json.dumps(after, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _walk(
    value: Any,
    in_string: Callable[[str], str],
    in_object: Callable[[dict[str, Any]], dict[str, Any] | None],
) -> Any:
    if isinstance(value, str):
        return in_string(value)
    if isinstance(value, list):
        return [_walk(item, in_string, in_object) for item in value]
    if isinstance(value, dict):
        replaced = in_object(value)
        members = value if replaced is None else replaced
        return {key: _walk(member, in_string, in_object) for key, member in members.items()}
    return value

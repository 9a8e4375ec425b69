"""What may be sent: nothing unsafe, and nothing that the platform refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from bridge.app.translation.json_text import write_json
from bridge.content.cards.json import card_from_json
from bridge.errors import InvalidUacs
from bridge.runtime.discovery import connector_type
from bridge.uacs import read_message
from tests.corpus.payloads import Case
from tests.corpus.platforms import part_of
from tests.corpus.view import Json, of

_SLACK_PINGS = re.compile(r"<(?:!(?:here|channel|everyone|subteam)|@|#[CG])")
_UNPARSED = ("plain_text", "text", "link", "raw_text", "button")  # nothing in these is markup
_DISCORD_PINGS = re.compile(r"@(?:everyone|here)\b|<@[!&]?\d+>")
_URL_KEYS = frozenset({
    "url", "uri", "href", "image_url", "thumb_url", "title_link", "author_link", "icon_url",
    "thumbnail_url", "video_url", "title_url", "iconUrl", "contentUrl", "poster",
})  # fmt: skip
_SAFE = re.compile(r"(?i)(?:https?://|mailto:|attachment://|data:image/|discord://|icon:)")


def sent_home(platform: str, payload: Any) -> Any:
    """The same JSON less the fields that capabilities.py calls read only."""
    return connector_type(platform).home(payload)


def unsafe(platform: str, messages: Sequence[Any], case: Case) -> Iterator[str]:
    """Mentions that the author could not have made, and addresses that are no links."""
    for message in messages:
        if platform != case.platform:
            yield from _PINGS.get(platform, _none)(message)
        if platform in _PINGS:
            yield from _addresses(message)


def _none(_message: Any) -> Iterator[str]:
    return iter(())


def _slack_pings(message: Any) -> Iterator[str]:
    for node in _objects(message):
        kind = node.get("type")
        if kind in ("broadcast", "user", "usergroup"):
            yield f"mention: rich text {kind}"
        if kind in _UNPARSED:
            continue
        for key in ("text", "value", "title", "pretext", "footer"):
            text = node.get(key)
            if isinstance(text, str) and _SLACK_PINGS.search(text):
                yield f"mention: {text[:60]!r}"


def _discord_pings(message: Any) -> Iterator[str]:
    if of(of(message, "allowed_mentions"), "parse") == []:
        return
    for key, value in _pairs(message):
        text = value if key in ("content", "label", "name", "text") else ""
        if isinstance(text, str) and (match := _DISCORD_PINGS.search(text)):
            yield f"mention: {match.group()!r} in {text[:60]!r}"


def _teams_pings(message: Any) -> Iterator[str]:
    for key, value in _pairs(message):
        if key == "mentioned":
            yield f"mention: entity {value!r}"


_PINGS: dict[str, Callable[[Any], Iterator[str]]] = {
    "slack": _slack_pings,
    "discord": _discord_pings,
    "teams": _teams_pings,
}


def _addresses(message: Any) -> Iterator[str]:
    for key, value in _pairs(message):
        if key in _URL_KEYS and isinstance(value, str) and value and not _SAFE.match(value):
            yield f"address: {key} {value[:60]!r}"


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    for node in _objects(value):
        yield from node.items()


def _objects(value: Any) -> Iterator[Json]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield cast("Json", node)
            stack += node.values()
        elif isinstance(node, list):
            stack += node


# --- schemas and limits ---------------------------------------------------------------------


def broken(platform: str, message: Any) -> list[str]:
    """What the platform would refuse."""
    match platform:
        case "uacs":
            return _broken_uacs(message)
        case "card":
            card_from_json(message)
            return []
        case _:
            return _rules(platform)(message)


def _broken_uacs(message: Any) -> list[str]:
    try:
        read_message(write_json(message))
    except InvalidUacs as error:
        return [str(error)]
    return []


@cache
def _rules(platform: str) -> Callable[[Any], list[str]]:
    module = part_of(platform, "rules")
    return module.faults if module else lambda _message: []


_NUMBERS = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|/\S*|\[[^\]]*\]")


def cause(what: str) -> str:
    """A fault without the numbers, names and places that are its own."""
    return _NUMBERS.sub("_", what)[:80]

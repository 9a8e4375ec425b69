"""The names and files that readers need besides a payload, and safe access to JSON. Pure; total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from pydantic import JsonValue

from connectors.discord import ids
from connectors.discord.text import Names

Json = dict[str, JsonValue]

ATTACHMENT = "attachment://"
DEEPEST = 16  # nesting of components and forwards; deeper ones are read flat
_NOTHING: Json = {}
_LAST = 253_402_300_799  # the last second of the year 9999


@dataclass(frozen=True, slots=True)
class Source:
    """The names of ids in the texts, and the message's files by name."""

    names: Names
    files: Mapping[str, Json] = field(default_factory=dict[str, Json])


def source_of(workspace: str) -> Source:
    """Return the source of a payload without its message: mentions show ids."""
    return _bare_source(workspace)


@lru_cache(maxsize=1024)
def _bare_source(workspace: str) -> Source:
    return Source(Names(ids.channel_ref(workspace or None, "")))


def source_of_message(native: Json, workspace: str) -> Source:
    """Return the names of users and channels in the message, and its files."""
    people = {item: name for item, name in map(_person, objects(native, "mentions")) if item}
    others = {text(item, "id"): text(item, "name") for item in objects(native, "mention_channels")}
    files = {text(item, "filename"): item for item in objects(native, "attachments")}
    if not (people or others or files):
        return source_of(workspace)
    others.pop("", None)
    channel = ids.channel_ref(workspace or None, "")
    return Source(Names(channel, people, others), files)


def _person(user: Json) -> tuple[str, str]:
    nick = text(mapping(user, "member"), "nick")
    return text(user, "id"), nick or text(user, "global_name") or text(user, "username")


# --- safe access ----------------------------------------------------------------------------


def text(value: Json, key: str) -> str:
    field = value.get(key)
    return field if isinstance(field, str) else ""


def mapping(value: Json, key: str) -> Json:
    field = value.get(key)
    return field if isinstance(field, dict) else _NOTHING


def items(value: Json, key: str) -> Sequence[JsonValue]:
    field = value.get(key)
    return field if isinstance(field, list) else ()


def objects(value: Json, key: str) -> list[Json]:
    return [item for item in items(value, key) if isinstance(item, dict)]


def whole(value: Json, key: str) -> int | None:
    """Return an integer field; None for other types and for booleans."""
    number = value.get(key)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def count(value: Json, key: str) -> int | None:
    """Return an integer field that is not negative."""
    number = whole(value, key)
    return number if number is not None and number >= 0 else None


def kind_of(component: Json) -> int | None:
    return whole(component, "type")


def flagged(value: Json, key: str) -> bool:
    return value.get(key) is True


def has_flag(value: Json, flag: int) -> bool:
    return bool((whole(value, "flags") or 0) & flag)


def moment(value: Json, key: str) -> int | None:
    """Return the Unix seconds of an ISO 8601 time; None for any other text."""
    stamp = text(value, key)
    if not stamp:
        return None
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    try:
        return int(aware.timestamp())
    except (OverflowError, ValueError):
        return None

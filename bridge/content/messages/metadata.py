"""The bridge's additions to UACS, in the seed's own extension point `Message.metadata.uacs_bridge`.

Malformed additions are ignored with a warning and stay in the message unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictStr,
    ValidationError,
)

from bridge.uacs import ContentPart, Message, StructuredDataPart

KEY = "uacs_bridge"
VERSION = 1

Index = Annotated[str, Field(strict=True, pattern="^(0|[1-9][0-9]{0,8})$")]
"""A content index as the key of a JSON object has it: '0', '12'."""

Position = Annotated[int, Field(strict=True, ge=0)]
Seconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class PartDetails(BaseModel):
    """Details of a part for which the seed has no field; `size` is in bytes.

    - `quoted`: somebody else wrote it, and the message's author passes it on.
    - `notice`: the bridge added it: an answer failed or was stopped.
    - `repeats_alt`: the text repeats the `alt` of the part before it, for readers that do not know
      this metadata.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: StrictStr | None = None
    alt: StrictStr | None = None
    size: Position | None = None
    duration_s: Seconds | None = None
    spoiler: StrictBool | None = None
    path: StrictStr | None = None
    quoted: StrictBool | None = None
    notice: StrictBool | None = None
    repeats_alt: StrictBool | None = None


class KeptFile(BaseModel):
    """Stored bytes: their id in the blob store, their type, and their number."""

    model_config = ConfigDict(frozen=True, extra="allow")

    file_id: StrictStr
    media_type: StrictStr
    size: Position


class Reactions(BaseModel):
    """The people who react with one emoji, on any platform: actor ids, in order."""

    model_config = ConfigDict(frozen=True, extra="allow")

    emoji: StrictStr
    actors: tuple[StrictStr, ...]


class InThread(BaseModel):
    """The thread of a message: its root, and the root's first words, which are empty if the reader
    may not see it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    root: StrictStr
    words: StrictStr = ""


class RepliesTo(BaseModel):
    """The message that a message answers, its author and its first words; both are empty if the
    reader may not see it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    message: StrictStr
    author: StrictStr = ""
    words: StrictStr = ""


class Feedback(BaseModel):
    """One person's opinion of an answer; `at` is an RFC 3339 time."""

    model_config = ConfigDict(frozen=True, extra="allow")

    actor: StrictStr
    sense: Literal["good", "bad"]
    comment: StrictStr = ""
    at: StrictStr


class BridgeMetadata(BaseModel):
    """Version 1 of the additions. Unknown fields are kept, so that an older bridge loses nothing of
    a newer one.

    - `summary`: the text of the message's notification, in place of its first words.
    - `origin`: a link to the original message.
    - `kept`: the stored files of payloads, by the id or address in the payload, and the stored JSON
      of parts that nothing can show, by the place of the part (`/content/0`).
    - `fallbacks`: for the content index of a payload, the parts with the same content, in order.
    - `names`: names of the people, groups and channels that payloads mention by id, by actor id or
      key.
    - `person`: the person of the author's account, if they have several accounts.
    - `home`: the rest of a native message without its payloads; see `native_home`.
    - `in_thread`, `replies_to`: where the message belongs; only agents get it, and nothing stores
      it.
    - `reactions`, `feedback`: the current reactions and opinions; only the archive adds them.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    version: Literal[1] = VERSION
    fallbacks: Mapping[Index, tuple[Position, ...]] = Field(default_factory=dict)
    parts: Mapping[Index, PartDetails] = Field(default_factory=dict)
    state: JsonValue = None
    summary: StrictStr | None = None
    origin: StrictStr | None = None
    person: StrictStr | None = None
    kept: Mapping[str, KeptFile] = Field(default_factory=dict)
    names: Mapping[str, StrictStr] = Field(default_factory=dict)
    home: JsonValue = None
    in_thread: InThread | None = None
    replies_to: RepliesTo | None = None
    reactions: tuple[Reactions, ...] = ()
    feedback: tuple[Feedback, ...] = ()


_NO_ADDITIONS = BridgeMetadata()


def read_bridge_metadata(message: Message) -> tuple[BridgeMetadata, list[str]]:
    """Returns the valid additions, and a warning for each invalid one (for logs; without message
    text)."""
    raw = (message.metadata or {}).get(KEY)
    if raw is None:
        return _NO_ADDITIONS, []
    if not isinstance(raw, dict):
        return BridgeMetadata(), [f"metadata.{KEY} is no object; it is ignored"]
    version = raw.get("version", VERSION)
    if version != VERSION or isinstance(version, bool):
        return BridgeMetadata(), [f"metadata.{KEY} has a version that is not {VERSION}; ignored"]
    warnings: list[str] = []
    additions = _without_faults(raw, warnings)
    fallbacks = _valid_fallbacks(additions.fallbacks, len(message.content), warnings)
    return additions.model_copy(update={"fallbacks": fallbacks}), warnings


def has_summary(message: Message) -> bool:
    """Whether notifications of the message have a text of their own."""
    raw = (message.metadata or {}).get(KEY)
    return isinstance(raw, dict) and isinstance(raw.get("summary"), str)


def with_bridge_metadata(message: Message, additions: BridgeMetadata) -> Message:
    """Returns the message with these additions in place of its own; other metadata stays."""
    dumped = additions.model_dump(mode="json", exclude_unset=True)
    value: dict[str, Any] = {"version": VERSION, **dumped}
    metadata = {**(message.metadata or {}), KEY: value}
    return message.model_copy(update={"metadata": metadata})


def with_reactions_and_feedback(
    message: Message, *, reactions: JsonValue = None, feedback: JsonValue = None
) -> Message:
    """Returns the message with these reactions and this feedback in place of its own; None removes
    them."""
    raw = (message.metadata or {}).get(KEY)
    current = raw if isinstance(raw, dict) else {"version": VERSION}
    additions = {"reactions": reactions, "feedback": feedback}
    replacements = {name: value for name, value in additions.items() if value is not None}
    if not replacements and not additions.keys() & current.keys():
        return message
    rest = {name: value for name, value in current.items() if name not in additions}
    value = {**rest, **replacements}
    return message.model_copy(update={"metadata": {**(message.metadata or {}), KEY: value}})


def with_thread_and_reply(
    message: Message, thread: InThread | None, reply: RepliesTo | None
) -> Message:
    """Returns the message with this thread and this answered message in place of its own."""
    raw = (message.metadata or {}).get(KEY)
    current = raw if isinstance(raw, dict) else {"version": VERSION}
    places = {"in_thread": thread, "replies_to": reply}
    replacements = {
        name: place.model_dump(mode="json") for name, place in places.items() if place is not None
    }
    if not replacements and not places.keys() & current.keys():
        return message
    rest = {name: value for name, value in current.items() if name not in places}
    return message.model_copy(
        update={"metadata": {**(message.metadata or {}), KEY: {**rest, **replacements}}}
    )


def with_person(message: Message, person: str | None) -> Message:
    """Returns the message with the person of its author; unchanged if `person` is None."""
    if person is None:
        return message
    additions, _ = read_bridge_metadata(message)
    return with_bridge_metadata(message, additions.model_copy(update={"person": person}))


def select_parts(
    message: Message, accepts: Callable[[ContentPart], bool] | Collection[str]
) -> list[tuple[int, ContentPart]]:
    """Returns one side of each fallback, in order, each part with its index in the content.

    A payload that the reader accepts replaces its fallback; otherwise the fallback is selected,
    which may contain payloads with fallbacks. A part that is the fallback of several payloads is
    selected if one of them is not accepted. A payload without fallback is always selected. A text
    of a fallback that only repeats an `alt` is not selected: the part before it has that.

    Args:
        message: The message.
        accepts: A predicate, or the schema ids that the reader knows.
    """
    takes = accepts if callable(accepts) else _by_schema_id(accepts)
    additions, _ = read_bridge_metadata(message)
    fallbacks = {int(key): fallback for key, fallback in additions.fallbacks.items() if fallback}
    waiting = {index for fallback in fallbacks.values() for index in fallback}
    enabled: set[int] = set()
    selected: list[tuple[int, ContentPart]] = []
    for index, part in enumerate(message.content):
        if index in waiting and index not in enabled:
            continue
        details = additions.parts.get(str(index))
        if index in waiting and details is not None and details.repeats_alt:
            continue
        if index in fallbacks and not takes(part):
            enabled.update(fallbacks[index])
        else:
            selected.append((index, part))
    return selected


def without_notices(message: Message) -> Message | None:
    """Returns the message without the bridge's notices in it; None if nothing else is in it."""
    additions, _ = read_bridge_metadata(message)
    removed = {int(index) for index, details in additions.parts.items() if details.notice}
    if not removed:
        return message
    for index in tuple(removed):
        removed.update(additions.fallbacks.get(str(index), ()))
    remaining = [index for index in range(len(message.content)) if index not in removed]
    if not remaining:
        return None
    places = {old: new for new, old in enumerate(remaining)}
    changes: dict[str, object] = {
        "parts": {
            str(places[int(old)]): details
            for old, details in additions.parts.items()
            if int(old) in places
        },
        "fallbacks": {
            str(places[int(old)]): tuple(
                places[fallback_index] for fallback_index in fallback if fallback_index in places
            )
            for old, fallback in additions.fallbacks.items()
            if int(old) in places
        },
        "summary": None,
    }
    content = tuple(message.content[index] for index in remaining)
    shorter = message.model_copy(update={"content": content})
    return with_bridge_metadata(shorter, additions.model_copy(update=changes))


def _by_schema_id(schema_ids: Collection[str]) -> Callable[[ContentPart], bool]:
    def takes(part: ContentPart) -> bool:
        return isinstance(part, StructuredDataPart) and part.schema_id in schema_ids

    return takes


def _without_faults(raw: Mapping[str, JsonValue], warnings: list[str]) -> BridgeMetadata:
    """Each addition by itself: a fault in one does not remove the others."""
    valid: dict[str, Any] = {}
    for name, value in raw.items():
        if name in ("fallbacks", "parts", "kept", "names") and isinstance(value, dict):
            valid_entries = {
                key: entry
                for key, entry in value.items()
                if _is_valid(name, {key: entry}, warnings)
            }
            valid[name] = valid_entries
        elif _is_valid(name, value, warnings):
            valid[name] = value
    return BridgeMetadata.model_validate(valid)


def _is_valid(name: str, value: object, warnings: list[str]) -> bool:
    try:
        BridgeMetadata.model_validate({name: value})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in fault["loc"])
        warnings.append(f"metadata.{KEY}.{place}: {fault['msg']}; it is ignored")
        return False
    return True


def _valid_fallbacks(
    fallbacks: Mapping[str, tuple[int, ...]], length: int, warnings: list[str]
) -> dict[str, tuple[int, ...]]:
    """The fallbacks whose payload is in the content, followed by all parts of its fallback."""
    valid: dict[str, tuple[int, ...]] = {}
    for key, fallback in fallbacks.items():
        payload = int(key)
        if payload < length and all(payload < index < length for index in fallback):
            valid[key] = fallback
        else:
            warnings.append(f"metadata.{KEY}.fallbacks.{key} names no later parts; it is ignored")
    return valid

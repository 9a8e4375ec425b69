"""What we add to UACS, in the seed's own extension point `Message.metadata.uacs_bridge`.

In: a message. Out: the typed additions, a message with them, or the parts that a reader takes.
Malformed additions are ignored with a warning and stay in the message as they are.
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
    """What the seed's parts have no field for; `size` in bytes. What is `quoted` was said by
    somebody else than the message's author, who passes it on. A `notice` is the bridge's own: that
    an answer failed or was stopped; its agent did not say it. A text that `repeats_alt` says the
    `alt` of the part before it once more, for readers that do not know this metadata."""

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
    """Bytes that we hold: their id in the blob store, what they are, and how many."""

    model_config = ConfigDict(frozen=True, extra="allow")

    file_id: StrictStr
    media_type: StrictStr
    size: Position


class Reactions(BaseModel):
    """Who reacts with one emoji, wherever the message is shown: actor ids, in their order."""

    model_config = ConfigDict(frozen=True, extra="allow")

    emoji: StrictStr
    actors: tuple[StrictStr, ...]


class InThread(BaseModel):
    """The thread that a message stands in: its root, and the root's first words, which are empty
    where the reader may not see it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    root: StrictStr
    words: StrictStr = ""


class RepliesTo(BaseModel):
    """The message that a message answers, who said it, and its first words; both are empty where
    the reader may not see it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    message: StrictStr
    author: StrictStr = ""
    words: StrictStr = ""


class Feedback(BaseModel):
    """What one person thinks of an answer; `at` is an RFC 3339 time."""

    model_config = ConfigDict(frozen=True, extra="allow")

    actor: StrictStr
    sense: Literal["good", "bad"]
    comment: StrictStr = ""
    at: StrictStr


class BridgeMetadata(BaseModel):
    """Version 1. Unknown fields are kept, so that an older bridge loses nothing of a newer one.

    `summary` is what a notification says of the message, in place of its first words.
    `origin` is a link to the message where it was said. `kept` are the files of payloads that we
    fetched, by the id or address that the payload has for them, and of parts that nothing can show
    the JSON, by the place of the part (`/content/0`). `fallbacks` names for the content index of a
    payload the parts that say the same, in order.
    `names` are the names of people, groups and channels that payloads mention by their ids, by
    actor id or key.
    `person` is whose account the author is, where they have several.
    `home` is the rest of a native message, where its payloads are taken out: see `native_home`.
    `in_thread` and `replies_to` say where it belongs, to agents alone; nothing keeps them.
    `reactions` are those that stand, `feedback` is what people think of an answer, the latest of
    each; only the archive knows them.
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
    """The additions that hold, and a warning for each that does not (shown in logs, never text)."""
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
    """Whether notifications say something else of it than its first words."""
    raw = (message.metadata or {}).get(KEY)
    return isinstance(raw, dict) and isinstance(raw.get("summary"), str)


def with_bridge_metadata(message: Message, additions: BridgeMetadata) -> Message:
    """The message with these additions in place of its own; other metadata stays."""
    dumped = additions.model_dump(mode="json", exclude_unset=True)
    value: dict[str, Any] = {"version": VERSION, **dumped}
    metadata = {**(message.metadata or {}), KEY: value}
    return message.model_copy(update={"metadata": metadata})


def with_reactions_and_feedback(
    message: Message, *, reactions: JsonValue = None, feedback: JsonValue = None
) -> Message:
    """The message with these in place of the reactions and feedback that it has; None takes them
    out."""
    raw = (message.metadata or {}).get(KEY)
    current = raw if isinstance(raw, dict) else {"version": VERSION}
    marks = {"reactions": reactions, "feedback": feedback}
    replacements = {name: value for name, value in marks.items() if value is not None}
    if not replacements and not marks.keys() & current.keys():
        return message
    rest = {name: value for name, value in current.items() if name not in marks}
    value = {**rest, **replacements}
    return message.model_copy(update={"metadata": {**(message.metadata or {}), KEY: value}})


def with_thread_and_reply(
    message: Message, thread: InThread | None, reply: RepliesTo | None
) -> Message:
    """The message with these in place of the thread and of the answered message that it has."""
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
    """The message of somebody with several accounts; as it is where `person` is None."""
    if person is None:
        return message
    additions, _ = read_bridge_metadata(message)
    return with_bridge_metadata(message, additions.model_copy(update={"person": person}))


def select_parts(
    message: Message, accepts: Callable[[ContentPart], bool] | Collection[str]
) -> list[tuple[int, ContentPart]]:
    """One side of each fallback, in order, each part with its index in the content.

    A payload that the reader `accepts` (a predicate, or the schema ids it knows) stands for its
    fallback; instead of one that it does not accept, the fallback is taken, which may be a
    payload with a fallback again. A part that is the fallback of several payloads is taken when
    one of them is not accepted. A payload without fallback is taken: the reader says what then.
    A text of a fallback that only repeats an `alt` is not taken: the part before it has that.
    """
    takes = accepts if callable(accepts) else _by_schema_id(accepts)
    additions, _ = read_bridge_metadata(message)
    fallbacks = {int(key): fallback for key, fallback in additions.fallbacks.items() if fallback}
    waiting = {index for fallback in fallbacks.values() for index in fallback}
    wanted: set[int] = set()
    selected: list[tuple[int, ContentPart]] = []
    for index, part in enumerate(message.content):
        if index in waiting and index not in wanted:
            continue
        details = additions.parts.get(str(index))
        if index in waiting and details is not None and details.repeats_alt:
            continue
        if index in fallbacks and not takes(part):
            wanted.update(fallbacks[index])
        else:
            selected.append((index, part))
    return selected


def without_notices(message: Message) -> Message | None:
    """The message without what the bridge added to it in its author's place; None where nothing
    else is in it."""
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
    """Each addition by itself: a fault in one does not take the others away."""
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
    """Those whose payload is in the content, followed by all parts of its fallback."""
    valid: dict[str, tuple[int, ...]] = {}
    for key, fallback in fallbacks.items():
        payload = int(key)
        if payload < length and all(payload < index < length for index in fallback):
            valid[key] = fallback
        else:
            warnings.append(f"metadata.{KEY}.fallbacks.{key} names no later parts; it is ignored")
    return valid

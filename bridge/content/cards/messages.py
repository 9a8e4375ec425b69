"""Cards in UACS messages: native payloads with their cards -> content, and any message -> one card.
Pure; codecs are arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import JsonValue

from bridge.content.cards.json import SCHEMA_ID, card_from_json
from bridge.content.cards.parts import DetailedPart, card_parts
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Asset, Card, File, Image, Node, Player, Prose
from bridge.content.cards.values import is_value, value_nodes
from bridge.content.markdown import markdown_to_text
from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.agent_parts import citations, is_hidden
from bridge.content.messages.metadata import (
    BridgeMetadata,
    KeptFile,
    PartDetails,
    read_bridge_metadata,
    select_parts,
)
from bridge.content.text.tree import Break, CodeBlock, Document, Inline, Paragraph, Text
from bridge.errors import CodecError, InvalidUacs
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    JsonTree,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
    VideoPart,
    write,
)

Reader = Callable[[Payload], Card]
MediaPart = ImagePart | VideoPart | AudioPart | FilePart


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a message, its metadata of the bridge, and what no part could hold."""

    parts: tuple[ContentPart, ...]
    additions: BridgeMetadata
    losses: tuple[Loss, ...] = ()


# --- cards -> content -----------------------------------------------------------------------


def content_of(
    read: Iterable[tuple[Payload, Card]], is_quoted: Callable[[Payload], bool] = lambda _: False
) -> Content:
    """Returns content in which each payload is followed by its fallback; a text payload becomes
    text alone.

    The `path` in a payload's details is its JSON pointer in the native message. A payload that UACS
    cannot hold (more than 128 levels deep) becomes its fallback alone, and a Loss.

    Args:
        read: The payloads of a native message with their cards, in order.
        is_quoted: Whether a payload is somebody else's, passed on by the author.
    """
    writing = _ContentWriter(is_quoted)
    for payload, card in read:
        writing.add(payload, card)
    return writing.content()


@dataclass(slots=True)
class _ContentWriter:
    is_quoted: Callable[[Payload], bool]
    parts: list[ContentPart] = field(default_factory=list[ContentPart])
    details: dict[str, PartDetails] = field(default_factory=dict[str, PartDetails])
    fallbacks: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    losses: list[Loss] = field(default_factory=list[Loss])

    def add(self, payload: Payload, card: Card) -> None:
        card_content = card_parts(card.nodes)
        if not payload.schema_id:
            self._append(card_content)
            return
        structured = self._structured(payload)
        card_content = card_content or (DetailedPart(TextPart(text=card.summary)),)
        fallback = self._append(
            map(_quoted, card_content) if self.is_quoted(payload) else card_content
        )
        if structured is not None:
            self.fallbacks[str(structured)] = fallback

    def content(self) -> Content:
        additions: dict[str, Any] = {}
        if self.fallbacks:
            additions["fallbacks"] = self.fallbacks
        if self.details:
            additions["parts"] = self.details
        return Content(tuple(self.parts), BridgeMetadata(**additions), tuple(self.losses))

    def _structured(self, payload: Payload) -> int | None:
        data = cast("JsonTree", payload.data)  # validated below, like every object built in code
        try:
            part = StructuredDataPart(schema_id=payload.schema_id, data=data)
        except InvalidUacs as error:
            what = f"{payload.schema_id}: {error.rule}"
            shown_as = "parts that say the same"
            self.losses.append(
                Loss(path=payload.at, kind="payload_as_fallback", what=what, shown_as=shown_as)
            )
            return None
        details = PartDetails(path=payload.at) if payload.at else None
        (index,) = self._append((DetailedPart(part, details),))
        return index

    def _append(self, parts: Iterable[DetailedPart]) -> tuple[int, ...]:
        first = len(self.parts)
        for part in parts:
            if part.details is not None:
                self.details[str(len(self.parts))] = part.details
            self.parts.append(part.part)
        return tuple(range(first, len(self.parts)))


def _quoted(detailed: DetailedPart) -> DetailedPart:
    details = detailed.details or PartDetails()
    return DetailedPart(detailed.part, details.model_copy(update={"quoted": True}))


# --- a message -> one card ------------------------------------------------------------------


def card_of(message: Message, readers: Mapping[str, Reader]) -> tuple[Card, tuple[Loss, ...]]:
    """Returns the whole message as one card; nodes have JSON pointers into the message.

    Payloads of a schema in `readers`, and cards of the bridge's own schema, are read. An unknown or
    unreadable payload becomes its fallback; without one it becomes named JSON, which is a Loss: a
    file if the bridge stored it, else text.

    Args:
        message: Any message.
        readers: The function that reads a payload, by schema id.
    """
    return _MessageReader(message, readers).card()


class _MessageReader:
    def __init__(self, message: Message, readers: Mapping[str, Reader]) -> None:
        self._message = message
        self._readers = readers
        self._read: dict[int, Card] = {}
        self._additions, _ = read_bridge_metadata(message)
        self._losses: list[Loss] = []
        for index, part in enumerate(message.content):
            self._read_payload(index, part)

    def card(self) -> tuple[Card, tuple[Loss, ...]]:
        nodes: list[Node] = []
        summary = self._additions.summary or ""
        readable = {id(self._message.content[index]) for index in self._read}
        for index, part in select_parts(self._message, lambda part: id(part) in readable):
            if (card := self._read.get(index)) is not None:
                nodes += card.nodes
                summary = summary or card.summary
            else:
                nodes += self._nodes(index, part)
        return Card(tuple(nodes), summary=summary), tuple(self._losses)

    def _read_payload(self, index: int, part: ContentPart) -> None:
        if not isinstance(part, StructuredDataPart):
            return
        at = f"/content/{index}/data"
        if is_value(part.schema_id):
            self._read[index] = Card(value_nodes(part.data))
            return
        try:
            if part.schema_id == SCHEMA_ID:
                self._read[index] = card_from_json(part.data, at)
            elif (reader := self._readers.get(part.schema_id)) is not None:
                self._read[index] = reader(
                    Payload(part.schema_id, cast("JsonValue", part.data), at)
                )
        except CodecError as error:
            what = f"{part.schema_id}: {error.reason}"
            shown_as = "its fallback" if str(index) in self._additions.fallbacks else "JSON"
            path = f"{at}{error.pointer.removeprefix(at)}"
            self._losses.append(
                Loss(path=path, kind="payload_unreadable", what=what, shown_as=shown_as)
            )

    def _nodes(self, index: int, part: ContentPart) -> tuple[Node, ...]:
        at = f"/content/{index}"
        match part:
            case TextPart(text=text):
                document = markdown_to_text(text) if part.is_markdown else _plain(text)
                return (Prose(document, at=at),) if document else ()
            case ImagePart() | VideoPart() | AudioPart() | FilePart():
                details = self._additions.parts.get(str(index)) or PartDetails()
                return (_media_node(part, details, at),)
            case RequestedResponseFormatPart():
                return ()
            case StructuredDataPart() if is_hidden(part):
                return ()
            case StructuredDataPart() if (sources := citations(part)) is not None:
                return (Prose(sources, at=at),) if sources else ()
            case StructuredDataPart(schema_id=name) | ToolCallPart(name=name):
                return (self._as_json(at, name, part),)
            case _:
                return (self._as_json(at, part.type, part),)

    def _as_json(self, at: str, name: str, part: ContentPart) -> Node:
        if (stored := self._additions.kept.get(at)) is not None:
            return self._as_file(at, name, stored)
        self._losses.append(Loss(path=at, kind="part_as_json", what=name, shown_as="JSON"))
        return Prose((Paragraph((Text(f"[{name}]"),)), CodeBlock(part_json(part), "json")), at=at)

    def _as_file(self, at: str, name: str, stored: KeptFile) -> Node:
        kind = name.rpartition("/")[2].removesuffix("+json")
        file = safe_file_name(f"{kind}.json", stored.media_type)
        self._losses.append(Loss(path=at, kind="part_as_file", what=name, shown_as=file))
        asset = Asset(
            file_id=stored.file_id, media_type=stored.media_type, name=file, size=stored.size
        )
        return File(asset, at=at)


def unknown_parts(message: Message, schema_ids: Set[str]) -> Iterator[tuple[str, ContentPart]]:
    """Yields the parts that no card can show, with their places in the metadata (`kept`).

    They are parts of an unknown type or schema without a fallback.

    Args:
        message: Any message.
        schema_ids: The schema ids that have readers.
    """
    known_ids = schema_ids | {SCHEMA_ID}
    for index, part in select_parts(message, known_ids):
        payload = part.schema_id if isinstance(part, StructuredDataPart) else None
        is_known = payload is None or payload in known_ids or is_value(payload)
        if isinstance(part, UnknownPart) or not is_known:
            yield f"/content/{index}", part


def part_json(part: ContentPart) -> str:
    """Returns the whole part as indented JSON for people."""
    return json.dumps(json.loads(write(part)), ensure_ascii=False, indent=2)


def _plain(text: str) -> Document:
    """Plain text unchanged, line by line."""
    if not text.strip():
        return ()
    line: list[Inline] = []
    for segment in text.split("\n"):
        line += [Break()] if line else []
        line += [Text(segment)] if segment else []
    return (Paragraph(tuple(line)),)


def _media_node(part: MediaPart, details: PartDetails, at: str) -> Node:
    asset = replace(
        _asset(part.source, part.media_type),
        media_type=part.media_type,
        name=details.name or "",
        alt=details.alt or "",
        size=details.size,
        seconds=details.duration_s,
        spoiler=bool(details.spoiler),
    )
    match part:
        case ImagePart():
            return Image(asset, at=at)
        case VideoPart():
            return Player("video", asset, at=at)
        case AudioPart():
            return Player("audio", asset, at=at)
        case FilePart():
            return File(asset, at=at)


def _asset(source: MediaSource, media_type: str) -> Asset:
    if source.base64 is not None:
        return Asset(url=f"data:{media_type};base64,{source.base64}")
    return Asset(url=source.url or "", file_id=source.file_id or "")

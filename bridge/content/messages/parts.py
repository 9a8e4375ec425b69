"""A message of any parts -> one UACS Markdown text, for platforms that show only text. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bridge.content.markdown import text_to_markdown
from bridge.content.messages.agent_parts import citations, is_hidden
from bridge.content.messages.metadata import PartDetails, read_bridge_metadata, select_parts
from bridge.content.text.cut_points import close_fence
from bridge.content.text.sizes import readable_size
from bridge.content.text.tree import CodeBlock, Inline, Link, Paragraph, Spoiler, Text
from bridge.content.text.urls import safe_url
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    VideoPart,
    write,
)

MediaPart = ImagePart | VideoPart | AudioPart | FilePart


def message_text(message: Message) -> tuple[str, tuple[Loss, ...]]:
    """Returns all parts as text, in order, and a Loss for each that became a line of text.

    Text stays text. Media become links or their names. Tool calls, structured data and unknown
    parts become named JSON. Requested response formats, reasoning and agents' state are for models
    only and are left out. A payload with a fallback becomes that; the payload is then no Loss, but
    parts of the fallback may be.
    """
    additions, _ = read_bridge_metadata(message)
    texts: list[str] = []
    losses: list[Loss] = []
    for index, part in select_parts(message, ()):
        details = additions.parts.get(str(index)) or PartDetails()
        text, lost = _part_text(part, details)
        texts += [close_fence(text)] if text else []
        losses += [_loss(index, part, lost, text)] if lost else []
    return "\n\n".join(texts), tuple(losses)


def parts_text(parts: Iterable[tuple[ContentPart, PartDetails | None]]) -> str:
    """Returns single parts with their details as text, like `message_text`."""
    texts = (
        _part_text(part, details or PartDetails())[0]
        for part, details in parts
        if details is None or not details.repeats_alt
    )
    return "\n\n".join(close_fence(text) for text in texts if text)


def may_hold_files(message: Message) -> bool:
    """Whether the message has parts other than text and tool calls; most messages do not."""
    return any(part.type not in ("text", "tool_call", "tool_result") for part in message.content)


def plain_to_markdown(text: str) -> str:
    """Returns plain text as UACS Markdown with the same content; empty lines separate
    paragraphs."""
    return text_to_markdown((Paragraph((Text(text),)),))


def _loss(index: int, part: ContentPart, lost: str, text: str) -> Loss:
    is_media = isinstance(part, MediaPart)
    return Loss(
        path=f"/content/{index}",
        kind="media_as_text" if is_media else "part_as_json",
        what=lost,
        shown_as=text if is_media else "JSON",
    )


def _part_text(part: ContentPart, details: PartDetails) -> tuple[str, str]:
    """The Markdown, and the name of the part if the Markdown is less than the part."""
    match part:
        case TextPart(text=text):
            return (text if part.is_markdown else plain_to_markdown(text)), ""
        case ImagePart() | VideoPart() | AudioPart() | FilePart():
            return _media_text(part, details), part.type
        case RequestedResponseFormatPart():
            return "", ""
        case StructuredDataPart() if is_hidden(part):
            return "", ""
        case StructuredDataPart() if (sources := citations(part)) is not None:
            return text_to_markdown(sources), ""
        case StructuredDataPart(schema_id=name) | ToolCallPart(name=name):
            return _named_json(name, part), name
        case _:
            return _named_json(part.type, part), part.type


def _named_json(name: str, part: ContentPart) -> str:
    body = json.dumps(json.loads(write(part)), ensure_ascii=False, indent=2)
    return text_to_markdown((Paragraph((Text(f"[{name}]"),)), CodeBlock(body, "json")))


def _media_text(part: MediaPart, details: PartDetails) -> str:
    """`[image: a cat]` as a link if there is a URL, hidden if the part is."""
    label = Text(f"[{part.type}: {_media_name(part, details)}]")
    url = safe_url(part.source.url) if part.source.url else None
    inline: Inline = Link(url, (label,)) if url else label
    return text_to_markdown((Paragraph((Spoiler((inline,)) if details.spoiler else inline,)),))


def _media_name(part: MediaPart, details: PartDetails) -> str:
    """Its description, else its file name, else its type; with its size if known."""
    names = (details.alt, details.name) if part.type == "image" else (details.name, details.alt)
    name = next((" ".join(name.split()) for name in names if name and name.strip()), "")
    return ", ".join(filter(None, (name or part.media_type, readable_size(details.size))))

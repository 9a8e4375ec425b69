"""A message of any parts -> one UACS Markdown text, for a platform that shows text only. Pure."""

from __future__ import annotations

import orjson

from bridge.content.markdown import text_to_markdown
from bridge.content.text import Break, CodeBlock, Inline, Link, Paragraph, Text
from bridge.model import Loss
from bridge.uacs import Message


def message_text(message: Message) -> tuple[str, tuple[Loss, ...]]:
    """All parts in their order, and a Loss for each that became a line of text.

    Text stays text; media become links or their names; tool calls, structured data and unknown
    parts are shown as named JSON; a requested response format is for models only and is not shown.
    """
    texts: list[str] = []
    losses: list[Loss] = []
    for index, part in enumerate(message.content):
        data = part.model_dump(mode="json", exclude_unset=True)
        text, loss = _part_text(str(data.get("type", part.type)), data, f"/content/{index}")
        if text:
            texts.append(text)
        if loss:
            losses.append(loss)
    return "\n\n".join(texts), tuple(losses)


def _part_text(kind: str, data: dict[str, object], path: str) -> tuple[str, Loss | None]:
    match kind:
        case "text" if data.get("format") == "plain":
            return plain_to_markdown(str(data["text"])), None
        case "text":
            return str(data["text"]), None
        case "image" | "video" | "audio" | "file":
            text = _media_text(kind, data)
            return text, Loss(path=path, kind="media_as_text", what=kind, shown_as=text)
        case "requested_response_format":
            return "", None
        case _:
            body = orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
            name = str(data.get("schema_id") or data.get("name") or kind)
            text = text_to_markdown((Paragraph((Text(f"[{name}]"),)), CodeBlock(body, "json")))
            return text, Loss(path=path, kind="part_as_json", what=name, shown_as="JSON")


def plain_to_markdown(text: str) -> str:
    """Plain text -> UACS Markdown that says exactly this."""
    lines: list[Inline] = []
    for line in text.split("\n"):
        lines += [Break(), Text(line)] if lines else [Text(line)]
    return text_to_markdown((Paragraph(tuple(lines)),))


def _media_text(kind: str, data: dict[str, object]) -> str:
    source = data.get("source")
    url = source.get("url") if isinstance(source, dict) else None
    label = f"[{kind}: {data.get('media_type')}]"
    inline = Link(str(url), (Text(label),)) if url else Text(label)
    return text_to_markdown((Paragraph((inline,)),))

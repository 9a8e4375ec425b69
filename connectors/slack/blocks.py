"""What a message says where its `text` is empty: blocks, attachments and files -> the text tree.

Pure. Only what can be read is taken: layout, pictures and buttons stay in the raw payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bridge.content.text import Block, Document, Inline, Link, Paragraph, Text
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.mrkdwn import is_safe_url
from connectors.slack.mrkdwn_reader import mrkdwn_to_text
from connectors.slack.rich_text import rich_text_to_text

_TEXTS = ("title", "text", "subtitle", "body", "subtext", "description", "details", "output")


def blocks_to_text(blocks: Iterable[Json], team: str) -> Document:
    """Every text of these blocks in order; a block without text is named."""
    return tuple(part for block in blocks for part in _block(block, team))


def _block(block: Json, team: str) -> Iterator[Block]:
    kind = text_at(block, "type")
    if kind == "divider":
        return
    if kind == "rich_text":
        yield from rich_text_to_text(block, team)
        return
    texts = list(_texts(block, team))
    yield from texts or [_line(Text(f"[{kind or 'block'}]"))]


def _texts(block: Json, team: str) -> Iterator[Block]:
    for name in _TEXTS:
        value = block.get(name)
        yield from _text(value if isinstance(value, dict) else {"text": value}, team)
    for name in ("fields", "elements", "tasks", "child_blocks"):
        for inner in objects_at(block, name):
            yield from _text(inner, team)
    if alt := text_at(block, "alt_text"):
        yield _line(Text(f"[image: {_one_line(alt)}]"))


def _text(value: Json, team: str) -> Iterable[Block]:
    """A text object, or an element that holds one."""
    if value.get("type") == "rich_text":
        return rich_text_to_text(value, team)
    text = text_at(value, "text") or text_at(value, "text", "text") or text_at(value, "title")
    if value.get("type") == "plain_text":
        return [_line(Text(_one_line(text)))] if text.strip() else []
    return mrkdwn_to_text(text, team)


def attachments_to_text(attachments: Iterable[Json], team: str) -> Document:
    """Legacy attachments: their own texts, or what their author gave as fallback."""
    return tuple(part for one in attachments for part in _attachment(one, team))


def _attachment(attachment: Json, team: str) -> Iterator[Block]:
    inner = objects_at(attachment, "blocks")
    if inner:
        yield from blocks_to_text(inner, team)
        return
    texts = [text_at(attachment, name) for name in ("pretext", "title", "text")]
    if not any(texts):
        texts = [text_at(attachment, "fallback")]
    for text in texts:
        yield from mrkdwn_to_text(text, team)


def files_to_text(files: Iterable[Json]) -> Document:
    """One line for each file, a link where it has an address."""
    return tuple(_line(_file(file)) for file in files)


def _file(file: Json) -> Inline:
    name = text_at(file, "title") or text_at(file, "name") or text_at(file, "id") or "unnamed"
    shown = Text(f"file: {_one_line(name)}")
    url = text_at(file, "permalink") or text_at(file, "url_private")
    return Link(url, (shown,)) if is_safe_url(url) else Text(f"[{shown.value}]")


def is_unfurl(attachment: Json) -> bool:
    """Slack adds these by itself when a message holds a link."""
    known = ("from_url", "is_msg_unfurl", "is_app_unfurl", "original_url", "is_share")
    return any(attachment.get(name) for name in known) or bool(object_at(attachment, "app_unfurl"))


def _line(node: Inline) -> Paragraph:
    return Paragraph((node,))


def _one_line(text: str) -> str:
    return " ".join(text.split())

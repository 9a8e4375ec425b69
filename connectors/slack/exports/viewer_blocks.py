"""Blocks as the viewers of exports show them. Pure.

slack-export-viewer 3.5 shows rich_text, fields, elements and dividers, and drops headers and the
text of sections without a word; so both become rich_text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.tree import Document, Paragraph, Strong, Text
from bridge.model import Counterparts
from connectors.slack.json_values import Json, object_at, text_at
from connectors.slack.mrkdwn_reader import mrkdwn_to_text
from connectors.slack.rich_text_writer import text_to_rich_text

_SECTION = frozenset(("type", "block_id", "text", "fields", "accessory"))


def viewer_blocks(blocks: Iterable[Json], counterparts: Counterparts) -> list[Json]:
    """The same blocks, with rich_text in place of headers and of the text of sections."""
    return [shown for block in blocks for shown in _shown(block, counterparts)]


def _shown(block: Json, counterparts: Counterparts) -> Iterator[Json]:
    kind, text = text_at(block, "type"), object_at(block, "text")
    words = text_at(text, "text")
    if kind == "header" and words:
        yield _rich((Paragraph((Strong((Text(words),)),)),))
        return
    if kind != "section" or not words or not block.keys() <= _SECTION:
        yield block
        return
    accessory = object_at(block, "accessory")
    beside = [_alone(accessory)] if accessory else []
    if None in beside:
        yield block
        return
    is_plain = text_at(text, "type") == "plain_text"
    document = (Paragraph((Text(words),)),) if is_plain else mrkdwn_to_text(words, "")
    yield _rich(with_counterparts(document, counterparts))
    if block.get("fields"):
        yield {"type": "section", "fields": block["fields"]}
    yield from (shown for shown in beside if shown is not None)


def _alone(accessory: Json) -> Json | None:
    """The accessory of a section as a block of its own; None if there is no such block."""
    if text_at(accessory, "type") == "image":
        return dict(accessory)
    if text_at(accessory, "type") == "button":
        return {"type": "actions", "elements": [accessory]}
    return None


def _rich(document: Document) -> Json:
    return {"type": "rich_text", "elements": text_to_rich_text(document)}

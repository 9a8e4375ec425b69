"""A native Slack message -> its rich payloads; a payload -> a card.

Total for valid payloads: CodecError for other JSON and for JSON that is nested too deeply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, cast

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Action,
    Actions,
    Button,
    Card,
    Container,
    Form,
    Node,
    Prose,
    Section,
)
from bridge.content.text.plain import text_to_plain
from bridge.errors import CodecError
from connectors.slack.cards.read_attachments import (
    fallbacks_of,
    read_attachment,
    read_attachments,
)
from connectors.slack.cards.read_blocks import is_block, read_block, read_blocks
from connectors.slack.cards.read_files import read_file, read_files
from connectors.slack.cards.read_json import items_at, string_at, unfolded
from connectors.slack.cards.read_markdown import markdown_block_to_text
from connectors.slack.cards.read_texts import words
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS, FILES, TEXT
from connectors.slack.json_values import Json
from connectors.slack.mrkdwn_reader import mrkdwn_to_text

Kind = Literal["message", "block", "attachment", "nothing"]

_MARKDOWN = "markdown_text"
_LISTS = (("attachments", ATTACHMENTS), ("files", FILES))
_OF_MESSAGES = frozenset(
    ("text", "blocks", "attachments", "files", _MARKDOWN, "subtype", "ts", "channel")
)
_OF_ATTACHMENTS = frozenset(
    (
        *("actions", "author_icon", "author_name", "color", "fallback", "fields", "footer"),
        *("from_url", "image_url", "mrkdwn_in", "pretext", "thumb_url", "title", "title_link"),
    )
)
_NO_MESSAGE = "is no Slack message: it has no text, blocks, attachments or files"


def payloads(native: JsonValue) -> tuple[Payload, ...]:
    """The shown payloads of a message in order: its blocks or else its text, attachments, files.

    For a view its blocks; a bare payload (blocks, a block, attachments, an attachment) is itself.
    Raises CodecError.
    """
    native = unfolded(native)
    check_nesting(native)
    if isinstance(native, list):
        return (_bare_list(native),) if native else ()
    if not isinstance(native, dict):
        raise CodecError("", _NO_MESSAGE)
    match _kind(native):
        case "message":
            return tuple(_of_message(native))
        case "block":
            return (Payload(BLOCKS, native),)
        case "attachment":
            return (Payload(ATTACHMENTS, native),)
        case "nothing":
            raise CodecError("", _NO_MESSAGE)


def read_payload(payload: Payload, workspace: str = "") -> Card:
    """The card of one payload; mentions are of people and channels of the `workspace`.

    `Card.summary` of attachments is their fallback; the summary of blocks is the text of their
    message (`read_message`). Raises CodecError.
    """
    check_nesting(payload.data)
    return _card(payload, workspace)


def read_message(native: JsonValue, workspace: str = "") -> Card:
    """All payloads of a message as one card; its text is the summary when it has blocks.

    Raises CodecError.
    """
    native = unfolded(native)
    cards = [_card(payload, workspace) for payload in payloads(native)]
    nodes = tuple(node for card in cards for node in card.nodes)
    summaries = [_notified(native, workspace), *(card.summary for card in cards)]
    has_plain_text = isinstance(native, dict) and not _has_blocks(native) and _text(native, "text")
    summary = (
        ""
        if has_plain_text
        else next((own_summary for own_summary in summaries if own_summary), "")
    )
    return Card(nodes, summary=summary)


def read_form(view: JsonValue, workspace: str = "") -> Form:
    """The form of a modal or a home tab: its blocks, title and buttons. Raises CodecError."""
    view = unfolded(view)
    check_nesting(view)
    if not isinstance(view, dict) or not isinstance(view.get("blocks"), list):
        raise CodecError("", "is no Slack view: it has no list of blocks")
    return Form(
        words(view.get("title")),
        tuple(read_blocks(items_at(view, "blocks"), "/blocks", workspace)),
        id=string_at(view, "callback_id"),
        submit=words(view.get("submit")),
        close=words(view.get("close")),
    )


# --- payloads -------------------------------------------------------------------------------


def _kind(native: Json) -> Kind:
    """A bare block has a block type; an object without type and text may be an attachment."""
    kind = native.get("type")
    if is_block(kind):
        return "block"
    if _is_attachment(native):
        return "attachment"
    if kind == "message" or not _OF_MESSAGES.isdisjoint(native):
        return "message" if _is_message(native) else "block"
    return "block" if isinstance(kind, str) else "nothing"


def _is_message(native: Json) -> bool:
    """Whether the object is a message: an unknown block may also have `text`, but no other member
    of a message."""
    kind = native.get("type")
    return (
        not isinstance(kind, str)
        or kind in ("message", "app_mention", "modal", "home", "")
        or not (_OF_MESSAGES - {"text"}).isdisjoint(native)
    )


def _is_attachment(native: Json) -> bool:
    return (
        "type" not in native
        and not _OF_ATTACHMENTS.isdisjoint(native)
        and (_OF_MESSAGES - {"text", "blocks", "files", "ts"}).isdisjoint(native)
    )


def _of_message(native: Json) -> Iterable[Payload]:
    if _has_blocks(native):
        yield Payload(BLOCKS, native["blocks"], "/blocks")
    else:
        for key in ("text", _MARKDOWN):
            if text := _text(native, key):
                yield Payload(TEXT, text, f"/{key}")
    for key, schema_id in _LISTS:
        if items_at(native, key):
            yield Payload(schema_id, native[key], f"/{key}")


def _bare_list(native: list[JsonValue]) -> Payload:
    objects = [item for item in native if isinstance(item, dict)]
    if not objects:
        raise CodecError("", "is no list of Slack blocks: none of its items is an object")
    attached = all(_is_attachment(item) for item in objects)
    return Payload(ATTACHMENTS if attached else BLOCKS, native)


def _has_blocks(native: Json) -> bool:
    return bool(items_at(native, "blocks"))


def _text(native: Json, key: str) -> str:
    text = native.get(key)
    return text if isinstance(text, str) and text.strip() else ""


def _notified(native: JsonValue, workspace: str) -> str:
    if not isinstance(native, dict) or not _has_blocks(native):
        return ""
    return text_to_plain(mrkdwn_to_text(_text(native, "text"), workspace))


# --- cards ----------------------------------------------------------------------------------


def _card(payload: Payload, workspace: str) -> Card:
    reader = _READERS.get(payload.schema_id)
    if reader is None:
        raise CodecError(payload.at, f"{payload.schema_id!r} is no payload of Slack")
    return reader(payload.data, payload.at, workspace)


def _blocks(data: object, at: str, team: str) -> Card:
    if isinstance(data, list):
        return _blocks_in(cast("list[object]", data), at, team)
    if not isinstance(data, dict):
        raise CodecError(at, "must be a list of Slack blocks")
    members = cast("Json", data)
    if "blocks" in members and not is_block(members.get("type")):
        return _blocks_in(items_at(members, "blocks"), f"{at}/blocks", team)
    return Card(tuple(read_block(members, at, team)), at=at)


def _blocks_in(blocks: Sequence[object], at: str, team: str) -> Card:
    """The nodes of blocks. A press also sends the filled-in values (`state.values`), so buttons of
    blocks with inputs submit them."""
    nodes = tuple(read_blocks(blocks, at, team))
    asks = any(
        isinstance(block, dict) and cast("Json", block).get("type") == "input" for block in blocks
    )
    return Card(tuple(map(_submitting, nodes)) if asks else nodes, at=at)


def _submitting(node: Node) -> Node:
    match node:
        case Button(does="press", secondary=False):
            return replace(node, does="submit")
        case Actions(items):
            buttons = (_submitting(item) if isinstance(item, Button) else item for item in items)
            return replace(node, items=cast("tuple[Action, ...]", tuple(buttons)))
        case Section(accessory=accessory):
            return replace(node, accessory=_submitting(accessory))
        case Container(nodes):
            return replace(node, nodes=tuple(map(_submitting, nodes)))
        case _:
            return node


def _attachments(data: object, at: str, team: str) -> Card:
    if isinstance(data, list):
        several = cast("list[object]", data)
        nodes = read_attachments(several, at, team)
    elif not isinstance(data, dict):
        raise CodecError(at, "must be a list of Slack attachments")
    elif several := items_at(cast("Json", data), "attachments"):
        nodes = read_attachments(several, f"{at}/attachments", team)
    else:
        several = [cast("object", data)]
        nodes = read_attachment(data, at, team)
    summary = "\n".join(text_to_plain(fallback) for fallback in fallbacks_of(several, team))
    return Card(tuple(nodes), summary=summary, at=at)


def _files(data: object, at: str, team: str) -> Card:
    if isinstance(data, list):
        return Card(tuple(read_files(cast("list[object]", data), at)), at=at)
    if not isinstance(data, dict):
        raise CodecError(at, "must be a list of Slack files")
    return Card(tuple(read_file(cast("Json", data), at)), at=at)


def _prose(text: object, at: str, team: str) -> Card:
    if not isinstance(text, str):
        raise CodecError(at, "must be text")
    is_markdown = at.endswith(f"/{_MARKDOWN}")
    blocks = markdown_block_to_text(text, team) if is_markdown else mrkdwn_to_text(text, team)
    return Card((Prose(blocks, at=at),) if blocks else (), at=at)


_READERS: dict[str, Callable[[object, str, str], Card]] = {
    BLOCKS: _blocks,
    ATTACHMENTS: _attachments,
    FILES: _files,
    TEXT: _prose,
}

"""Legacy attachments and link previews -> panels of the card.

Source: npm @slack/types 3.2.0, docs.slack.dev "Secondary message attachments" and recorded messages
(2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Container,
    Credit,
    Fields,
    File,
    LabelledValue,
    Node,
    Nodes,
    Player,
    Prose,
    Style,
)
from bridge.content.text.inlines import merge_texts
from bridge.content.text.tree import Document, Inline, Link, Text
from connectors.slack.cards.read_blocks import read_blocks
from connectors.slack.cards.read_files import read_files
from connectors.slack.cards.read_json import count_at, items_at, string_at, url_at
from connectors.slack.cards.read_legacy import legacy_action
from connectors.slack.cards.read_media import asset_of, embedded, picture_at
from connectors.slack.cards.read_rows import rows
from connectors.slack.cards.read_texts import Line, as_line, unformatted
from connectors.slack.cards.read_unknown import unknown
from connectors.slack.cards.schemas import ATTACHMENTS
from connectors.slack.json_values import Json
from connectors.slack.mrkdwn_reader import mrkdwn_to_text

_STYLES: dict[str, Style] = {"good": "good", "warning": "warning", "danger": "attention"}
_MAX_NAMES = 20  # Slack has three; a longer list is invalid
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})", re.IGNORECASE)


def read_attachments(attachments: Sequence[object], at: str, team: str) -> list[Node]:
    """The nodes of all attachments of a list at the pointer `at`, in order."""
    nodes: list[Node] = []
    for index, attachment in enumerate(attachments):
        nodes += read_attachment(attachment, f"{at}/{index}", team)
    return nodes


def read_attachment(value: object, at: str, team: str) -> list[Node]:
    """The pretext and a panel with the other fields; the fallback when the panel would be empty."""
    if not isinstance(value, dict):
        return [unknown(value, at, team, ATTACHMENTS)]
    attachment = cast("Json", value)
    pretext = _prose(attachment, "pretext", at, team)
    panel = _panel(attachment, at, team, _inside(attachment, at, team))
    if _is_visible(panel):
        return [*pretext, panel]
    if pretext:
        return [*pretext]
    if fallback_text := unformatted(string_at(attachment, "fallback"), team):
        return [_panel(attachment, at, team, (Prose(fallback_text, at=f"{at}/fallback"),))]
    native = unknown(attachment, at, team, ATTACHMENTS)
    return [native] if native.fallback else []


def _is_visible(panel: Container) -> bool:
    return bool(
        panel.nodes or panel.title or panel.author or panel.footer or panel.thumbnail or panel.hero
    )


def fallbacks_of(attachments: Sequence[object], team: str) -> list[Document]:
    """The fallback texts of attachments, which Slack shows in notifications."""
    texts = (
        string_at(cast("Json", attachment), "fallback")
        for attachment in attachments
        if isinstance(attachment, dict)
    )
    return [plain for text in texts if (plain := unformatted(text, team))]


# --- around ---------------------------------------------------------------------------------


def _panel(attachment: Json, at: str, team: str, nodes: Nodes) -> Container:
    color = string_at(attachment, "color")
    film = any(isinstance(node, Player) for node in nodes)
    return Container(
        nodes,
        form="panel",
        style=_STYLES.get(color, "default"),
        color=None if color in _STYLES else _rgb(color),
        title=_line(attachment, "title", team),
        link=url_at(attachment, "title_link") or url_at(attachment, "from_url"),
        author=_author(attachment, at, team),
        thumbnail=None if film else picture_at(attachment, "thumb_url", at, "small"),
        footer=_footer(attachment, at, team),
        time=count_at(attachment, "ts") or None,
        at=at,
    )


def _rgb(color: str) -> int | None:
    match = _HEX.fullmatch(color.strip())
    if not match:
        return None
    digits = match[1] if len(match[1]) == 6 else "".join(2 * digit for digit in match[1])
    return int(digits, 16)


def _author(attachment: Json, at: str, team: str) -> Credit | None:
    """`service | author`, each with its link."""
    author = _line(attachment, "author_name", team)
    alias = _line(attachment, "author_subname", team)
    author = merge_texts((*author, Text(" "), *alias)) if author and alias else author or alias
    named = [
        (text, url_at(attachment, key))
        for text, key in (
            (_line(attachment, "service_name", team), "service_url"),
            (author, "author_link"),
        )
        if text
    ]
    url = url_at(attachment, "author_icon") or url_at(attachment, "service_icon")
    icon = asset_of(url) if url else None
    if len(named) == 1:
        return Credit(named[0][0], icon, named[0][1], at=f"{at}/author_name")
    run: list[Inline] = []
    for text, link in named:
        run += [Text(" | ")] if run else []
        run += [Link(link, text)] if link else text
    return Credit(tuple(run), icon, at=f"{at}/author_name") if run or icon else None


def _footer(attachment: Json, at: str, team: str) -> Credit | None:
    text, url = _line(attachment, "footer", team), url_at(attachment, "footer_icon")
    if not text and not url:
        return None
    return Credit(text, asset_of(url) if url else None, at=f"{at}/footer")


# --- parts of an attachment -----------------------------------------------------------------


def _inside(attachment: Json, at: str, team: str) -> Nodes:
    blocks = _blocks(attachment, at, team)
    shared = _shared(attachment, at, team)
    picture = picture_at(attachment, "image_url", at)
    actions = rows(
        items_at(attachment, "actions"),
        f"{at}/actions",
        f"{at}/actions",
        team,
        legacy_action,
        Actions,
    )
    return (
        *(shared or _prose(attachment, "text", at, team)),
        *_fields(attachment, at, team),
        *blocks,
        *((picture,) if picture is not None else ()),
        *_films(attachment, at),
        *_file(attachment, at),
        *read_files(items_at(attachment, "files"), f"{at}/files"),
        *actions,
    )


def _prose(attachment: Json, key: str, at: str, team: str) -> Nodes:
    blocks = _document(attachment, key, string_at(attachment, key), team)
    return (Prose(blocks, at=f"{at}/{key}"),) if blocks else ()


def _document(attachment: Json, key: str, text: str, team: str) -> Document:
    """The text of a field; with `mrkdwn_in`, only the fields that it names have styles."""
    named = attachment.get("mrkdwn_in")
    has_styles = not isinstance(named, list) or key in cast("list[object]", named)[:_MAX_NAMES]
    return mrkdwn_to_text(text, team) if has_styles else unformatted(text, team)


def _line(attachment: Json, key: str, team: str) -> Line:
    text = string_at(attachment, key)
    return as_line(unformatted(text, team)) if text else ()


def _fields(attachment: Json, at: str, team: str) -> list[Node]:
    def read(value: object, place: str, team: str) -> Sequence[LabelledValue] | None:
        if not isinstance(value, dict):
            return ()
        field = cast("Json", value)
        label = _line(field, "title", team)
        blocks = _document(attachment, "fields", string_at(field, "value"), team)
        short = field.get("short") is True
        return (LabelledValue(label, blocks, short, at=place),) if label or blocks else None

    place = f"{at}/fields"
    return rows(items_at(attachment, "fields"), place, place, team, read, Fields)


def _blocks(attachment: Json, at: str, team: str) -> list[Node]:
    return read_blocks(items_at(attachment, "blocks"), f"{at}/blocks", team, 1)


def _shared(attachment: Json, at: str, team: str) -> list[Node]:
    """The blocks of a shared message; its `text` repeats them as mrkdwn."""
    nodes: list[Node] = []
    for index, item in enumerate(items_at(attachment, "message_blocks")):
        message = cast("Json", item).get("message") if isinstance(item, dict) else None
        if isinstance(message, dict):
            place = f"{at}/message_blocks/{index}/message/blocks"
            nodes += read_blocks(items_at(cast("Json", message), "blocks"), place, team, 1)
    return nodes


def _films(attachment: Json, at: str) -> list[Node]:
    """The player of a video: its poster is the thumbnail, its page that of the link."""
    nodes: list[Node] = []
    for kind in ("video", "audio"):
        asset = embedded(attachment, kind)
        if asset is None:
            continue
        poster = url_at(attachment, "thumb_url") if kind == "video" else ""
        page = url_at(attachment, "title_link") or url_at(attachment, "from_url")
        preview = asset_of(poster) if poster else None
        place = f"{at}/{kind}_url" if f"{kind}_url" in attachment else f"{at}/{kind}_html"
        nodes.append(Player(kind, asset, poster=preview, link=page, at=place))
    return nodes


def _file(attachment: Json, at: str) -> list[Node]:
    """A file that came with an email."""
    name, url = string_at(attachment, "filename"), url_at(attachment, "url")
    if not name:
        return []
    media_type, size = string_at(attachment, "mimetype"), count_at(attachment, "size")
    asset = Asset(url=url, private=True, media_type=media_type, name=name, size=size)
    return [File(asset, at=f"{at}/filename")]

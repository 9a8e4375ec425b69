"""A card -> messages for chat.postMessage: text, blocks, attachments. Pure.

Each node type has its writer; the resulting blocks are packed into messages.
"""

from __future__ import annotations

from typing import get_args

from bridge.content.cards import degrade
from bridge.content.cards.rendering import NativeMessage, Rendering, Written
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Badge,
    Button,
    Card,
    Carousel,
    Chart,
    Columns,
    Container,
    Context,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    Input,
    Native,
    Nodes,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Tasks,
)
from bridge.content.cards.writing import OPENERS, WriterTable
from connectors.slack.capabilities import TEXT_LIMIT
from connectors.slack.cards.write_actions import lose_toggles, write_actions, write_button
from connectors.slack.cards.write_boxes import write_carousel, write_container
from connectors.slack.cards.write_chart import write_chart
from connectors.slack.cards.write_degraded import (
    write_alert,
    write_badge,
    write_divider,
    write_poll,
    write_progress,
    write_rating,
    write_tasks,
)
from connectors.slack.cards.write_inputs import write_input
from connectors.slack.cards.write_media import write_file, write_gallery, write_image, write_player
from connectors.slack.cards.write_native import write_native
from connectors.slack.cards.write_notification import notification
from connectors.slack.cards.write_packing import packed
from connectors.slack.cards.write_pieces import Frame, Writing
from connectors.slack.cards.write_prose import is_plain_prose, marks_lost, write_prose
from connectors.slack.cards.write_rows import (
    write_columns,
    write_context,
    write_fields,
    write_section,
)
from connectors.slack.cards.write_table import write_table
from connectors.slack.cards.write_texts import document_to_mrkdwn, length


def write_card(card: Card, rendering: Rendering) -> Written:
    """The messages of a card, in order; equal input gives equal output.

    A card of a few paragraphs is a text without blocks. Beside blocks, `text` is for notifications.
    Tokens are the action_ids and values of buttons, and the action_ids of inputs.
    """
    if text := _as_text(card):
        proses = (node for node in card.nodes if isinstance(node, Prose))
        lost = (loss for prose in proses for loss in marks_lost(prose.text, prose.at))
        return Written((NativeMessage({"text": text}),), tuple(lost) if "|" in text else ())
    writing = Writing(card, rendering, _WRITERS)
    writing.write(card.nodes)
    lose_toggles(writing)
    _drop_soft_frames(writing)
    messages = packed(writing.pieces, card.summary) or (_nothing(card),)
    return Written(messages, tuple(writing.losses))


def _as_text(card: Card) -> str:
    """The card as mrkdwn if nothing is lost; else ""."""
    if card.summary or not all(type(node) is Prose for node in card.nodes):
        return ""
    texts: list[str] = []
    for node in card.nodes:
        if not (isinstance(node, Prose) and is_plain_prose(node)):
            return ""
        texts.append(document_to_mrkdwn(node.text))
    text = "\n\n".join(text for text in texts if text)
    return text if length(text) <= TEXT_LIMIT else ""


def _drop_soft_frames(writing: Writing) -> None:
    """Drop the bars of groups that plain blocks follow."""
    is_followed = False
    dropped: dict[Frame, None] = {}
    for piece in reversed(writing.pieces):
        if piece.frame is not None and piece.frame.soft and is_followed:
            dropped[piece.frame] = None
            piece.frame = None
        is_followed = is_followed or piece.frame is None
    for frame in reversed(dropped):
        writing.lose(frame.at, "color", frame.color)


def _nothing(card: Card) -> NativeMessage:
    """The placeholder of an empty card: Slack refuses empty messages."""
    return NativeMessage({"text": notification(card.summary, ())})


def _opened_button(_writing: Writing, node: Button) -> Nodes | None:
    if node.does != "reveal":
        return None
    return (degrade.line_prose(node.label, node.at), *node.nodes)


def _opened_actions(_writing: Writing, node: Actions) -> Nodes | None:
    """A row of actions; a button with nested nodes splits it."""
    holds = any(isinstance(item, Button) and item.nodes for item in node.items)
    return node.items if holds else None


_WRITERS = WriterTable(
    {
        Prose: write_prose,
        Table: write_table,
        Divider: write_divider,
        Context: write_context,
        Fields: write_fields,
        Image: write_image,
        Player: write_player,
        Gallery: write_gallery,
        File: write_file,
        Section: write_section,
        Columns: write_columns,
        Container: write_container,
        Carousel: write_carousel,
        Alert: write_alert,
        Badge: write_badge,
        Progress: write_progress,
        Rating: write_rating,
        Tasks: write_tasks,
        Chart: write_chart,
        Poll: write_poll,
        Native: write_native,
        Actions: write_actions,
        Button: write_button,
        **dict.fromkeys(get_args(Input), write_input),
    },
    max_depth=12,
    openers={**OPENERS, Button: _opened_button, Actions: _opened_actions},
)

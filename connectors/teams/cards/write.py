"""A card -> Bot Framework messages: text, text and a card, or cards. Pure and deterministic.

Plain text becomes a message with text; a box after text becomes a card below it; everything else
becomes Adaptive Cards. The messages mention nobody, because they have no mention entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.content.cards.rendering import NativeMessage, Rendering, Written
from bridge.content.cards.tree import Asset, Card, Carousel, Container, Node, Nodes
from connectors.teams.capabilities import CARD_LIMIT, CARDS_PER_MESSAGE, TEXT_LIMIT
from connectors.teams.cards.schemas import ADAPTIVE_TYPE
from connectors.teams.cards.write_elements import start
from connectors.teams.cards.write_fit import objects_in, paginate, target_id, weigh, with_weight
from connectors.teams.cards.write_presses import settle_inputs
from connectors.teams.cards.write_prose import is_plain, texts_of, weight
from connectors.teams.cards.write_state import Element, Writing
from connectors.teams.cards.write_structure import unboxed

_VERSION = "1.5"
_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
_SHELL = 500  # bytes around the body of a card
_BYLINE = 1000  # UTF-16 units; reserved for the author's line
_ROOM = CARD_LIMIT - 2 * _BYLINE - 1200  # bytes of a card's body; the remainder is for the activity


@dataclass(slots=True)
class _Message:
    text: str
    cards: list[Element]
    layout: str = ""


def write_card(card: Card, rendering: Rendering, *, apart: bool = False) -> Written:
    """Return the activities of a card, in order, and the losses.

    All words and actions are written or named in a Loss. With `apart` no activity has both text and
    cards, which Teams refuses in an edit.
    """
    writing = start(card, rendering)
    messages = _messages(writing, _opened(card.nodes), apart=apart)
    files = _files_by_message(writing, messages)
    return Written(
        tuple(
            NativeMessage(_activity(message, "" if index else card.summary), files[index])
            for index, message in enumerate(messages)
        ),
        tuple(writing.losses),
    )


def _opened(nodes: Nodes) -> Nodes:
    """Return the nodes; a single card needs no box within the card."""
    match nodes:
        case (Container(form="card") as only,):
            return unboxed(only)
        case _:
            return nodes


# --- choice of the form -------------------------------------------------------------------------


def _messages(writing: Writing, nodes: Nodes, *, apart: bool) -> list[_Message]:
    lead = _lead(writing, nodes)
    if lead == len(nodes):
        return [_Message(text, []) for text in texts_of(writing, nodes, TEXT_LIMIT - _BYLINE)]
    others = nodes[lead:]
    if not all(isinstance(node, Carousel) or _is_box(node) for node in others):
        return _with_cards(writing, [], nodes)
    several = isinstance(others[0], Carousel) or (len(others) > 1 and all(map(_is_card, others)))
    if apart and lead and not several:
        return _with_cards(writing, [], nodes)
    texts = texts_of(writing, nodes[:lead], TEXT_LIMIT - _BYLINE)
    return _with_cards(writing, texts, others, apart=apart)


def _lead(writing: Writing, nodes: Nodes) -> int:
    """Return the number of plain text nodes at the start."""
    count = 0
    for node in nodes:
        if not is_plain(writing, node):
            break
        count += 1
    return count


def _is_box(node: Node) -> bool:
    return isinstance(node, Container) and node.form != "group"


def _with_cards(
    writing: Writing, texts: list[str], nodes: Nodes, *, apart: bool = False
) -> list[_Message]:
    """Return messages with cards; several cards become several attachments."""
    match nodes:
        case (Carousel(cards),) if cards:
            bodies = [_body(writing, card) for card in cards]
            layout = "carousel"
        case (Container(form="card"), _, *_) if all(_is_card(node) for node in nodes):
            bodies = [_body(writing, node) for node in nodes]
            layout = "list"
        case _:
            bodies = [writing.elements(nodes)]
            layout = ""
    settle_inputs(writing)
    messages = [_Message(text, []) for text in texts[:-1]]
    last = texts[-1] if texts else ""
    if last and (apart or 2 * weight(last) > _ROOM // 2):
        messages.append(_Message(last, []))
        last = ""
    return [*messages, *_fill(writing, last, bodies, layout)]


def _is_card(node: Node) -> bool:
    return isinstance(node, Container) and node.form == "card"


def _body(writing: Writing, node: Node) -> list[Element]:
    return writing.elements(unboxed(node))


# --- division into messages ---------------------------------------------------------------------


def _fill(
    writing: Writing, text: str, bodies: Sequence[list[Element]], layout: str
) -> list[_Message]:
    room = _ROOM - 2 * weight(text)
    sized = [page for body in bodies for page in _pages(writing, body, room)]
    _mend(writing, [page for page, _ in sized])
    messages = [_Message(text, [], layout)]
    remaining = room
    for page, size in sized:
        full = len(messages[-1].cards) == CARDS_PER_MESSAGE or not layout or size > remaining
        if messages[-1].cards and full:
            messages.append(_Message("", [], layout))
            remaining = _ROOM
        messages[-1].cards.append(_card(page))
        remaining -= size
    return [message for message in messages if message.cards or message.text]


def _pages(writing: Writing, body: list[Element], room: int) -> list[tuple[list[Element], int]]:
    """Return the bodies of cards with their sizes in a message."""
    if not body:
        return []
    body, weight = with_weight(body)
    if weight <= room:
        return [(body, weight + _SHELL)]
    return [(page, weigh(page) + _SHELL) for page in paginate(writing, body, room)]


def _card(body: list[Element]) -> Element:
    return {
        "type": "AdaptiveCard",
        "$schema": _SCHEMA,
        "version": _VERSION,
        "msteams": {"width": "Full"},
        "body": body,
    }


def _activity(message: _Message, summary: str) -> Element:
    element: Element = {"type": "message"}
    if message.text:
        element |= {"textFormat": "markdown", "text": message.text}
    elif message.cards and summary.strip():
        element["summary"] = " ".join(summary.split())[:_BYLINE]
    if message.cards:
        element["attachments"] = [
            {"contentType": ADAPTIVE_TYPE, "content": card} for card in message.cards
        ]
    if message.layout == "carousel" and len(message.cards) > 1:
        element["attachmentLayout"] = "carousel"
    return element


# --- references between cards ------------------------------------------------------------


def _mend(writing: Writing, pages: Sequence[list[Element]]) -> None:
    """Show hidden parts whose button is in another card; disable buttons without targets."""
    if writing.toggles:
        targets = [set(_targets(page)) for page in pages]
        everywhere = set[str]().union(*targets)
        for page, own_targets in zip(pages, targets, strict=True):
            _mend_page(writing, page, own_targets, everywhere)
    if writing.waiting_inputs and len(pages) > 1:
        _name_inputs_apart(writing, pages)


def _mend_page(
    writing: Writing, page: list[Element], own_targets: set[str], everywhere: set[str]
) -> None:
    for element in objects_in(page):
        name = element.get("id")
        if not isinstance(name, str):
            continue
        if element.get("isVisible") is False and name in everywhere and name not in own_targets:
            del element["isVisible"]
            writing.lose("", "hidden_shown", name, "what was hidden")
    _drop_missing_targets(writing, page)


def _drop_missing_targets(writing: Writing, page: list[Element]) -> None:
    """Disable buttons of which no target is in the page, also those of other clients."""
    ids = (element.get("id") for element in objects_in(page, fallbacks=True))
    standing = {name for name in ids if isinstance(name, str)}
    for element in objects_in(page, fallbacks=True):
        if element.get("type") == "Action.ToggleVisibility":
            targets = [t for t in element["targetElements"] if target_id(t) in standing]
            if len(targets) < len(element["targetElements"]) and not targets:
                element["isEnabled"] = False
                writing.lose("", "toggle_without_target", element.get("title", ""), "its name")
            element["targetElements"] = targets


def _targets(page: list[Element]) -> Iterator[str]:
    for element in objects_in(page):
        if element.get("type") == "Action.ToggleVisibility":
            yield from map(target_id, element["targetElements"])


def _name_inputs_apart(writing: Writing, pages: Sequence[list[Element]]) -> None:
    """Report inputs of cards without a button: a button sends only the inputs of its card."""
    asks = [_labels(page) for page in pages]
    sends = [any(map(_sends, objects_in(page))) for page in pages]
    for labels, sent in zip(asks, sends, strict=True):
        if labels and not sent and any(sends):
            writing.lose("", "inputs_apart", "\n".join(labels), "inputs that no button sends")


def _labels(page: list[Element]) -> list[str]:
    inputs = (
        element for element in objects_in(page) if str(element.get("type")).startswith("Input.")
    )
    return [str(item.get("label") or item.get("title") or item["id"]) for item in inputs]


def _sends(element: Element) -> bool:
    return element.get("type") == "Action.Execute" and element.get("associatedInputs") != "none"


# --- files --------------------------------------------------------------------------------------


def _files_by_message(writing: Writing, messages: list[_Message]) -> list[tuple[Asset, ...]]:
    """Return the files of each message: with their names, or else in the last message."""
    if not writing.files:
        return [()] * len(messages)
    if not messages:
        messages.append(_Message("", []))
    standing = {
        id(element): index
        for index, message in enumerate(messages)
        for element in objects_in(message.cards)
    }
    placed: list[list[Asset]] = [[] for _ in messages]
    for element, asset in writing.files:
        placed[standing.get(id(element), len(messages) - 1)].append(asset)
    return [tuple(files) for files in placed]

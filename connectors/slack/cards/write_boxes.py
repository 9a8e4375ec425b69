"""Containers and carousels -> card blocks, container blocks, attachments with a bar, or their
content."""

from __future__ import annotations

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Actions,
    Button,
    Carousel,
    Container,
    Node,
    Nodes,
    Prose,
    Section,
)
from bridge.content.cards.walk import walk
from bridge.content.cards.writing import runs_within
from bridge.content.text.tree import Break, Inline, Link, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import (
    CARD_BODY,
    CARD_BUTTONS,
    CARD_TITLE,
    CAROUSEL,
    CONTAINER_TITLE,
    URL,
)
from connectors.slack.cards.write_actions import button_element, button_line
from connectors.slack.cards.write_folds import contain, fold, fold_more
from connectors.slack.cards.write_media import image_element, is_bare
from connectors.slack.cards.write_pieces import Frame, Json, Piece, Writing
from connectors.slack.cards.write_size import item_cost
from connectors.slack.cards.write_texts import length, line_to_mrkdwn, mrkdwn, words

Line = tuple[Inline, ...]

# The three colours with Slack names keep these names.
_COLORS = {
    "good": "good",
    "warning": "warning",
    "attention": "danger",
    "accent": "#36C5F0",
    "emphasis": "#DDDDDD",
}
_CAROUSEL_CHARACTERS = 10_000


def write_container(writing: Writing, node: Container) -> None:
    folds = node.spoiler or node.hidden or node.collapsed is not None
    if writing.is_inside:
        _write_inside(writing, node)
    elif folds or (node.id and node.id in writing.toggles):
        _fold(writing, node)
    elif _is_panel(node):
        _write_panel(writing, node)
    elif node.form == "card":
        _write_card(writing, node)
    elif node.title and not _has_head(node):
        _write_titled(writing, node)
    else:
        writing.write(_opened(writing, node))


def _is_panel(node: Container) -> bool:
    """Whether the container has a bar at its side."""
    return node.form == "panel" or _is_coloured(node)


def _is_coloured(node: Container) -> bool:
    """Whether the container has a colour; grey counts as none."""
    return node.color is not None or node.style in _BARS


_BARS = frozenset(("good", "warning", "attention", "accent"))


def _has_head(node: Container) -> bool:
    """Whether something is above the container's title."""
    return node.hero is not None or node.author is not None


# --- folded ---------------------------------------------------------------------------------


def _fold(writing: Writing, node: Container) -> None:
    _lose_color(writing, node)
    writing.folded.add(node.id)
    collapsed = node.hidden or node.spoiler or node.collapsed is True
    if node.title and not _has_head(node):
        title = _linked(writing, node.title, node.link, node.at)
        fold(writing, title, _below_title(writing, node), collapsed=collapsed)
        return
    inner = _opened(writing, node)
    button = next(
        (button for button in writing.toggles.get(node.id, ()) if not _holds(node, button)), None
    )
    if node.spoiler or button is None:
        title = (Text("Spoiler" if node.spoiler else "…"),)
        fold(writing, title, inner, collapsed=collapsed)
    elif (opened_ids := writing.opened_by.get(id(button))) is None:
        writing.opened_by[id(button)] = {node.id}
        line = button_line(button)
        title = line if words(line) else (Text("Show more"),)
        fold(writing, title, inner, collapsed=collapsed)
        writing.last_fold = id(button), writing.pieces[-1] if writing.pieces else None
    elif _goes_on(writing, button, collapsed=collapsed):
        opened_ids.add(node.id)
        fold_more(writing, inner)
        writing.last_fold = id(button), writing.pieces[-1]
    else:
        fold(writing, (Text("…"),), inner, collapsed=collapsed)


def _holds(node: Container, button: Button) -> bool:
    """Whether the button is inside the container that it opens, so that its label does not precede
    it."""
    return any(node is button for node in walk(node.nodes))


def _goes_on(writing: Writing, button: Button, *, collapsed: bool) -> bool:
    """Whether the last written container is the one that this button opens."""
    if not writing.pieces or writing.last_fold != (id(button), writing.pieces[-1]):
        return False
    last = writing.pieces[-1].block
    return last.get("type") == "container" and last.get("default_collapsed") is collapsed


def _write_titled(writing: Writing, node: Container) -> None:
    """A container with its title, subtitle and thumbnail."""
    head: Json = {}
    inner = _below_title(writing, node)
    subtitle = line_to_mrkdwn(node.subtitle)
    if subtitle and length(subtitle) <= CONTAINER_TITLE:
        head["subtitle"] = mrkdwn(subtitle)
        inner = inner[1:]
    if node.thumbnail is not None and (not node.subtitle or head) and is_bare(node.thumbnail):
        icon = image_element(writing, node.thumbnail)
        if icon is not None:
            head["icon"] = icon
            inner = inner[1:]
    contain(writing, _linked(writing, node.title, node.link, node.at), inner, **head)


def _below_title(writing: Writing, node: Container) -> Nodes:
    subtitle = (degrade.line_prose(node.subtitle, node.at, subtle=True),) if node.subtitle else ()
    thumbnail = (node.thumbnail,) if node.thumbnail is not None else ()
    return (*subtitle, *thumbnail, *node.nodes, *degrade.foot_of_container(node))


# --- panels and open containers -------------------------------------------------------------


def _write_panel(writing: Writing, node: Container) -> None:
    """A container with a bar beside all blocks that have no bar of their own."""
    pieces = writing.inside(_opened(writing, node), _color(node))
    frame = Frame(_color(node), node.form == "group", node.at)
    for piece in pieces:
        piece.frame = piece.frame or frame
    writing.pieces += pieces


def _write_inside(writing: Writing, node: Container) -> None:
    """A nested container: at most a bar, and no bar in a container block."""
    if node.spoiler or node.hidden or node.collapsed:
        kind = "spoiler" if node.spoiler else "hidden" if node.hidden else "folded"
        writing.lose(node.at, "open_container", f"a {kind} box", "open")
    if _is_coloured(node) and writing.bar_color is not None and _color(node) != writing.bar_color:
        _write_panel(writing, node)
        return
    if writing.bar_color is None:
        _lose_color(writing, node)
    writing.write(_opened(writing, node))


def _opened(writing: Writing, node: Container) -> Nodes:
    """The hero, author, title and subtitle with the thumbnail, the content, and the footer."""
    nodes: list[Node] = []
    if node.hero is not None:
        nodes.append(node.hero)
    if node.author is not None:
        nodes.append(degrade.credit_as_context(node.author))
    nodes += _titled(writing, node)
    return (*nodes, *degrade.foot_of_container(node))


def _titled(writing: Writing, node: Container) -> Nodes:
    title = _linked(writing, node.title, node.link, node.at)
    line: Line = (Strong(title),) if title else ()
    if node.subtitle:
        line = (*line, Break(), *node.subtitle) if line else node.subtitle
    head = (degrade.line_prose(line, node.at),) if line else ()
    if node.thumbnail is None:
        return (*head, *node.nodes)
    if head:
        return (Section(head, node.thumbnail, at=node.at), *node.nodes)
    if node.nodes and isinstance(first := node.nodes[0], Prose) and is_bare(node.thumbnail):
        return (Section((first,), node.thumbnail, at=node.at), *node.nodes[1:])
    return (node.thumbnail, *node.nodes)


def _linked(writing: Writing, title: Line, link: str, at: str) -> Line:
    """The title as a link; a link without a title shows its URL."""
    if not link:
        return title
    url = safe_url(link)
    if url is None or len(url) > URL - 200:
        writing.lose(at, "long_url" if url else "unsafe_url", link, "its title")
        return title
    return (Link(url, title or (Text(url),)),)


def _color(node: Container) -> str:
    if node.color is not None:
        return f"#{node.color & 0xFFFFFF:06X}"
    return _COLORS.get(node.style, "")


def _lose_color(writing: Writing, node: Container) -> None:
    if _is_coloured(node):
        writing.lose(node.at, "color", _color(node))


# --- cards ----------------------------------------------------------------------------------


def _write_card(writing: Writing, node: Container) -> None:
    card = _card(writing, node)
    if card is not None:
        writing.pieces.append(Piece(card))
    elif node.title and not _has_head(node):
        _write_titled(writing, node)
    else:
        _write_panel(writing, node)


def write_carousel(writing: Writing, node: Carousel) -> None:
    before = writing.checkpoint()
    cards: list[Json] = []
    for member in node.cards:
        card = None if writing.is_inside or _is_boxed(member) else _card(writing, member)
        if card is None:
            writing.roll_back_to(before)
            what = f"{len(node.cards)} cards to leaf through"
            writing.lose(node.at, "stack_carousel", what, "one below the other")
            writing.write(node.cards)
            return
        cards.append(card)
    for row in runs_within(cards, (CAROUSEL, _CAROUSEL_CHARACTERS), item_cost):
        writing.pieces.append(Piece({"type": "carousel", "elements": row}))


def _is_boxed(node: Container) -> bool:
    """Whether the container has something that a card block cannot show."""
    return bool(_is_coloured(node) or node.spoiler or node.hidden or node.collapsed is not None)


def _card(writing: Writing, node: Container) -> Json | None:
    """A card block, if it can show everything; else None."""
    before = writing.checkpoint()
    card = _head_of_card(writing, node)
    if card is not None and _fill(writing, card, node) and len(card) > 1 and not _is_icon(card):
        return card
    writing.roll_back_to(before)
    return None


def _is_icon(card: Json) -> bool:
    return set(card) <= {"type", "icon", "subtitle"}


def _head_of_card(writing: Writing, node: Container) -> Json | None:
    if node.author is not None or node.footer is not None or node.time is not None:
        return None
    card: Json = {"type": "card"}
    for key, picture in (("hero_image", node.hero), ("icon", node.thumbnail)):
        if picture is None:
            continue
        element = image_element(writing, picture) if is_bare(picture) else None
        if element is None:
            return None
        card[key] = element
    title = line_to_mrkdwn(_linked(writing, node.title, node.link, node.at))
    for key, text in (("title", title), ("subtitle", line_to_mrkdwn(node.subtitle))):
        if length(text) > CARD_TITLE:
            return None
        if text:
            card[key] = mrkdwn(text)
    return card


def _fill(writing: Writing, card: Json, node: Container) -> bool:
    """Add the text and buttons, and return whether they are the whole content."""
    nodes = list(node.nodes)
    if nodes and isinstance(first := nodes[0], Prose) and not first.subtle:
        text = _body(first)
        if not text:
            return False
        card["body"] = mrkdwn(text)
        nodes = nodes[1:]
    buttons: list[Node] = []
    for inner in nodes:
        buttons += inner.items if isinstance(inner, Actions) else (inner,)
    if len(buttons) > CARD_BUTTONS or not all(isinstance(button, Button) for button in buttons):
        return False
    elements = [button_element(writing, button) for button in buttons if isinstance(button, Button)]
    if elements:
        card["actions"] = elements
    return None not in elements


def _body(node: Prose) -> str:
    text = line_to_mrkdwn(_lines(node))
    return text if length(text) <= CARD_BODY else ""


def _lines(node: Prose) -> Line:
    """The paragraphs of a text as one line; () for other blocks, which a card cannot have."""
    run: list[Inline] = []
    for block in node.text:
        if not isinstance(block, Paragraph):
            return ()
        run += [Break(), Break()] if run else []
        run += block.children
    return tuple(run)

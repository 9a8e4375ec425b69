"""The controls and inputs in the attachments of a message. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bridge.errors import NotFound
from connectors.teams.sandbox.cards.checks import ADAPTIVE, BUTTON_CARDS, CONSENT
from connectors.teams.sandbox.state import Json

Sort: TypeAlias = Literal["adaptive", "button", "consent", "suggested"]

_ASIDE = frozenset({"fallback", "data", "refresh", "authentication", "requires", "msteams"})


@dataclass(frozen=True)
class Control:
    """A control that people can press; `words` is its visible text.

    `cards` are the Adaptive Cards that contain it, the outermost first; `attachment` is the index
    of its attachment.
    """

    sort: Sort
    action: Json
    words: str
    attachment: int = 0
    cards: tuple[Json, ...] = ()

    @property
    def id(self) -> str:
        return str(self.action.get("id") or "")


def controls_of(activity: Json) -> Iterator[Control]:
    """Yield the controls of an activity in reading order."""
    for number, attachment in enumerate(activity.get("attachments") or []):
        content_type, content = attachment.get("contentType"), attachment.get("content") or {}
        if content_type == ADAPTIVE:
            yield from card_controls(content, number)
        elif content_type == CONSENT:
            for answer in ("Accept", "Decline"):
                yield Control("consent", {"id": answer.lower()}, answer, number)
        elif content_type in BUTTON_CARDS:
            yield from _buttons(content, number)
    suggested = activity.get("suggestedActions")
    for action in suggested.get("actions") or [] if isinstance(suggested, dict) else []:
        yield Control("suggested", action, str(action.get("title") or action.get("value") or ""))


def card_controls(card: Json, number: int = 0) -> Iterator[Control]:
    """Yield the controls of an Adaptive Card."""
    yield from _actions(card, "", (card,), number)


def find_control(controls: Iterable[Control], name: str) -> Control:
    """Return a control by its id, or else by its text. Raises NotFound."""
    candidates = list(controls)
    for control in candidates:
        if control.id == name:
            return control
    for control in candidates:
        if control.words == name:
            return control
    names = ", ".join(dict.fromkeys(c.id or c.words for c in candidates)) or "nothing"
    raise NotFound(f"Nothing to press is called {name!r}; there is {names}")


def submitted_inputs(control: Control) -> list[Json]:
    """Return the inputs that an action sends: those of its card and of the enclosing cards."""
    if control.action.get("associatedInputs", "auto") in ("none", "None"):
        return []
    return [each for card in control.cards for each in inputs_of(card)]


def inputs_of(card: Json) -> Iterator[Json]:
    """Yield the inputs of a card, without those of cards that open inside it."""
    for child in _children(card):
        if child.get("type") == "AdaptiveCard":
            continue
        if str(child.get("type")).startswith("Input.") and child.get("id"):
            yield child
        yield from inputs_of(child)


def all_inputs(card: Json) -> Iterator[Json]:
    """Yield the inputs of a card and of cards that open inside it."""
    for child in _children(card):
        if str(child.get("type")).startswith("Input.") and child.get("id"):
            yield child
        yield from all_inputs(child)


def _actions(
    node: Json, words: str, cards: tuple[Json, ...], number: int
) -> Iterator[Control]:  # fmt: skip
    if str(node.get("type")).startswith("Action."):
        named = str(node.get("title") or node.get("tooltip") or words)
        yield Control("adaptive", node, named, number, cards)
    for child in _children(node):
        inside = (*cards, child) if child.get("type") == "AdaptiveCard" else cards
        own = _words(node) if child is node.get("selectAction") else ""
        yield from _actions(child, own, inside, number)


def _children(node: Json) -> Iterator[Json]:
    for name, value in node.items():
        if name in _ASIDE:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, dict):
                yield child


def _words(node: Json) -> str:
    """Return the text of an element that is a control as a whole."""
    for name in ("text", "altText", "title"):
        if isinstance(node.get(name), str) and node[name]:
            return node[name]
    return next((words for child in _children(node) if (words := _words(child))), "")


def _buttons(content: Json, number: int) -> Iterator[Control]:
    for action in content.get("buttons") or []:
        yield Control("button", action, str(action.get("title") or ""), number)
    for owner in (content, *(content.get("images") or []), *(content.get("items") or [])):
        tap: Any = owner.get("tap")
        if isinstance(tap, dict):
            yield Control("button", tap, str(tap.get("title") or owner.get("title") or ""), number)

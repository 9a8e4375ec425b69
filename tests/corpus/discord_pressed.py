"""The inputs that the forms behind the buttons of Discord messages ask: each button is pressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bridge.app.translation.translate import token
from bridge.content.cards.tree import Card
from connectors.discord.cards import token_of
from connectors.discord.presses import FORM, MESSAGE, PRESS, SUBMISSION, UPDATE, first_answer
from tests.corpus.view import string

_BUTTON = 2
_MAX_PAGES = 12


def asked_in_forms(card: Card, messages: Iterable[Any]) -> frozenset[str]:
    """The tokens of the inputs that somebody can fill in by pressing a button."""
    buttons = [
        component for component in _components(list(messages)) if component.get("type") == _BUTTON
    ]
    modals = [modal for button in buttons for modal in _pages(card, string(button, "custom_id"))]
    return frozenset(token_of(string(component, "custom_id")) for component in _components(modals))


def _pages(card: Card, custom_id: str) -> Iterator[Any]:
    """The modals that one button opens, one behind the other."""
    data = _press_shape(PRESS, custom_id)
    for _ in range(_MAX_PAGES):
        answer = first_answer(card, token, data)
        if answer is None or answer["type"] != FORM:
            return
        yield answer["data"]["components"]
        between = first_answer(card, token, _press_shape(SUBMISSION, answer["data"]["custom_id"]))
        if between is None or between["type"] not in (MESSAGE, UPDATE):
            return
        (next_button, *_) = (
            component for component in _components(between) if component.get("type") == _BUTTON
        )
        data = _press_shape(PRESS, string(next_button, "custom_id"))


def _press_shape(kind: int, custom_id: str) -> dict[str, Any]:
    data = {"custom_id": custom_id, "components": []}
    return {"type": kind, "message": {"id": "1", "embeds": []}, "data": data}


def _components(value: Any) -> Iterator[dict[str, Any]]:
    """Everything that has a custom id."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += reversed(node)
        elif isinstance(node, dict):
            if string(node, "custom_id"):
                yield node
            stack += node.values()

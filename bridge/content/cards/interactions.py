"""A press or a submission on any platform -> one interaction for the card's author. Pure.

Tokens identify actions: a keyed digest of the message and of the action's path in it. The digest is
the same whenever the card is rendered again, so the bridge stores nothing per button.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from bridge.content.cards.forms import forms_of, texts_that_name
from bridge.content.cards.input_rules import is_empty, missing_reason, refusal_reason
from bridge.content.cards.tree import (
    Button,
    Card,
    Choice,
    Container,
    FileInput,
    Input,
    NumberInput,
    Picker,
    Prose,
    Toggle,
)
from bridge.content.cards.walk import actions_of, walk
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.plain import blocks_as_line

SCHEMA_ID = "application/vnd.uacs.interaction+json"
TOKEN_LENGTH = 22  # characters: 128 bits, URL-safe
Action = Button | Input


class Interaction(BaseModel):
    """What a person did with a card, in the terms of its author.

    - `id`, `value`: the author's id of the action (a verb, action id, custom id) and its value; for
      a menu, the chosen values.
    - `inputs`: the values of the inputs beside it, by the author's ids: text, numbers, `true` or
      `false`, a list for a multiple choice.
    - `message`, `path`: the card's message, and the JSON pointer of the action in it.
    - `native`: what the author would have received on the card's own platform, if it is a
      platform's card.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["pressed", "chosen", "submitted"]
    id: str
    value: JsonValue = None
    label: str = ""
    inputs: dict[str, JsonValue] = {}
    message: str
    path: str
    native: JsonValue = None


def action_token(key: bytes, message: str, path: str) -> str:
    """Returns the token of the action at this path of the message.

    Args:
        key: The bridge's secret for tokens.
        message: The id of the message.
        path: The JSON pointer of the action in the message.

    Returns:
        `TOKEN_LENGTH` URL-safe characters.
    """
    keyed = _keyed(key).copy()  # takes half the time of a digest with a new key
    keyed.update(f"{message}\0{path}".encode("utf-8", "replace"))
    return urlsafe_b64encode(keyed.digest()[:16]).decode().rstrip("=")


@lru_cache(maxsize=16)
def _keyed(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")


def find_action(
    card: Card, token_of: Callable[[str], str], token: str, *, by_id: bool = True
) -> Action | None:
    """Returns the action with this token.

    Args:
        card: The card of the message.
        token_of: Returns the token of a path.
        token: What the platform reports.
        by_id: Whether an action with this id counts, too: a payload that is shown unchanged has no
            tokens.

    Returns:
        The action; None if the card has none with this token.
    """
    action_by_id: Action | None = None
    for action in actions_of(card):
        if _is_token(token_of(action.at), token):
            return action
        if by_id and action_by_id is None and action.id and action.id == token:
            action_by_id = action
    return action_by_id


def _is_token(expected: str, token: str) -> bool:
    return hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))


def interaction_with(
    card: Card,
    action: Action,
    values: Mapping[str, JsonValue],
    token_of: Callable[[str], str],
    message: str,
) -> Interaction:
    """Builds the interaction of one action.

    Args:
        card: The card of the message.
        action: The action that was pressed or chosen.
        values: What the platform reports, by token (or id, as for `find_action`): text, or the list
            of chosen values; None for an empty input.
        token_of: Returns the token of a path.
        message: The id of the message.
    """
    inputs: dict[str, JsonValue] = {}
    for field in actions_of(card):
        if not isinstance(field, Button):
            name = _name_in(values, field, token_of)
            if name is not None and values[name] is not None:
                inputs[field.id or field.at] = typed_value(field, values[name])
    if isinstance(action, Button):
        kind, value = ("submitted" if action.does == "submit" else "pressed"), action.value
        label = plain_inlines(action.label)
    else:
        kind, value = "chosen", inputs.pop(action.id or action.at, None)
        label = plain_inlines(action.label) or action.placeholder
    return Interaction(
        kind=kind, id=action.id, value=value, label=label, inputs=inputs,
        message=message, path=action.at,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WrongInput:
    """An input that refuses its value: `label` is its name for people, `reason` the bridge's
    message."""

    field: Input
    label: str
    reason: str

    @property
    def error(self) -> str:
        """The message for people: the card author's own, else the bridge's."""
        return self.field.error.strip() or self.reason


def wrong_inputs(
    card: Card,
    action: Action,
    values: Mapping[str, JsonValue],
    token_of: Callable[[str], str],
    *,
    all_present: bool,
) -> list[WrongInput]:
    """Returns the inputs that must change before a submit button counts, in the order of reading.

    Args:
        card: The card of the message.
        action: The pressed action; actions other than submit buttons have no wrong inputs.
        values: As for `interaction_with`.
        token_of: Returns the token of a path.
        all_present: Whether an input that is missing in `values` is empty; otherwise the platform
            did not show it, and it is not checked.
    """
    if not isinstance(action, Button):
        return []
    wrong: list[WrongInput] = []
    hidden: frozenset[int] | None = None
    names = texts_that_name(card.nodes)
    for field in forms_of(card).sent_by(action):
        name = _name_in(values, field, token_of)
        if field.disabled or (name is None and (field.dispatches or not all_present)):
            continue
        value = None if name is None else typed_value(field, values[name])
        if not is_empty(value):
            reason = refusal_reason(field, value)
        elif field.required and _can_be_answered(field):
            hidden = _hidden_inputs(card) if hidden is None else hidden
            reason = "" if id(field) in hidden else missing_reason(field)
        else:
            reason = ""
        if reason:
            wrong.append(WrongInput(field, _label_of(field, names), reason))
    return wrong


def _name_in(
    values: Mapping[str, JsonValue], field: Input, token_of: Callable[[str], str]
) -> str | None:
    return next((key for key in (token_of(field.at), field.id) if key and key in values), None)


def _can_be_answered(field: Input) -> bool:
    return not isinstance(field, Choice) or bool(field.options) or field.external


def _hidden_inputs(card: Card) -> frozenset[int]:
    """The inputs in containers that nobody sees until a button shows them."""
    containers = (
        container
        for container in walk(card.nodes)
        if isinstance(container, Container) and container.hidden
    )
    return frozenset(
        id(node)
        for container in containers
        for node in walk(container.nodes)
        if isinstance(node, Input)
    )


def _label_of(field: Input, names: Mapping[int, Prose]) -> str:
    title = field.title if isinstance(field, Toggle) else ()
    label = plain_inlines(field.label or title).strip()
    if not label and (text := names.get(id(field))) is not None:
        label = plain_inlines(blocks_as_line(text.text)).strip()
    return label or field.placeholder.strip() or field.id


def typed_value(field: Input, value: JsonValue) -> JsonValue:
    """Returns a reported value in the type that the card's author expects: one or several values, a
    number, true or false."""
    chosen = [choice for choice in value if choice != ""] if isinstance(value, list) else None
    match field:
        case Toggle():
            return _is_on(field, chosen if chosen is not None else value)
        case Choice(many=True) | Picker(many=True) | FileInput():
            return chosen if chosen is not None else [value] if value not in (None, "") else []
        case NumberInput():
            return _number(chosen[0] if chosen else value)
        case _:
            return (chosen[0] if chosen else None) if chosen is not None else value


def describe_interaction(interaction: Interaction) -> str:
    """Returns an interaction as one line of plain text: `“Approve”, comment: fine`."""
    name = interaction.label or interaction.id or "a button"
    is_choice = interaction.kind == "chosen" and interaction.value not in (None, [], "")
    phrases = [f"“{name}”" + (f": {_value_text(interaction.value)}" if is_choice else "")]
    phrases += [f"{key}: {_value_text(value)}" for key, value in interaction.inputs.items()]
    return ", ".join(phrases)


def _is_on(field: Toggle, value: JsonValue) -> bool:
    if isinstance(value, list):
        return bool(value) and value != [field.off]
    return value is True or value == field.on


def _number(value: JsonValue) -> JsonValue:
    """A number if the text is one, else the text: the card's author decides."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    if number != number or number in (float("inf"), float("-inf")):
        return value
    return int(number) if number.is_integer() else number


def _value_text(value: JsonValue) -> str:
    match value:
        case list():
            return " / ".join(_value_text(item) for item in value)
        case bool():
            return "yes" if value else "no"
        case None:
            return "nothing"
        case _:
            return str(value)

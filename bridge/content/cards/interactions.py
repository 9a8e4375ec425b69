"""A press or a submission on any platform -> one interaction for the card's author. Pure.

Actions are known by tokens: a keyed digest of the message and the action's path in it, the same
whenever the card is rendered again, so that nothing needs to be kept per button.
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
from bridge.content.cards.input_rules import is_empty, why_missing, why_wrong
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
    """What somebody did with a card, in its author's own words.

    - `id`, `value`: the author's id of the action (a verb, action id, custom id) and its value; of
      a menu the chosen values.
    - `inputs`: everything filled in beside it, by the author's ids of the inputs: text, numbers,
      `true` or `false`, a list where several may be chosen.
    - `message`, `path`: the card's message, and where in it the action stands (JSON pointer).
    - `native`: what the author would have received at home, where the card is one of a platform.
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
    """The token of the action that stands at this path of the message."""
    keyed = _keyed(key).copy()  # half the time of a digest from the key on
    keyed.update(f"{message}\0{path}".encode("utf-8", "replace"))
    return urlsafe_b64encode(keyed.digest()[:16]).decode().rstrip("=")


@lru_cache(maxsize=16)
def _keyed(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")


def find_action(
    card: Card, token_of: Callable[[str], str], token: str, *, by_id: bool = True
) -> Action | None:
    """The action that carries this token, or, `by_id`, has it as its id: a payload that went home
    as it was has no tokens."""
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
    """`values` are what the platform tells, by token (or id, as for `find_action`): text, or the
    list of what was chosen; None where the input was left empty."""
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
    """An input that does not take what was filled in: `label` is what people call it, `reason` the
    bridge's words for what is wrong, `error` its author's."""

    field: Input
    label: str
    reason: str

    @property
    def error(self) -> str:
        return self.field.error.strip() or self.reason


def wrong_inputs(
    card: Card,
    action: Action,
    values: Mapping[str, JsonValue],
    token_of: Callable[[str], str],
    *,
    all_told: bool,
) -> list[WrongInput]:
    """What must be filled in otherwise before this submit button counts, in the order of reading;
    nothing for all other actions.

    `values` are those of `interaction_with`. An input that is not among them was not shown where
    somebody pressed, unless `all_present`: then it is empty.
    """
    if not isinstance(action, Button):
        return []
    wrong: list[WrongInput] = []
    hidden: frozenset[int] | None = None
    names = texts_that_name(card.nodes)
    for field in forms_of(card).sent_by(action):
        name = _name_in(values, field, token_of)
        if field.disabled or (name is None and (field.dispatches or not all_told)):
            continue
        value = None if name is None else typed_value(field, values[name])
        if not is_empty(value):
            reason = why_wrong(field, value)
        elif field.required and _can_be_answered(field):
            hidden = _hidden_inputs(card) if hidden is None else hidden
            reason = "" if id(field) in hidden else why_missing(field)
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
    """Those in containers that nobody sees until a button shows them."""
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
    """What was filled in, as its author expects it: one value or several, a number, a yes."""
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
    """What happened, as one line of plain text: `“Approve”, comment: fine`."""
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
    """A number where it reads as one, else what was typed: its author decides."""
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

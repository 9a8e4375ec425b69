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
    named: Action | None = None
    for action in actions_of(card):
        if _is_token(token_of(action.at), token):
            return action
        if by_id and named is None and action.id and action.id == token:
            named = action
    return named


def _is_token(known: str, given: str) -> bool:
    return hmac.compare_digest(known.encode(), given.encode("utf-8", "replace"))


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
    for one in actions_of(card):
        if not isinstance(one, Button):
            name = _name_in(values, one, token_of)
            if name is not None and values[name] is not None:
                inputs[one.id or one.at] = typed_value(one, values[name])
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

    asked: Input
    label: str
    reason: str

    @property
    def error(self) -> str:
        return self.asked.error.strip() or self.reason


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
    somebody pressed, unless `all_told`: then it is empty.
    """
    if not isinstance(action, Button):
        return []
    found: list[WrongInput] = []
    hidden: frozenset[int] | None = None
    names = texts_that_name(card.nodes)
    for one in forms_of(card).sent_by(action):
        name = _name_in(values, one, token_of)
        if one.disabled or (name is None and (one.dispatches or not all_told)):
            continue
        value = None if name is None else typed_value(one, values[name])
        if not is_empty(value):
            reason = why_wrong(one, value)
        elif one.required and _can_be_answered(one):
            hidden = _hidden_inputs(card) if hidden is None else hidden
            reason = "" if id(one) in hidden else why_missing(one)
        else:
            reason = ""
        if reason:
            found.append(WrongInput(one, _label_of(one, names), reason))
    return found


def _name_in(
    values: Mapping[str, JsonValue], asked: Input, token_of: Callable[[str], str]
) -> str | None:
    return next((key for key in (token_of(asked.at), asked.id) if key and key in values), None)


def _can_be_answered(asked: Input) -> bool:
    return not isinstance(asked, Choice) or bool(asked.options) or asked.external


def _hidden_inputs(card: Card) -> frozenset[int]:
    """Those in containers that nobody sees until a button shows them."""
    hidden = (one for one in walk(card.nodes) if isinstance(one, Container) and one.hidden)
    return frozenset(
        id(node) for one in hidden for node in walk(one.nodes) if isinstance(node, Input)
    )


def _label_of(asked: Input, names: Mapping[int, Prose]) -> str:
    title = asked.title if isinstance(asked, Toggle) else ()
    label = plain_inlines(asked.label or title).strip()
    if not label and (text := names.get(id(asked))) is not None:
        label = plain_inlines(blocks_as_line(text.text)).strip()
    return label or asked.placeholder.strip() or asked.id


def typed_value(asked: Input, given: JsonValue) -> JsonValue:
    """What was filled in, as its author expects it: one value or several, a number, a yes."""
    several = [one for one in given if one != ""] if isinstance(given, list) else None
    match asked:
        case Toggle():
            return _is_on(asked, several if several is not None else given)
        case Choice(many=True) | Picker(many=True) | FileInput():
            return several if several is not None else [given] if given not in (None, "") else []
        case NumberInput():
            return _number(several[0] if several else given)
        case _:
            return (several[0] if several else None) if several is not None else given


def told(interaction: Interaction) -> str:
    """What happened, as one line of plain text: `“Approve”, comment: fine`."""
    name = interaction.label or interaction.id or "a button"
    chosen = interaction.kind == "chosen" and interaction.value not in (None, [], "")
    said = [f"“{name}”" + (f": {_shown(interaction.value)}" if chosen else "")]
    said += [f"{key}: {_shown(value)}" for key, value in interaction.inputs.items()]
    return ", ".join(said)


def _is_on(asked: Toggle, given: JsonValue) -> bool:
    if isinstance(given, list):
        return bool(given) and given != [asked.off]
    return given is True or given == asked.on


def _number(given: JsonValue) -> JsonValue:
    """A number where it reads as one, else what was typed: its author decides."""
    if not isinstance(given, str):
        return given
    try:
        number = float(given)
    except ValueError:
        return given
    if number != number or number in (float("inf"), float("-inf")):
        return given
    return int(number) if number.is_integer() else number


def _shown(value: JsonValue) -> str:
    match value:
        case list():
            return " / ".join(_shown(one) for one in value)
        case bool():
            return "yes" if value else "no"
        case None:
            return "nothing"
        case _:
            return str(value)

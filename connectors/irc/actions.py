"""Buttons and inputs of a card as numbers that people answer with: `!1`, `!2 some words`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from bridge.content.cards.tree import Button, Card, Choice, FileInput, Input
from bridge.content.cards.walk import actions_of
from bridge.content.text.inlines import plain_inlines

_PRESS = re.compile(r"!(\d{1,3})(?:\s+(.*))?", re.DOTALL)
_WITH_CODE = re.compile(r"([a-z]{3})(?:\s+(.*))?", re.DOTALL)
_VALUE = re.compile(r"\s*(\d{1,3})\s*[:=]\s*(.*?)\s*", re.DOTALL)
_LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True)
class Numbered:
    """An action that can be answered, by its number from 1 on."""

    number: int
    action: Button | Input
    label: str


def numbered(card: Card) -> list[Numbered]:
    """What of a card can be answered in words, in the order of reading: buttons that tell their
    author, and inputs. The numbers depend on the card alone."""
    actions: list[Numbered] = []
    for action in actions_of(card):
        if isinstance(action, FileInput) or action.disabled:
            continue
        if isinstance(action, Button) and action.does not in ("press", "submit"):
            continue
        actions.append(Numbered(len(actions) + 1, action, _label(action)))
    return actions


def action_line(card: Card, code: str) -> str:
    """`Answer with !1 (Approve), !2 (Deny) ...`; empty where there is nothing to answer."""
    actions = numbered(card)
    if not actions:
        return ""
    listed = ", ".join(f"!{action.number} ({_with_label(action)})" for action in actions)
    many = f", or !{actions[0].number} {code} ... for this card" if code else ""
    return f"Answer with {listed}{many}"


def _with_label(entry: Numbered) -> str:
    return entry.label if isinstance(entry.action, Button) else f"{entry.label}: your words"


def _label(action: Button | Input) -> str:
    label = plain_inlines(action.label)
    if isinstance(action, Button):
        label = label or action.hint
    else:
        label = label or action.placeholder or plain_inlines(action.hint)
    words = " ".join((label or action.id or "no name").split())
    return words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 1]}…"


# --- answers ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Press:
    """An answer to a card; `code` names the card, empty if the answer names none."""

    number: int
    code: str = ""
    words: str = ""


def read_press(text: str, codes: Sequence[str]) -> Press | None:
    """`!1`, `!1 abc`, `!2 some words`, `!2 abc some words`. Three letters are a code only if a card
    in this place has it; None for everything else that people say."""
    press = _PRESS.fullmatch(text.strip())
    if press is None or int(press[1]) == 0:
        return None
    words = (press[2] or "").strip()
    coded = _WITH_CODE.fullmatch(words)
    if coded is not None and coded[1] in codes:
        return Press(int(press[1]), coded[1], (coded[2] or "").strip())
    return Press(int(press[1]), "", words)


def token_and_values(
    card: Card, press: Press, token_of: Callable[[str], str]
) -> tuple[str, dict[str, JsonValue]] | None:
    """The token of the action that is meant, and what was filled in, by tokens. None: the card has
    no such number."""
    actions = numbered(card)
    if not 0 < press.number <= len(actions):
        return None
    action = actions[press.number - 1].action
    token = token_of(action.at)
    if not isinstance(action, Button):
        return token, {token: _value(action, press.words)}
    return token, dict(_values_beside(actions, press.words, token_of))


def _values_beside(
    actions: Sequence[Numbered], words: str, token_of: Callable[[str], str]
) -> Iterator[tuple[str, JsonValue]]:
    """Values beside a button: `2: some words; 3: others`, or bare words for the only input."""
    inputs = [entry for entry in actions if not isinstance(entry.action, Button)]
    pairs = [_VALUE.fullmatch(entry) for entry in words.split(";")] if words else []
    if pairs and all(pairs):
        by_number = {entry.number: entry.action for entry in inputs}
        for pair in pairs:
            action = by_number.get(int(pair[1])) if pair else None
            if pair and action is not None and not isinstance(action, Button):
                yield token_of(action.at), _value(action, pair[2])
    elif words and len(inputs) == 1 and not isinstance(only := inputs[0].action, Button):
        yield token_of(only.at), _value(only, words)


def _value(field: Input, words: str) -> JsonValue:
    """Options by their label, value or place in the list; everything else as it was typed."""
    if not isinstance(field, Choice):
        return words
    chosen = [
        _option(field, word.strip()) for word in (words.split(",") if field.many else [words])
    ]
    return [*chosen] if field.many else chosen[0]


def _option(field: Choice, word: str) -> str:
    for option in field.options:
        if word.casefold() in (plain_inlines(option.label).casefold(), option.value.casefold()):
            return option.value
    if word.isdecimal() and 0 < int(word) <= len(field.options):
        return field.options[int(word) - 1].value
    return word

"""Discord interactions -> the pressed action and its values; and the bridge's answers. Pure.

Source: Discord docs, "Receiving and Responding", "Component Reference" (2026-08). A message has
no text inputs: the button that submits them opens a modal. Discord has no confirmation dialogs: a
private answer asks, and its button repeats the press.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import JsonValue

from bridge.content.cards.interactions import find_action
from bridge.content.cards.tree import Card, Choice, Confirm
from bridge.content.cards.walk import actions_of
from bridge.content.text.inlines import plain_inlines
from connectors.discord.cards import chosen_values, form_behind, token_of
from connectors.discord.cards.schemas import BUTTON
from connectors.discord.feedback import sense_of
from connectors.discord.form_pages import (
    Step,
    after_page,
    carried_values,
    filled_in,
    form_pages,
    step_of,
)

Json = dict[str, Any]
COMMAND, PRESS, SUBMISSION = 2, 3, 5  # types of interactions
MESSAGE, THINKING, LATER, UPDATE, FORM = 4, 5, 6, 7, 9  # types of answers
_PRIVATE = 1 << 6
NO_ROOM: Json = {
    "type": MESSAGE,
    "data": {"content": "This channel is in no room of this bridge.", "flags": _PRIVATE},
}
_THANKS = "Thank you: your feedback was noted."
_CONFIRMED = "#ok:"
_OWN_VALUES = "own_values"  # our key beside Discord's `data`


def press_target(data: Json) -> tuple[str, str, bool]:
    """Return the pressed action's token, the id of its message, and whether it is confirmed.

    The token is empty while a form of several pages is not complete: nothing is done yet.
    """
    custom_id = _custom_id(data)
    message = str(_object(data.get("message")).get("id") or "")
    if step := step_of(custom_id):
        done = step.is_last and data.get("type") == SUBMISSION
        return step.token if done else "", step.target, False
    token, sure, target = custom_id.partition(_CONFIRMED)
    return token_of(token), target if sure else message, bool(sure)


def values_in(data: Json) -> dict[str, JsonValue]:
    """Return the chosen or entered values by input token."""
    inner = _object(data.get("data"))
    if isinstance(values := inner.get("values"), list):
        chosen: JsonValue = [str(value) for value in values]
        return {token_of(str(inner.get("custom_id"))): chosen, **_object(data.get(_OWN_VALUES))}
    own = _object(data.get(_OWN_VALUES))
    return {**carried_values(data), **filled_in(data), **own}


def with_own_values(card: Card, token_of_path: Callable[[str], str], data: Json) -> Json:
    """Return the data with the author's values of the chosen options under `own_values`.

    Discord's option values are short and unique, so `write` may have replaced the author's.
    """
    values_by_token = values_in(data)
    own: Json = {}
    for node in actions_of(card):
        token = token_of_path(node.at)
        if not isinstance(node, Choice) or not node.options or token not in values_by_token:
            continue
        chosen = values_by_token[token]
        several = [str(value) for value in chosen] if isinstance(chosen, list) else [str(chosen)]
        values = list(chosen_values(node, several))
        if values != several:
            own[token] = values if isinstance(chosen, list) else values[0]
    return {**data, _OWN_VALUES: own} if own else data


def first_answer(card: Card, token_of_path: Callable[[str], str], data: Json) -> Json | None:
    """Return the answer that must precede the press: a form, its next page, or a confirmation.

    None if the press counts at once.
    """
    step = step_of(_custom_id(data))
    token, target, sure = press_target(data)
    action = find_action(card, token_of_path, step.token if step else token)
    if action is None or data.get("type") not in (PRESS, SUBMISSION):
        return None
    if step is not None or data.get("type") == PRESS:
        form = form_behind(card, action)
        if form is not None:
            name = step.token if step else token
            pages = form_pages(form.nodes, form.title or "Form", name, target, token_of_path)
            return _form(pages, step, data)
    if data.get("type") == PRESS and action.confirm is not None and not sure:
        return {"type": MESSAGE, "data": _question(action.confirm, token, target)}
    return None


def last_answer(data: Json) -> Json:
    """Return the acknowledgement of an interaction that counts.

    A press clears the private question that preceded it; a command shows "thinking" to its user.
    """
    if data.get("type") == COMMAND:
        return {"type": THINKING, "data": {"flags": _PRIVATE}}
    if sense_of(data):
        return {"type": MESSAGE, "data": {"content": _THANKS, "flags": _PRIVATE}}
    custom_id = _custom_id(data)
    asked_in_private = step_of(custom_id) is not None or _CONFIRMED in custom_id
    if not asked_in_private or not press_target(data)[0]:
        return {"type": LATER}
    return {"type": UPDATE, "data": {"content": "✓", "embeds": [], "components": []}}


def user_of(data: Json) -> str:
    """Return the id of the interaction's user: in a server under `member`, else under `user`."""
    user = _object(data.get("member")).get("user") or data.get("user")
    return str(_object(user).get("id") or "")


# --- forms ----------------------------------------------------------------------------------


def _form(pages: list[Json], step: Step | None, data: Json) -> Json | None:
    """Return the page that a press opens; for a submitted page, the message before the next."""
    if data.get("type") == PRESS:
        number = step.page if step else 1
        return {"type": FORM, "data": pages[min(number, len(pages)) - 1]}
    if step is None or step.is_last:
        return None
    page_message = after_page(step, data, pages)
    if step.page > 1:
        return {"type": UPDATE, "data": page_message}
    return {
        "type": MESSAGE,
        "data": {**page_message, "flags": _PRIVATE, "allowed_mentions": {"parse": []}},
    }


def _question(confirm: Confirm, token: str, target: str) -> Json:
    lines = [confirm.title, plain_inlines(confirm.text)]
    style = 4 if confirm.danger else 1
    button = {
        "type": BUTTON, "style": style, "label": (confirm.ok or "OK")[:80],
        "custom_id": f"{token}{_CONFIRMED}{target}",
    }  # fmt: skip
    return {
        "content": "\n".join(line for line in lines if line.strip())[:2000] or "?",
        "flags": _PRIVATE,
        "allowed_mentions": {"parse": []},
        "components": [{"type": 1, "components": [button]}],
    }


def _custom_id(data: Json) -> str:
    return str(_object(data.get("data")).get("custom_id") or "")


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}

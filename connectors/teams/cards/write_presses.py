"""Press actions and confirmations: titles and tokens -> actions.

A bot receives a press as an invoke (Action.Execute) or, from older clients, as a message (its
fallback, Action.Submit); both have `{"token": ...}` and the inputs by their tokens. An option of an
overflow menu is `{"token": ..., "value": ...}`.
"""

from __future__ import annotations

from bridge.content.cards.tree import Confirm
from connectors.teams.cards.write_runs import escape
from connectors.teams.cards.write_state import Element, Writing
from connectors.teams.cards.write_text import line_element, text_block

VERB = "press"
PRIMARY = 6  # visible buttons of a row; the others are in the overflow menu
_YES, _NO = "OK", "Cancel"


def press_action(
    writing: Writing, look: Element, data: Element, *, submits: bool = False
) -> Element:
    """Return an action that sends `data`; with `submits` also all inputs of the card."""
    writing.submits += submits
    action: Element = {
        "type": "Action.Execute",
        **look,
        "verb": VERB,
        "data": data,
        "fallback": {"type": "Action.Submit", **look, "data": data},
    }
    (writing.sends if submits else writing.presses).append(action)
    return action


def settle_inputs(writing: Writing) -> None:
    """Set which presses send the inputs, after all elements are written.

    A press sends no inputs unless no other button would send them. Actions with inputs list those
    with several values, which clients join with commas.
    """
    if not writing.inputs:
        return
    alone = writing.submits or not writing.waiting_inputs
    for action in writing.presses:
        set_both(action, "associatedInputs", "none" if alone else "auto")
    lists = {"many": writing.many, "typed": writing.typed}
    if several := {name: tokens for name, tokens in lists.items() if tokens}:
        for action in writing.sends if alone else [*writing.sends, *writing.presses]:
            action["data"] |= several


def set_both(action: Element, name: str, value: object) -> None:
    """Set a member of an action and of its fallback."""
    action[name] = value
    if isinstance(fallback := action.get("fallback"), dict):
        fallback[name] = value


def action_set(actions: list[Element]) -> Element:
    """Return a row of actions; actions after the sixth button become secondary."""
    if len(actions) > PRIMARY:
        primary = 0
        for action in actions:
            primary += action.get("mode") != "secondary"
            if primary > PRIMARY:
                set_both(action, "mode", "secondary")
    return {"type": "ActionSet", "actions": actions}


def opening(body: list[Element], look: Element) -> Element:
    """Return an action that opens an inner card.

    It is never secondary, because Teams does not open inner cards from the overflow menu
    (AdaptiveCards #8652, 2023-08).
    """
    look = {name: value for name, value in look.items() if name != "mode"}
    return {"type": "Action.ShowCard", **look, "card": {"type": "AdaptiveCard", "body": body}}


def fold(writing: Writing, items: list[Element]) -> tuple[Element, Element]:
    """Return the action that shows and hides a part, and the hidden part."""
    writing.toggles += 1
    name = writing.own_id("part")
    part: Element = {"type": "Container", "id": name, "isVisible": False, "items": items}
    return {"type": "Action.ToggleVisibility", "targetElements": [name]}, part


def with_confirmation(
    writing: Writing, confirm: Confirm, look: Element, action: Element, below: list[Element],
    at: str = "",
) -> tuple[Element, list[Element]]:  # fmt: skip
    """Return the action behind a confirmation, and elements below its row.

    The confirmation is an inner card if cards may open, otherwise a hidden part below the row.
    """
    sure = {**action, "title": writing.short(confirm.ok.strip(), at, "title_cut") or _YES}
    if "fallback" in action:
        sure["fallback"] = {**action["fallback"], "title": sure["title"]}
        _style(sure["fallback"], danger=confirm.danger)
    _style(sure, danger=confirm.danger)
    if writing.presses and writing.presses[-1] is action:
        writing.presses[-1] = sure
    question = _question(writing, confirm, at)
    no = writing.short(confirm.cancel.strip(), at, "title_cut") or _NO
    if not writing.shows:
        row: list[Element] = [sure]
        opens, part = fold(writing, [*question, action_set(row), *below])
        row.append({**opens, "title": no})
        return {**opens, **look}, [part]
    return opening(_question_card(writing, question, sure, no, below), look), []


def _style(action: Element, *, danger: bool) -> None:
    for name in ("tooltip", "iconUrl", "mode", "isEnabled"):
        action.pop(name, None)
    if danger:
        action["style"] = "destructive"


def _question_card(
    writing: Writing, question: list[Element], sure: Element, no: str, below: list[Element]
) -> list[Element]:
    """Return the body of a confirmation card.

    The No button replaces the question by a small button that restores it, because no action closes
    an open card.
    """
    writing.toggles += 1
    question_id, again = writing.own_id("question"), writing.own_id("again")
    turn: Element = {"type": "Action.ToggleVisibility", "targetElements": [question_id, again]}
    row = action_set([sure, {**turn, "title": no}])
    return [
        {"type": "Container", "id": question_id, "items": [*question, row, *below]},
        {
            "type": "ActionSet",
            "id": again,
            "isVisible": False,
            "actions": [{**turn, "title": "↩"}],
        },
    ]


def _question(writing: Writing, confirm: Confirm, at: str) -> list[Element]:
    elements: list[Element] = []
    if confirm.title.strip():
        title = escape(" ".join(confirm.title.split()), starts=True)
        elements.append(text_block(title, {"weight": "bolder"}))
    if (text := line_element(confirm.text, writing, None, at)) is not None:
        elements.append(text)
    return elements

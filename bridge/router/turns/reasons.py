"""Why an agent answered as it did, from what the store knows: who asked and why this agent was
chosen, what it was shown and what was hidden, which tools it called and who allowed them, which
sources it names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.content.messages.agent_parts import cited_by
from bridge.content.messages.tool_names import HIDDEN_TOOLS, readable_tool
from bridge.model import ActorId, MessageId, TurnId, split_key
from bridge.model.turn_records import StoredTurn
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.uacs import ToolCallPart

_MOST_SOURCES = 10


class _ReasonsStore(ApprovalStore, MessageStore, TurnStore, Protocol):
    """What `reasons_of` needs of the store."""


@dataclass(frozen=True)
class Reasons:
    """Why an agent answered as it did.

    - `asker`: the name of who asked; "" where the question is gone.
    - `chosen`: why this agent.
    - `ended`: how the turn ended, where it did not end well.
    - `model`: the model's name; `messages`: how many it was shown; `hidden`: in how many of them
      the policies hid something; `changed`: whether they changed its answer.
    - `tools`: the tools that it called, each with who allowed or refused the call.
    - `sources`: title and address of each source that the answer names.
    """

    agent: str
    asker: str
    chosen: str
    answered: bool
    ended: str = ""
    model: str = ""
    messages: int | None = None
    hidden: int = 0
    changed: bool = False
    tools: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()


def turn_of_answer(message: MessageId) -> TurnId | None:
    """Return the turn in which an agent, or somebody below it, said this; None for others."""
    match split_key(message):
        case ["agent", _, turn]:
            return TurnId(turn.partition("/")[0])
        case _:
            return None


async def reasons_of(
    store: _ReasonsStore, turn: StoredTurn, name_of: Callable[[ActorId], Awaitable[str]]
) -> Reasons:
    """Return the reasons of a turn. Raises StoreError."""
    question = await store.message(turn.origin or turn.trigger)
    answer = await store.message(turn.answer or turn.answer_id)
    if answer is not None and answer.state == "deleted":
        answer = None
    record: Mapping[str, object] = {}
    tools: list[tuple[str, str]] = []
    sources: dict[tuple[str, str], None] = {}
    if answer is not None:
        found = (answer.message.metadata or {}).get("record")
        record = found if isinstance(found, dict) else {}
        decided = await _decisions(store, turn, name_of)
        for part in answer.message.content:
            if isinstance(part, ToolCallPart) and part.name not in HIDDEN_TOOLS:
                tools.append((readable_tool(part.name), decided.get(part.name, "")))
            for title, url, _ in cited_by(part) or ():
                sources[title, url] = None
    policies = record.get("policies")
    policed: Mapping[str, object] = policies if isinstance(policies, dict) else {}
    return Reasons(
        agent=turn.agent,
        asker=await name_of(question.author.id) if question is not None else "",
        chosen=turn.reason,
        answered=answer is not None,
        ended="" if turn.state == "done" and not turn.error else turn.error or turn.state,
        model=_text(record.get("model")),
        messages=_number(record.get("messages")),
        hidden=_number(policed.get("changed_messages")) or 0,
        changed=policed.get("changed_answer") is True,
        tools=tuple(tools),
        sources=tuple(sources)[:_MOST_SOURCES],
    )


async def _decisions(
    store: ApprovalStore, turn: StoredTurn, name_of: Callable[[ActorId], Awaitable[str]]
) -> Mapping[str, str]:
    """Who decided about the calls of each tool."""
    decisions: dict[str, str] = {}
    for approval in reversed(await store.approvals(turn=turn.id)):
        names = [await name_of(one.actor) for one in approval.decisions]
        by = f" by {' and '.join(names)}" if names else ""
        decisions[approval.tool] = f"{approval.state}{by}"
    return decisions


def lines_of(reasons: Reasons) -> Sequence[str]:
    """Return the reasons in plain words, a line each."""
    who = f" {reasons.asker} asked." if reasons.asker else ""
    because = f" because {reasons.chosen}" if reasons.chosen else ""
    verb = "answered" if reasons.answered else "was asked"
    lines = [f"@{reasons.agent} {verb}{because}.{who}"]
    if reasons.ended and not reasons.answered:
        lines.append(f"It gave no answer: {reasons.ended}")
    if reasons.messages is not None:
        by = f" with the model {reasons.model}" if reasons.model else ""
        lines.append(f"It read {_count(reasons.messages, 'message')} of this room{by}.")
    if reasons.hidden:
        lines.append(f"Something was hidden from it in {_count(reasons.hidden, 'message')}.")
    if reasons.changed:
        lines.append("A policy changed its answer.")
    for name, decided in reasons.tools:
        lines.append(f"It called {name}{f' ({decided})' if decided else ''}.")
    for title, url in reasons.sources:
        lines.append(f"Source: {title or url}{f' {url}' if title and url else ''}")
    if reasons.answered and not reasons.sources:
        lines.append("Its answer names no source.")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

"""Events, operations and turns -> spans. Pure: no network, no clock.

The spans of a message can be made on their own, before and after a restart: their ids come from the
ids of messages, operations and turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bridge.model.admission import Admission
from bridge.model.inbox_records import InboxRow
from bridge.model.outbox_records import OutboxItem, Settlement
from bridge.model.turn_records import StoredTurn
from bridge.model.turns import AgentEvent, ToolAnswered, ToolCalled
from bridge.ports.traces import Span
from bridge.uacs import Message

_OPERATION, _PROVIDER, _SYSTEM = "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.system"
# The names of agent APIs in the semantic conventions for generative AI (2026-11); others stay.
_PROVIDERS = {"openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini"}


def event_span(
    row: InboxRow, platform: str, admission: Admission, outcome: str, began: float, ended: float
) -> Span:
    """The span of an event: the root of a new message's trace, or a step in the trace of the
    message that it changes. An event without a message has a trace of its own."""
    attributes: dict[str, str | int] = {
        "bridge.platform": platform,
        "bridge.account": row.raw.account,
        "bridge.event.kind": row.raw.kind,
        "bridge.event.row": row.id,
        "bridge.outcome": outcome.split(":")[0],
    }
    trace, key = f"event:{row.raw.account}:{row.id}", ""
    if outcome != "repeat" and admission.message is not None:
        trace = admission.message.message.message_id
    elif admission.changes:
        trace, key = admission.changes[0].message.message_id, f"event:{row.id}"
    return Span(trace, "event received", "received", began, ended, key, attributes=attributes)


def failed_event_span(
    row: InboxRow, platform: str, error: Exception, began: float, ended: float
) -> Span:
    """The span of an event that no stage could work on."""
    attributes: dict[str, str | int] = {
        "bridge.platform": platform,
        "bridge.account": row.raw.account,
        "bridge.event.kind": row.raw.kind,
        "bridge.event.row": row.id,
        "bridge.outcome": "failed",
    }
    return Span(
        f"event:{row.raw.account}:{row.id}", "event received", "received", began, ended,
        attributes=attributes, error=type(error).__name__,
    )  # fmt: skip


def operation_span(
    item: OutboxItem, settlement: Settlement, error: Exception | None, ended: float
) -> Span:
    """The span of an operation, from its row in the outbox to its end."""
    operation = item.delivery.operation
    attempts = item.attempts + (1 if item.state == "waiting" else 0)
    attributes: dict[str, str | int] = {
        "bridge.operation": operation.type,
        "bridge.account": operation.account,
        "bridge.channel": operation.channel.key,
        "bridge.attempts": attempts,
        "bridge.state": settlement.state,
    }
    kind = "" if error is None else type(error).__name__
    if not kind and settlement.state in ("dead", "unproved"):
        kind = settlement.state
    return Span(
        operation.message, f"send {operation.type}", "sent", item.created, ended,
        f"operation:{operation.id}:{item.attempts}", attributes=attributes, error=kind,
    )  # fmt: skip


def turn_spans(
    turn: StoredTurn, answer: Message | None, *, failed: bool, began: float, ended: float
) -> list[Span]:
    """The span of a turn in the trace of its question, and the root of its answer's trace; each
    links to the other."""
    attributes: dict[str, str | int] = {
        _OPERATION: "invoke_agent",
        "gen_ai.agent.name": turn.agent,
        "bridge.attempts": turn.attempts + 1,
    }
    if answer is not None:
        attributes |= _model_attributes(cast("Mapping[str, Any]", answer.metadata or {}))
    error = "turn_failed" if failed else ""
    links = () if answer is None else (turn.answer_id,)
    name = f"invoke_agent {turn.agent}"
    spans = [
        Span(
            turn.trigger, name, "asked", began, ended, turn_key(turn), attributes=attributes,
            error=error, links=links,
        ),
    ]  # fmt: skip
    if answer is not None:
        own: dict[str, str | int] = {"gen_ai.agent.name": turn.agent}
        spans.append(
            Span(
                turn.answer_id, "answer written", "received", began, ended, attributes=own,
                error=error, links=(turn.trigger,),
            )
        )  # fmt: skip
    return spans


def turn_key(turn: StoredTurn) -> str:
    """The key of a turn's span; each run of the turn has its own."""
    return f"turn:{turn.id}:{turn.attempts}"


def _model_attributes(metadata: Mapping[str, Any]) -> dict[str, str | int]:
    record, usage = metadata.get("record"), metadata.get("usage")
    attributes: dict[str, str | int] = {}
    if isinstance(record, Mapping):
        api, model = record.get("api"), record.get("model")
        if isinstance(api, str):
            attributes |= {_PROVIDER: _PROVIDERS.get(api, api), _SYSTEM: _PROVIDERS.get(api, api)}
        if isinstance(model, str):
            attributes["gen_ai.request.model"] = model
    if isinstance(usage, Mapping):
        for key in ("input_tokens", "output_tokens"):
            if isinstance(count := usage.get(key), int):
                attributes[f"gen_ai.usage.{key}"] = count
    return attributes


class ToolSpans:
    """The tool calls of one turn, by the events of its agent."""

    def __init__(self, turn: StoredTurn) -> None:
        self._turn = turn
        self._open: dict[str, tuple[str, float]] = {}

    def take(self, event: AgentEvent, now: float) -> Span | None:
        """Return the span of the call that the event ends; None for other events."""
        if isinstance(event, ToolCalled):
            self._open.setdefault(event.part.id, (event.part.name, now))
        if not isinstance(event, ToolAnswered) or event.part.tool_call_id not in self._open:
            return None
        name, began = self._open.pop(event.part.tool_call_id)
        parent = turn_key(self._turn)
        attributes: dict[str, str | int] = {_OPERATION: "execute_tool", "gen_ai.tool.name": name}
        return Span(
            self._turn.trigger, f"execute_tool {name}", "inside", began, now,
            f"{parent}:{event.part.tool_call_id}", parent, attributes,
            "tool_failed" if event.part.is_error else "",
        )  # fmt: skip

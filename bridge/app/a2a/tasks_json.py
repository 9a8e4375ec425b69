"""Tasks as A2A writes them, and what has changed between two looks at one. Pure JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from bridge.agents.a2a.write import message_parts
from bridge.agents.codec.json_values import Json
from bridge.app.tasks.growth import grown
from bridge.app.tasks.tasks import Answer, Task
from bridge.uacs import ContentPart, Message

_STATES = {
    "working": "TASK_STATE_WORKING",
    "waiting": "TASK_STATE_INPUT_REQUIRED",
    "done": "TASK_STATE_COMPLETED",
    "failed": "TASK_STATE_FAILED",
    "cancelled": "TASK_STATE_CANCELED",
}


def state_of(task: Task) -> str:
    """Return the state of a task as the protocol names it."""
    return _STATES[task.state]


def task_json(task: Task, history: int | None = None) -> Json:
    """Return a task. `history`: so many of its newest messages, None for all."""
    said = [_said(one, "ROLE_USER", task) for one in task.questions]
    said += [_said(one.message, "ROLE_AGENT", task) for one in task.answers if not one.growing]
    kept = said if history is None else said[len(said) - min(history, len(said)) :]
    artifacts = [_artifact(one, message_parts(one.message)) for one in task.answers]
    return {
        "id": task.record.id,
        "contextId": task.record.context,
        "status": _status(task),
        **({"artifacts": list[JsonValue](artifacts)} if artifacts else {}),
        **({"history": list[JsonValue](kept)} if kept else {}),
    }


def updates(before: Task, after: Task) -> Iterator[Json]:
    """Yield the events (StreamResponse) that bring a reader of `before` to `after`."""
    known = {one.message.message_id: one for one in before.answers}
    ids: Json = {"taskId": after.record.id, "contextId": after.record.context}
    for answer in after.answers:
        former = known.get(answer.message.message_id)
        if former is not None and former == answer:
            continue
        rest = grown(former.message.content, answer.message.content) if former else None
        appended = rest is not None and former is not None
        content = answer.message.content if rest is None else tuple(rest)
        parts = _parts_of(answer.message, content)
        if not parts and answer.growing:
            continue
        update: Json = {**ids, "artifact": _artifact(answer, parts)}
        if appended:
            update["append"] = True
        if not answer.growing:
            update["lastChunk"] = True
        yield {"artifactUpdate": update}
    if (before.state, before.asks) != (after.state, after.asks) or after.is_over:
        yield {"statusUpdate": {**ids, "status": _status(after)}}


def _status(task: Task) -> Json:
    words = task.request or task.failure
    said: Json = {}
    if words:
        own_id = f"{task.record.id}/{task.state}"
        said["message"] = {
            "messageId": own_id, "role": "ROLE_AGENT", "parts": [{"text": words}],
            "taskId": task.record.id, "contextId": task.record.context,
        }  # fmt: skip
    return {"state": state_of(task), "timestamp": task.newest, **said}


def _parts_of(message: Message, content: Sequence[ContentPart]) -> list[Json]:
    return message_parts(message.model_copy(update={"content": tuple(content)})) if content else []


def _artifact(answer: Answer, parts: list[Json]) -> Json:
    return {
        "artifactId": answer.message.message_id,
        "name": answer.agent,
        "parts": list[JsonValue](parts),
    }


def _said(message: Message, role: str, task: Task) -> Json:
    return {
        "messageId": message.message_id,
        "role": role,
        "parts": list[JsonValue](message_parts(message)),
        "taskId": task.record.id,
        "contextId": task.record.context,
    }

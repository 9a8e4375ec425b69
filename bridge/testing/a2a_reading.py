"""A2A 1.0 -> UACS: reads whole requests and responses, so that tests can compare both sides.

The product itself reads responses as they stream. Pure functions.
"""

from __future__ import annotations

from pydantic import JsonValue

from bridge.agents.a2a.read import part_parts
from bridge.agents.a2a.write import API
from bridge.agents.codec.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.codec.messages import ReadMessage, conversation_of, iso_seconds, response_message
from bridge.agents.codec.native_parts import state
from bridge.errors import CodecError
from bridge.uacs import ContentPart, Conversation, Message


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Read the params of `SendMessage`.

    Raises:
        CodecError: the JSON has no message.
    """
    body = obj(request)
    if not isinstance(body.get("message"), dict):
        raise CodecError("/message", "is missing; this is no message of this protocol")
    message = obj(body["message"])
    rest: Json = patch_of({"role": "ROLE_USER"}, without(message, "parts"))
    extras: Json = without(body, "message")
    if rest:
        extras["message"] = rest
    return conversation_of([ReadMessage("user", _parts(message))], agent, API, extras, (), ())


def read_response(response: JsonValue, agent: str) -> Message:
    """Read the result of `SendMessage`: `{"task": ...}` or `{"message": ...}`.

    Raises:
        CodecError: the JSON has neither a task nor a message.
    """
    body = obj(response)
    if isinstance(body.get("message"), dict):
        message = obj(body["message"])
        parts = message_parts(message)
        rest: Json = {"message": {}}
        own_id = text(message.get("messageId"))
    elif isinstance(body.get("task"), dict):
        task = obj(body["task"])
        parts = task_parts(task)
        status = without(obj(task.get("status")), "message")
        left = without(task, "artifacts", "status")
        rest = {"task": {**left, **({"status": status} if "status" in task else {})}}
        own_id = text(task.get("id"))
    else:
        raise CodecError("", "is neither a task nor a message of this protocol")
    created = iso_seconds(obj(obj(body.get("task")).get("status")).get("timestamp"))
    return response_message(parts, agent, API, rest, answer_id=own_id, created=created)


def task_parts(task: Json) -> list[ContentPart]:
    """Return the parts of a task: its artifacts, then its status message."""
    parts = [
        part for artifact in arr(task.get("artifacts")) for part in artifact_parts(obj(artifact))
    ]
    message = obj(task.get("status")).get("message")
    return [*parts, *message_parts(message)] if isinstance(message, dict) else parts


def artifact_parts(artifact: Json) -> list[ContentPart]:
    """Return the parts of an artifact, then one state part with its other fields."""
    return [*_parts(artifact), state(API, message={"artifact": without(artifact, "parts")})]


def message_parts(message: Json) -> list[ContentPart]:
    """Return the parts of an agent's message, then one state part with its other fields."""
    rest = patch_of({"role": "ROLE_AGENT"}, without(message, "parts"))
    return [*_parts(message), state(API, message={"said": rest})]


def _parts(owner: Json) -> list[ContentPart]:
    return [part for item in arr(owner.get("parts")) for part in part_parts(item)]

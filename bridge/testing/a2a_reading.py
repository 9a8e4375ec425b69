"""A2A 1.0 -> UACS: whole requests and answers, read as the agent's server and its client see them.

The product reads answers as they stream; tests read them whole, to hold what was sent and received
against each other. Pure. Raises CodecError where the JSON is neither.
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
    """The params of `SendMessage`."""
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
    """What `SendMessage` gave: `{"task": ...}` or `{"message": ...}`."""
    body = obj(response)
    if isinstance(body.get("message"), dict):
        message = obj(body["message"])
        parts = said_parts(message)
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
    """Its artifacts, then what its status says."""
    parts = [
        part for artifact in arr(task.get("artifacts")) for part in artifact_parts(obj(artifact))
    ]
    message = obj(task.get("status")).get("message")
    return [*parts, *said_parts(message)] if isinstance(message, dict) else parts


def artifact_parts(artifact: Json) -> list[ContentPart]:
    """The last part is what it has beside its parts, and its end."""
    return [*_parts(artifact), state(API, message={"artifact": without(artifact, "parts")})]


def said_parts(message: Json) -> list[ContentPart]:
    rest = patch_of({"role": "ROLE_AGENT"}, without(message, "parts"))
    return [*_parts(message), state(API, message={"said": rest})]


def _parts(owner: Json) -> list[ContentPart]:
    return [part for item in arr(owner.get("parts")) for part in part_parts(item)]

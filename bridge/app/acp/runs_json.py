"""Tasks as ACP writes them: runs, their messages and events. Pure JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from bridge.agents.acp.write import message_parts
from bridge.agents.codec.json_values import Json
from bridge.app.agent_directory.home import Home
from bridge.app.api.gateway import RoomView
from bridge.app.settings.manifest import ManifestSettings
from bridge.app.tasks.growth import grown
from bridge.app.tasks.tasks import Answer, Task
from bridge.model.times import datetime_of
from bridge.uacs import ContentPart, Message, to_timestamp

_STATES = {
    "working": "in-progress",
    "waiting": "awaiting",
    "done": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}
_NO_ROLE = re.compile(r"[^a-zA-Z0-9_-]+")


def agent_json(home: Home, room: RoomView, agent: str) -> Json:
    """Return the manifest of an agent of a room, or of the room as a whole ("")."""
    own = home.agents.get(agent, ManifestSettings())
    about = own.synopsis or (f"The agent {agent}" if agent else "A room of people and agents")
    metadata: Json = {"framework": "uacs-bridge"}
    if own.languages:
        metadata["natural_languages"] = list(own.languages)
    if own.keyphrases:
        metadata["tags"] = list(own.keyphrases)
    if own.descriptions:
        metadata["capabilities"] = [
            {"name": agent, "description": description} for description in own.descriptions
        ]
    return {
        "name": agent or room.id,
        "description": about,
        "metadata": metadata,
        "input_content_types": ["*/*"],
        "output_content_types": ["*/*"],
    }


def run_json(task: Task) -> Json:
    """Return a run."""
    record = task.record
    run: Json = {
        "run_id": record.id,
        "agent_name": record.agent or record.room,
        "session_id": record.context,
        "status": _STATES[task.state],
        "await_request": None,
        "output": [_message(one, one.message.content) for one in task.answers],
        "error": {"code": "server_error", "message": task.failure} if task.failure else None,
        "created_at": to_timestamp(datetime_of(record.asked)),
        "finished_at": task.newest if task.is_over else None,
    }
    if task.asks:
        asked: Json = {"role": "agent", "parts": [{"content": task.request}]}
        run["await_request"] = {"type": "message", "message": asked}
    return run


class RunEvents:
    """The events of a run, in order: what each look at the task adds to those before. Messages
    follow one another; a second agent that speaks meanwhile waits for the first one's end."""

    def __init__(self) -> None:
        self._state = ""
        self._ended = 0  # answers that were told to their end
        self._told: Sequence[ContentPart] = ()  # of the answer after them

    def take(self, task: Task) -> Iterator[Json]:
        """Yield what is new."""
        if not self._state:
            yield {"type": "run.created", "run": {**run_json(task), "status": "created"}}
            yield {"type": "run.in-progress", "run": {**run_json(task), "status": "in-progress"}}
            self._state = "working"
        for answer in task.answers[self._ended :]:
            yield from self._of_answer(answer)
            if answer.growing and not task.is_over:
                break
            self._ended, self._told = self._ended + 1, ()
            yield {"type": "message.completed", "message": _message(answer, answer.message.content)}
        if task.state != self._state:
            self._state = task.state
            yield {"type": f"run.{_STATES[task.state]}", "run": run_json(task)}

    def _of_answer(self, answer: Answer) -> Iterator[Json]:
        content = answer.message.content
        if not self._told:
            yield {"type": "message.created", "message": _message(answer, ())}
        new = grown(self._told, content)
        for part in _parts(answer.message, new or ()):
            yield {"type": "message.part", "part": part}
        self._told = content


def _message(answer: Answer, content: Sequence[ContentPart]) -> Json:
    at = answer.message.timestamp
    role = f"agent/{_NO_ROLE.sub('_', answer.agent)}"
    return {
        "role": role,
        "parts": list[JsonValue](_parts(answer.message, content)),
        "created_at": at,
        "completed_at": None if answer.growing else at,
    }


def _parts(message: Message, content: Sequence[ContentPart]) -> list[Json]:
    return message_parts(message.model_copy(update={"content": tuple(content)})) if content else []

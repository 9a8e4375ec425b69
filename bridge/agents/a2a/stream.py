"""Events of an A2A answer (StreamResponse as JSON) -> agent events, and the whole answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.a2a.read import part_parts
from bridge.agents.a2a.write import JSON
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, PartGiven, PlanStep, TextDelta
from bridge.uacs import ContentPart, TextPart, write

_AT_WORK = ("", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED")
_WAITS = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")


_PROGRESS = "progress"
_LONGEST_PROGRESS = 200  # characters


class Stream:
    """Events, in order. What is told again (a whole task behind its updates) is said once.

    What a task says while it is at work is its progress, and no part of the answer, but for files
    and cards. google-adk says its whole answer there first, in fragments too, and then gives it as
    an artifact. Where nothing else is said, the progress is the answer.
    """

    def __init__(self) -> None:
        self._task: Json = {}
        self._message: Json | None = None
        self._artifacts: dict[str, list[JsonValue]] = {}
        self._beside: dict[str, Json] = {}  # what artifacts have beside their parts
        self._heard: set[str] = set()  # ids of messages
        self._last = ""  # what spoke last: another thing begins a paragraph
        self._said = False
        self._spoken: dict[str, str] = {}  # speaker -> text
        self._progress: dict[str, str] = {}  # of status messages while it is at work
        self._shown: list[JsonValue] = []  # files and cards that were given as progress

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        match obj(event):
            case {"message": dict(message)}:
                self._message = message
                return self._say_message(message)
            case {"task": dict(task)}:
                return self._take_task(task)
            case {"statusUpdate": dict(update)}:
                self._know(update)
                event_id = text(obj(update.get("metadata")).get("adk_event_id"))
                return self._take_status(obj(update.get("status")), event_id)
            case {"artifactUpdate": dict(update)}:
                self._know(update)
                append = update.get("append") is True
                return self._take_artifact(obj(update.get("artifact")), append=append)
            case _:
                return ()

    def end(self) -> Sequence[AgentEvent]:
        if self.is_at_work:
            raise AgentError(ENDED_EARLY)
        if self._said or self.state == "TASK_STATE_FAILED":
            return ()
        said = "\n\n".join(filter(None, map(str.strip, self._progress.values())))
        return self._say(_PROGRESS, [{"text": said}], "") if said else ()

    @property
    def task_id(self) -> str:
        return text(self._task.get("id"))

    @property
    def context_id(self) -> str:
        own = self._message or {}
        return text(self._task.get("contextId")) or text(own.get("contextId"))

    @property
    def state(self) -> str:
        return text(obj(self._task.get("status")).get("state"))

    @property
    def is_at_work(self) -> bool:
        """Whether more is to come."""
        return self._message is None and self.state in _AT_WORK

    @property
    def waits(self) -> bool:
        """Whether the task waits for somebody: its next message goes to it."""
        return self._message is None and self.state in _WAITS

    @property
    def ending(self) -> Ending:
        refused = self.state == "TASK_STATE_REJECTED"
        return Ending("refused" if refused else "done", self.state)

    @property
    def response(self) -> Json:
        if self._message is not None:
            return {"message": self._message}
        artifacts: list[JsonValue] = [
            {**self._beside[key], "parts": list(parts)} for key, parts in self._artifacts.items()
        ]
        return {"task": {**self._task, **({"artifacts": artifacts} if artifacts else {})}}

    def _know(self, update: Json) -> None:
        for own, theirs in (("id", "taskId"), ("contextId", "contextId")):
            if text(update.get(theirs)):
                self._task[own] = update[theirs]

    def _take_task(self, task: Json) -> list[AgentEvent]:
        self._task = {**self._task, **without(task, "artifacts", "status")}
        events: list[AgentEvent] = []
        for artifact in arr(task.get("artifacts")):
            events += self._take_artifact(obj(artifact), append=False)
        return [*events, *self._take_status(obj(task.get("status")))]

    def _take_status(self, status: Json, event_id: str = "") -> list[AgentEvent]:
        """What a task says when it has failed may hold anything: it is for the log. Messages with
        one `event_id` are fragments of one text, and then the whole of it."""
        self._task["status"] = status
        message = status.get("message")
        if not isinstance(message, dict) or self.state == "TASK_STATE_FAILED":
            return []
        if self.is_at_work:
            return self._take_progress(message, event_id)
        return self._say_message(message)

    def _take_progress(self, message: Json, event_id: str) -> list[AgentEvent]:
        own_id = text(message.get("messageId")) or orjson.dumps(message).decode()
        if own_id in self._heard:
            return []
        self._heard.add(own_id)
        parts = arr(message.get("parts"))
        shown = [part for part in parts if _is_shown(part) and part not in self._shown]
        self._shown += shown
        events = self._say(own_id, shown, "")
        key = event_id or own_id
        before, new = self._progress.get(key, ""), _joined(parts)
        words = new if new.startswith(before) else before + new
        if not words.strip():
            return events
        self._progress[key] = words
        title = words.strip().splitlines()[-1][-_LONGEST_PROGRESS:]
        step = PlanStep(id=_PROGRESS, title=title, status="in_progress", transient=True)
        return [*events, step]

    def _say_message(self, message: Json) -> list[AgentEvent]:
        """What an artifact has said already is not said again."""
        own_id = text(message.get("messageId")) or orjson.dumps(message).decode()
        if own_id in self._heard:
            return []
        self._heard.add(own_id)
        parts = arr(message.get("parts"))
        if self._has_said(parts, "artifact "):
            return []
        return self._say(f"message {own_id}", parts, "")

    def _has_said(self, parts: Sequence[JsonValue], speaker: str) -> bool:
        """Whether one speaker of that kind, or all of them together, have said this text."""
        texts = [said for by, said in self._spoken.items() if by.startswith(speaker)]
        words = _joined(parts).split() if _is_text(parts) else []
        whole = [*texts, " ".join(texts)]
        return bool(words) and any(words == said.split() for said in whole)

    def _take_artifact(self, artifact: Json, *, append: bool) -> list[AgentEvent]:
        """An artifact that is told again in other words says what is new of it."""
        key = text(artifact.get("artifactId"))
        name = text(artifact.get("name"))
        parts = arr(artifact.get("parts"))
        known = self._artifacts.setdefault(key, [])
        self._beside[key] = {**self._beside.get(key, {}), **without(artifact, "parts")}
        if append or not known:
            repeats = not known and self._has_said(parts, "message ")
            known += parts
            return [] if repeats else self._say(f"artifact {key}", parts, name)
        if parts == known:
            return []
        before, after = _joined(known), _joined(parts)
        self._artifacts[key] = list(parts)
        if parts[: len(known)] == known:
            return self._say(f"artifact {key}", parts[len(known) :], name)
        if _is_text(known) and _is_text(parts) and after.startswith(before):
            rest: Json = {"text": after[len(before) :]}
            return self._say(f"artifact {key}", [rest] if rest["text"] else [], name)
        return self._say(f"artifact {key} again", parts, name)

    def _say(self, speaker: str, parts: Sequence[JsonValue], name: str) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for native in parts:
            if native in self._shown and speaker.startswith("artifact "):
                continue
            named = text(obj(native).get("filename")) or name
            events += [_event(part, named) for part in part_parts(native)]
        said = [event for event in events if event != TextDelta(text="")]
        if said and self._said and self._last != speaker and isinstance(said[0], TextDelta):
            said.insert(0, TextDelta(text="\n\n"))
        if said:
            self._said, self._last = True, speaker
            self._spoken[speaker] = self._spoken.get(speaker, "") + _joined(parts)
        return said


def _event(part: ContentPart, name: str) -> AgentEvent:
    if isinstance(part, TextPart):
        return TextDelta(text=part.text)
    is_file = part.type in ("image", "audio", "video", "file")
    return PartGiven(part=orjson.loads(write(part)), name=name[:200] if is_file else "")


def _is_shown(native: JsonValue) -> bool:
    """Whether people should see it although the task is at work: files, and data of a kind."""
    block = obj(native)
    kind = text(block.get("mediaType"))
    return "raw" in block or "url" in block or ("data" in block and kind not in ("", JSON))


def _is_text(parts: Sequence[JsonValue]) -> bool:
    return all("text" in obj(part) for part in parts)


def _joined(parts: Sequence[JsonValue]) -> str:
    return "".join(text(obj(part).get("text")) for part in parts)

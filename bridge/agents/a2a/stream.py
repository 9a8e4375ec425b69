"""Events of an A2A answer (StreamResponse as JSON) -> agent events, and the whole answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.a2a.read import part_parts
from bridge.agents.a2a.write import JSON
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.agents.turn.sub_actors import said_by
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, PartGiven, PlanStep, TextDelta
from bridge.uacs import ContentPart, TextPart, write

_AT_WORK = ("", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED")
_WAITS = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")


_PROGRESS = "progress"
_LONGEST_PROGRESS = 200  # characters


class Stream:
    """Reads events in order. Content that arrives twice (a whole task after its updates) is
    emitted once.

    Messages of a working task are its progress and not part of the answer, except files and cards.
    google-adk first sends its whole answer as such messages, also in fragments, and then as an
    artifact. If nothing else arrives, the progress is the answer."""

    def __init__(self) -> None:
        self._task: Json = {}
        self._message: Json | None = None
        self._artifacts: dict[str, list[JsonValue]] = {}
        self._artifact_fields: dict[str, Json] = {}  # members of artifacts beside their parts
        self._message_ids: set[str] = set()  # of messages that were said
        self._last_speaker = ""  # another speaker begins a paragraph
        self._has_text = False
        self._text_by_speaker: dict[str, str] = {}  # speaker -> text
        self._progress: dict[str, str] = {}  # texts of status messages of a working task
        self._shown_parts: list[JsonValue] = []  # files and cards that were said as progress
        self._by_others: dict[str, tuple[JsonValue, list[JsonValue]]] = {}  # actors below the agent

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        match obj(event):
            case {"message": dict(message)}:
                self._message = message
                return self._say_message(message)
            case {"task": dict(task)}:
                return self._take_task(task)
            case {"statusUpdate": dict(update)}:
                self._take_ids(update)
                event_id = text(obj(update.get("metadata")).get("adk_event_id"))
                return self._take_status(obj(update.get("status")), event_id)
            case {"artifactUpdate": dict(update)}:
                self._take_ids(update)
                append = update.get("append") is True
                return self._take_artifact(obj(update.get("artifact")), append=append)
            case _:
                return ()

    def end(self) -> Sequence[AgentEvent]:
        if self.is_at_work:
            raise AgentError(ENDED_EARLY)
        if self._has_text or self.state == "TASK_STATE_FAILED":
            return ()
        progress_text = "\n\n".join(filter(None, map(str.strip, self._progress.values())))
        return self._say(_PROGRESS, [{"text": progress_text}], "") if progress_text else ()

    @property
    def task_id(self) -> str:
        """The server's id of the task; empty before the first event."""
        return text(self._task.get("id"))

    @property
    def context_id(self) -> str:
        """The server's id of the context; empty before the first event."""
        own = self._message or {}
        return text(self._task.get("contextId")) or text(own.get("contextId"))

    @property
    def state(self) -> str:
        """The state of the task as the protocol names it."""
        return text(obj(self._task.get("status")).get("state"))

    @property
    def is_at_work(self) -> bool:
        """Whether more events follow."""
        return self._message is None and self.state in _AT_WORK

    @property
    def waits(self) -> bool:
        """Whether the task waits for input: the next message goes to it."""
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
            {**self._artifact_fields[key], "parts": list(parts)}
            for key, parts in self._artifacts.items()
        ]
        return {"task": {**self._task, **({"artifacts": artifacts} if artifacts else {})}}

    def _take_ids(self, update: Json) -> None:
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
        """Take a status. The message of a failed task may contain anything: only the log gets it.
        Messages with one `event_id` are fragments of one text, followed by the whole text."""
        self._task["status"] = status
        message = status.get("message")
        others = [] if self.is_at_work else self._said_by_others()
        if not isinstance(message, dict) or self.state == "TASK_STATE_FAILED":
            return others
        if self.is_at_work:
            return self._take_progress(message, event_id)
        return [*others, *self._say_message(message)]

    def _take_progress(self, message: Json, event_id: str) -> list[AgentEvent]:
        own_id = text(message.get("messageId")) or orjson.dumps(message).decode()
        if own_id in self._message_ids:
            return []
        self._message_ids.add(own_id)
        parts = arr(message.get("parts"))
        visible_parts = [
            part for part in parts if _is_shown(part) and part not in self._shown_parts
        ]
        self._shown_parts += visible_parts
        events = self._say(own_id, visible_parts, "")
        key = event_id or own_id
        before, added = self._progress.get(key, ""), _joined(parts)
        words = added if added.startswith(before) else before + added
        if not words.strip():
            return events
        self._progress[key] = words
        title = words.strip().splitlines()[-1][-_LONGEST_PROGRESS:]
        step = PlanStep(id=_PROGRESS, title=title, status="in_progress", transient=True)
        return [*events, step]

    def _say_message(self, message: Json) -> list[AgentEvent]:
        """Say a message, unless an artifact has said the same."""
        own_id = text(message.get("messageId")) or orjson.dumps(message).decode()
        if own_id in self._message_ids:
            return []
        self._message_ids.add(own_id)
        parts = arr(message.get("parts"))
        if self._repeats(parts, "artifact "):
            return []
        return self._say(f"message {own_id}", parts, "")

    def _repeats(self, parts: Sequence[JsonValue], speaker: str) -> bool:
        """Return whether one speaker of that kind, or all of them together, have said this text."""
        texts = [spoken for by, spoken in self._text_by_speaker.items() if by.startswith(speaker)]
        words = _joined(parts).split() if _is_text(parts) else []
        return bool(words) and words in [spoken.split() for spoken in (*texts, " ".join(texts))]

    def _take_artifact(self, artifact: Json, *, append: bool) -> list[AgentEvent]:
        """Take an artifact. One that arrives again with other content says only what is new."""
        key = text(artifact.get("artifactId"))
        if (actor := obj(artifact.get("metadata")).get("actor")) is not None:
            earlier = self._by_others.get(key, (actor, list[JsonValue]()))[1] if append else []
            self._by_others[key] = (actor, [*earlier, *arr(artifact.get("parts"))])
            return []
        name = text(artifact.get("name"))
        parts = arr(artifact.get("parts"))
        earlier_parts = self._artifacts.setdefault(key, [])
        self._artifact_fields[key] = {
            **self._artifact_fields.get(key, {}),
            **without(artifact, "parts"),
        }
        if append or not earlier_parts:
            repeats = not earlier_parts and self._repeats(parts, "message ")
            earlier_parts += parts
            return [] if repeats else self._say(f"artifact {key}", parts, name)
        if parts == earlier_parts:
            return []
        before, after = _joined(earlier_parts), _joined(parts)
        self._artifacts[key] = list(parts)
        if parts[: len(earlier_parts)] == earlier_parts:
            return self._say(f"artifact {key}", parts[len(earlier_parts) :], name)
        if _is_text(earlier_parts) and _is_text(parts) and after.startswith(before):
            rest: Json = {"text": after[len(before) :]}
            return self._say(f"artifact {key}", [rest] if rest["text"] else [], name)
        return self._say(f"artifact {key} again", parts, name)

    def _said_by_others(self) -> list[AgentEvent]:
        """Say the artifacts of actors below the agent (`metadata.actor`: an id, or an object with
        id, name and role), each as a message of its own."""
        said: list[AgentEvent] = []
        for key, (actor, natives) in self._by_others.items():
            who: JsonValue = {"id": actor} if isinstance(actor, str) else actor
            parts = [part for native in natives for part in part_parts(native)]
            event = said_by(who, parts, "", key)
            said += [event] if event is not None else []
        self._by_others.clear()
        return said

    def _say(self, speaker: str, parts: Sequence[JsonValue], name: str) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for native in parts:
            if native in self._shown_parts and speaker.startswith("artifact "):
                continue
            file_name = text(obj(native).get("filename")) or name
            events += [_event(part, file_name) for part in part_parts(native)]
        sayable = [event for event in events if event != TextDelta(text="")]
        if (
            sayable
            and self._has_text
            and self._last_speaker != speaker
            and isinstance(sayable[0], TextDelta)
        ):
            sayable.insert(0, TextDelta(text="\n\n"))
        if sayable:
            self._has_text, self._last_speaker = True, speaker
            self._text_by_speaker[speaker] = self._text_by_speaker.get(speaker, "") + _joined(parts)
        return sayable


def _event(part: ContentPart, name: str) -> AgentEvent:
    if isinstance(part, TextPart):
        return TextDelta(text=part.text)
    is_file = part.type in ("image", "audio", "video", "file")
    return PartGiven(part=orjson.loads(write(part)), name=name[:200] if is_file else "")


def _is_shown(native: JsonValue) -> bool:
    """Return whether people see a part of a working task: files, and data with a media type."""
    block = obj(native)
    kind = text(block.get("mediaType"))
    return "raw" in block or "url" in block or ("data" in block and kind not in ("", JSON))


def _is_text(parts: Sequence[JsonValue]) -> bool:
    return all("text" in obj(part) for part in parts)


def _joined(parts: Sequence[JsonValue]) -> str:
    return "".join(text(obj(part).get("text")) for part in parts)

"""Answers as Slack streams: chat.startStream, appendStream, stopStream.

A stream shows one part of the answer while the agent writes it; at the end an ordinary edit makes
it the exact message. Sources: docs.slack.dev pages of these methods (2026-08); a stream ends 5
minutes after its start whatever is appended (python-slack-sdk #1859), and refuses chat.update until
then.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.content.cards.reader import is_rich
from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.markdown.close_open import stable_output
from bridge.errors import Refused, StreamStopped
from bridge.model import Call, Delivery, EditMessage, Encoded, PostMessage, RateLimitKey, Receipt
from bridge.model.turns import PlanStep
from bridge.ports.clock import Clock
from connectors.slack import ids
from connectors.slack.capabilities import (
    APPEND_STREAM,
    MAX_STREAMS,
    METADATA_TYPE,
    START_STREAM,
    STOP_STREAM,
    STREAM_FIELD,
    STREAM_LIFE,
    STREAM_PACE,
    STREAM_TEXT,
)
from connectors.slack.encode import parts
from connectors.slack.send import WebApi, send_call

METHODS = (START_STREAM, APPEND_STREAM, STOP_STREAM)
_OVER = ("message_not_in_streaming_state", "stopped_by_user")
_CONFLICT = "streaming_state_conflict"
_WINDOW = 61.0  # seconds: the window in which Slack counts starts and stops
_OWN_LINK = re.compile(r"\[((?:\\.|[^\]\\])*)\]\(uacs:[^)\s]*\)")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_SIGN = re.compile(r"\\?([<>])|\\&|&(?!(?:amp|lt|gt);)")
_SIGNS = {"<": "&lt;", ">": "&gt;"}


@dataclass
class _OpenStream:
    """A stream that we opened, and its content."""

    begun: float
    sent: str = ""
    steps: dict[str, PlanStep] = field(default_factory=dict[str, PlanStep])

    def take(self, chunks: JsonValue) -> None:
        """Record chunks that were sent to it."""
        for chunk in chunks if isinstance(chunks, list) else ():
            match chunk:
                case {"type": "markdown_text", "text": str(text)}:
                    self.sent += text
                case {"type": "task_update", "id": str(own_id), **fields}:
                    changes = {name: value for name, value in fields.items() if value}
                    earlier = self.steps.get(own_id)
                    before = {} if earlier is None else earlier.model_dump()
                    self.steps[own_id] = PlanStep.model_validate(
                        {**before, **changes, "id": own_id}
                    )
                case _:
                    pass


class Streaming:
    """The streams of one account.

    It opens no more streams than can be stopped within a minute, so that no end has to wait.
    """

    pace = STREAM_PACE
    shows_steps = True

    def __init__(self, clock: Clock, encode: Callable[[Delivery], Encoded]) -> None:
        self._clock = clock
        self._encode = encode
        self._open: dict[tuple[str, str], _OpenStream] = {}
        self._stopped: deque[float] = deque()

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        """The call that opens a stream in place of the post `call`; None when it cannot be
        streamed."""
        operation = delivery.operation
        if call.method != "chat.postMessage" or call.thread is None or is_rich(delivery.message):
            return None
        recipient = _recipient(operation)
        steps = delivery.steps if call.slot == 0 else ()
        chunks = [*(_task(step) for step in steps), *_text_chunks(_text(delivery, call.slot))]
        if recipient is None or not chunks or not self._has_room():
            return None
        carried = ("channel", "thread_ts", "username", "icon_url", "icon_emoji")
        body = {name: call.body[name] for name in carried if name in call.body}
        body |= {**recipient, "task_display_mode": "plan", "chunks": [*chunks]}
        return call.model_copy(
            update={
                "method": START_STREAM,
                "body": body,
                "rate_limits": (
                    *call.rate_limits,
                    RateLimitKey(rule=START_STREAM, of=operation.account),
                ),
            }
        )

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        """The calls that append what is new; the ordinary edit when the stream is too old; None
        without a stream."""
        stream = self._of(call)
        if stream is None:
            return None
        old = self._clock.monotonic() - stream.begun > STREAM_LIFE
        if old or is_rich(delivery.message):
            return self.ending(delivery, call)
        works = (*steps, *delivery.steps) if call.slot == 0 else steps
        chunks = [*_changed_steps(works, stream.steps)]
        text = _text(delivery, call.slot)
        if text.startswith(stream.sent):
            chunks += _text_chunks(text[len(stream.sent) :])
        if not chunks:
            return ()
        more: dict[str, JsonValue] = {"chunks": [*chunks]}
        return (_on_stream(call, APPEND_STREAM, more),)

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        """The calls that stop the stream and then edit it to the exact message."""
        if self._of(call) is None:
            return ()
        payload: dict[str, JsonValue] = {"operation": call.operation, "slot": call.slot}
        metadata: dict[str, JsonValue] = {"event_type": METADATA_TYPE, "event_payload": payload}
        return (_on_stream(call, STOP_STREAM, {"metadata": metadata}), call)

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        """The ordinary post in place of a call that opens a stream; None for other calls."""
        if call.method != START_STREAM:
            return None
        calls = self._encode(delivery).calls
        return next(
            (
                candidate
                for candidate in calls
                if candidate.slot == call.slot and candidate.kind == "post"
            ),
            None,
        )

    async def send(self, api: WebApi, call: Call) -> Receipt:
        """Make one call and return its receipt; an edit of a stream that is still open (after a
        crash) ends it first.

        Raises PlatformError; StreamStopped when a person pressed Stop.
        """
        try:
            receipt = await send_call(api, call)
        except StreamStopped:
            self._forget(call)
            if call.method == STOP_STREAM:
                return _stream_receipt(call)
            raise
        except Refused as error:
            if error.code in _OVER:
                self._forget(call)
                if call.method == STOP_STREAM:
                    return _stream_receipt(call)
            if error.code != _CONFLICT:
                raise
            stop = _on_stream(call, STOP_STREAM, {})
            await self.send(api, stop)
            return await send_call(api, call)
        self._note(call, receipt)
        return receipt

    # --- within ---------------------------------------------------------------------------------

    def _of(self, call: Call) -> _OpenStream | None:
        return self._open.get((call.channel.channel, call.native_id or ""))

    def _has_room(self) -> bool:
        now = self._clock.monotonic()
        while self._stopped and self._stopped[0] <= now - _WINDOW:
            self._stopped.popleft()
        lost = [
            key for key, stream in self._open.items() if now - stream.begun > STREAM_LIFE + _WINDOW
        ]
        for key in lost:
            del self._open[key]
        return len(self._open) + len(self._stopped) < MAX_STREAMS

    def _note(self, call: Call, receipt: Receipt) -> None:
        key = (call.channel.channel, receipt.native_id)
        if call.method == START_STREAM:
            self._open[key] = _OpenStream(self._clock.monotonic())
        if call.method in (START_STREAM, APPEND_STREAM) and (stream := self._open.get(key)):
            stream.take(call.body["chunks"])
        elif call.method == STOP_STREAM:
            self._forget(call)

    def _forget(self, call: Call) -> None:
        if self._open.pop((call.channel.channel, call.native_id or ""), None):
            self._stopped.append(self._clock.monotonic())


def _recipient(operation: object) -> dict[str, JsonValue] | None:
    """The recipient of the stream: the asker, if a member of this workspace."""
    if not isinstance(operation, PostMessage | EditMessage) or operation.asker is None:
        return None
    asker = ids.split_actor(operation.asker)
    if asker is None or asker[0] != operation.channel.workspace or asker[2] is not None:
        return None
    if asker[1][:1] not in ("U", "W"):
        return None
    return {"recipient_team_id": asker[0], "recipient_user_id": asker[1]}


def _text(delivery: Delivery, slot: int) -> str:
    """The stable part of the Markdown, which later text does not change; mentions are names."""
    pieces = parts(delivery)
    return stable_output(pieces[slot], _markdown)[:STREAM_TEXT] if slot < len(pieces) else ""


def _markdown(text: str) -> str:
    """Markdown for Slack, which reads control sequences and entities before Markdown."""
    written = text_to_markdown(markdown_to_text(text))
    written = _AUTOLINK.sub(r"\1", _OWN_LINK.sub(r"\1", written))
    return _SIGN.sub(lambda match: _SIGNS.get(match[1] or "", "&amp;"), written)


def _text_chunks(text: str) -> list[dict[str, JsonValue]]:
    return [{"type": "markdown_text", "text": text}] if text else []


def _changed_steps(
    steps: Sequence[PlanStep], sent: Mapping[str, PlanStep]
) -> Iterator[dict[str, JsonValue]]:
    """The steps that changed. Title and status replace the old ones; details and output are
    appended, so each is sent once."""
    for step in steps:
        before = sent.get(step.id)
        if before is None:
            yield _task(step)
            continue
        additions = {
            name: "" if getattr(before, name) else getattr(step, name)
            for name in ("details", "output")
        }
        new = step.model_copy(update=additions)
        title, status = _title(step), step.status
        if any(additions.values()) or (title, status) != (before.title, before.status):
            yield _task(new)


def _task(step: PlanStep) -> dict[str, JsonValue]:
    more = {"details": step.details[:STREAM_FIELD], "output": step.output[:STREAM_FIELD]}
    return {
        "type": "task_update",
        "id": step.id,
        "title": _title(step),
        "status": step.status,
        **{name: value for name, value in more.items() if value},
    }


def _title(step: PlanStep) -> str:
    return step.title[:STREAM_FIELD] or step.id


def _on_stream(call: Call, method: str, more: dict[str, JsonValue]) -> Call:
    key = RateLimitKey(rule=method, of=_account_of(call))
    body = {"channel": call.channel.channel, "ts": call.native_id, **more}
    return call.model_copy(update={"method": method, "body": body, "rate_limits": (key,)})


def _account_of(call: Call) -> str:
    return call.rate_limits[0].of if call.rate_limits else ""


def _stream_receipt(call: Call) -> Receipt:
    return Receipt(slot=call.slot, native_id=call.native_id or "", thread=call.thread)

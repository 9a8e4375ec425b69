"""Growing answers as Teams' streams, in personal chats.

Each step carries the whole text so far; the last step is the final message. Informative steps
before the first text name what the agent does. Limits: msteams-docs, "Stream bot messages"
(2026-08): one request a second, 2 minutes, one stream in a chat, no informative step after text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog
from pydantic import JsonValue

from bridge.content.cards.reader import is_rich
from bridge.content.markdown.close_open import stable_output
from bridge.errors import Refused, StreamStopped
from bridge.model import Call, Delivery, EditMessage, Encoded, PostMessage, RateLimitKey, Receipt
from bridge.model.turns import PlanStep
from bridge.ports.clock import Clock
from connectors.teams import ids
from connectors.teams.capabilities import CAPABILITIES, STREAM, STREAM_INFORMATIVE, STREAM_LIFE
from connectors.teams.encode import parts
from connectors.teams.send import STREAM_METHOD as METHOD

STREAMING, INFORMATIVE = "streaming", "informative"
NOT_ALLOWED = "ContentStreamNotAllowed"
Send = Callable[[Call], Awaitable[Receipt]]

log = structlog.get_logger(__name__)


@dataclass
class _Open:
    """The open stream of a chat; `begun` is the clock's monotonic time."""

    id: str
    begun: float
    sequence: int
    sent: str = ""
    doing: str = ""


class Streaming:
    """The streams of one bot."""

    pace = CAPABILITIES.stream_pace
    shows_steps = True

    def __init__(self, clock: Clock, encode: Callable[[Delivery], Encoded]) -> None:
        self._clock = clock
        self._encode = encode
        self._open: dict[str, _Open] = {}

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        plain = call.method == "POST" and not is_rich(delivery.message)
        if not plain or not ids.is_personal(call.channel) or self._in(call) is not None:
            return None
        first: dict[str, JsonValue] = {"streamSequence": 1}
        if text := _text(delivery, call.slot):
            return _on_stream(call, _step(text, {"streamType": STREAMING, **first}))
        if words := _doing(delivery.steps):
            return _on_stream(call, _step(words, {"streamType": INFORMATIVE, **first}))
        return None

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        stream = self._of(call)
        if stream is None:
            return None
        old = self._clock.monotonic() - stream.begun > STREAM_LIFE
        if old or is_rich(delivery.message):
            return self.ending(delivery, call)
        more: dict[str, JsonValue] = {"streamSequence": stream.sequence + 1, "streamId": stream.id}
        text = _text(delivery, call.slot)
        if text.startswith(stream.sent) and len(text) > len(stream.sent):
            return (_on_stream(call, _step(text, {"streamType": STREAMING, **more})),)
        words = "" if stream.sent else _doing((*steps, *delivery.steps))
        if words and words != stream.doing:
            return (_on_stream(call, _step(words, {"streamType": INFORMATIVE, **more})),)
        return ()

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        stream = self._of(call)
        return () if stream is None else (_final(call, stream.id),)

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        if call.method != METHOD or call.native_id is not None:
            return None
        calls = self._encode(delivery).calls
        return next(
            (other for other in calls if other.slot == call.slot and other.kind == "post"), None
        )

    async def send(self, send: Send, call: Call) -> Receipt:
        """Send one call and return its receipt. Raises PlatformError.

        If Teams refuses the final step, the message is edited instead; if it refuses an edit
        because a stream is still open (after a crash), the final step ends the stream.
        """
        try:
            receipt = await send(call)
        except Refused as error:
            self._open.pop(call.channel.channel, None)
            if error.code != NOT_ALLOWED or call.kind != "edit":
                raise
            return await self._send_alternative(send, call, error)
        self._note(call, receipt)
        return receipt

    # --- within ---------------------------------------------------------------------------------

    async def _send_alternative(self, send: Send, call: Call, error: Refused) -> Receipt:
        if call.method == METHOD and not _is_final(call):
            raise error
        other = _edit(call) if _is_final(call) else _final(call, call.native_id or "")
        try:
            return await send(other)
        except StreamStopped:
            # Bots cannot change a stream that a person stopped (msteams-docs).
            log.info("stream_removal_failed", channel=call.channel.key)
            return Receipt(slot=call.slot, native_id=call.native_id or "", thread=call.thread)

    def _in(self, call: Call) -> _Open | None:
        stream = self._open.get(call.channel.channel)
        if stream is not None and self._clock.monotonic() - stream.begun > 2 * STREAM_LIFE:
            del self._open[call.channel.channel]
            return None
        return stream

    def _of(self, call: Call) -> _Open | None:
        stream = self._open.get(call.channel.channel)
        return stream if stream is not None and stream.id == call.native_id else None

    def _note(self, call: Call, receipt: Receipt) -> None:
        if call.method != METHOD:
            return
        channel, text = call.channel.channel, str(call.body["text"])
        if _is_final(call):
            self._open.pop(channel, None)
            return
        stream = self._of(call)
        if stream is None and call.native_id is None:
            stream = self._open[channel] = _Open(receipt.native_id, self._clock.monotonic(), 0)
        if stream is not None:
            stream.sequence += 1
            stream.sent, stream.doing = ("", text) if _informs(call) else (text, "")


def _text(delivery: Delivery, slot: int) -> str:
    """Return the author and the stable beginning of a part, which later text does not change."""
    operation = delivery.operation
    if not isinstance(operation, PostMessage | EditMessage):
        return ""
    pieces = parts(delivery, operation.byline)
    if slot >= len(pieces):
        return ""
    head, piece, write = pieces[slot]
    text = stable_output(piece, write)
    return f"{head}\n\n{text}" if head and text else text


def _step(text: str, info: dict[str, JsonValue]) -> dict[str, JsonValue]:
    entity: dict[str, JsonValue] = {"type": "streaminfo", **info}
    return {"type": "typing", "textFormat": "markdown", "text": text, "entities": [entity]}


def _final(call: Call, stream: str) -> Call:
    """Return an edit as the final step of a stream."""
    info: dict[str, JsonValue] = {"type": "streaminfo", "streamType": "final", "streamId": stream}
    entities = call.body.get("entities")
    others = entities if isinstance(entities, list) else []
    body = {name: value for name, value in call.body.items() if name != "id"}
    return _on_stream(call, {**body, "entities": [*others, info]})


def _edit(call: Call) -> Call:
    """Return a final step as the edit from which it was made."""
    entities = call.body.get("entities")
    others = (
        [entity for entity in entities if not _is_stream_info(entity)]
        if isinstance(entities, list)
        else []
    )
    body = {name: value for name, value in call.body.items() if name != "entities"}
    more: dict[str, JsonValue] = {"entities": [*others]} if others else {}
    return call.model_copy(update={"method": "PUT", "body": {**body, **more, "id": call.native_id}})


def _doing(steps: Sequence[PlanStep]) -> str:
    """Return a line with the current step of the agent; empty without steps."""
    now = [step for step in steps if step.status == "in_progress"] or steps
    return f"🔧 {' '.join(now[-1].title.split())}"[:STREAM_INFORMATIVE] if now else ""


def _informs(call: Call) -> bool:
    entities = call.body.get("entities")
    return isinstance(entities, list) and any(
        isinstance(entity, dict) and entity.get("streamType") == INFORMATIVE for entity in entities
    )


def _is_stream_info(entity: JsonValue) -> bool:
    return isinstance(entity, dict) and entity.get("type") == "streaminfo"


def _is_final(call: Call) -> bool:
    return call.method == METHOD and call.body.get("type") == "message"


def _on_stream(call: Call, body: dict[str, JsonValue]) -> Call:
    key = RateLimitKey(rule=STREAM, of=call.channel.key)
    others = [limit for limit in call.rate_limits if limit.rule != STREAM]
    return call.model_copy(update={"method": METHOD, "body": body, "rate_limits": (*others, key)})

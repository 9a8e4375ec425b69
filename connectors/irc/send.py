"""A call -> the lines to the server -> the receipt of the copy."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog

from bridge.errors import BridgeError, Unavailable, Unsettled
from bridge.model import Call, Receipt
from bridge.ports.files import Files
from bridge.ports.key_values import KeyValues
from connectors.irc import compose
from connectors.irc.encode import CORRECT, POST, REACT, REDACT, UNREACT, paste_bytes
from connectors.irc.key_values import remember_card
from connectors.irc.posts import Waiting
from connectors.irc.speaker import Speaker
from connectors.irc.wire import formatted

log = structlog.get_logger()

_ANSWER_S = 20.0  # in which the server answers a line that was written
_LARGEST_PASTE = 1_000_000


class Sender:
    """Makes calls through the connection of the moment, or through that of an author."""

    def __init__(
        self,
        speaker: Callable[[Call], Awaitable[Speaker]],
        key_values: KeyValues,
        files: Files | None,
    ) -> None:
        self._speaker = speaker
        self._key_values = key_values
        self._files = files
        self._batches = itertools.count(1)

    async def send(self, call: Call) -> Receipt:
        match call.method:
            case method if method in (POST, CORRECT):
                return await self._post(call)
            case method if method in (REDACT, REACT, UNREACT):
                return await self._mark(call)
            case _:
                raise Unavailable(f"Unknown call {call.method!r}; was it made by another version?")

    async def _post(self, call: Call) -> Receipt:
        await self._keep_paste(call)
        speaker = await self._speaker(call)
        label = speaker.posts.label()
        composed = compose.message(
            call, speaker.form, speaker.target(call.channel),
            label=label if speaker.labels else "", bare=speaker.is_puppet,
            batch=f"b{next(self._batches)}",
        )  # fmt: skip
        native_id = await self._settled(speaker, call, composed, label)
        await self._remember_card(call, native_id)
        return Receipt(slot=call.slot, native_id=native_id)

    async def _mark(self, call: Call) -> Receipt:
        speaker = await self._speaker(call)
        label = speaker.posts.label()
        composed = compose.mark(
            call, speaker.target(call.channel), label=label if speaker.labels else ""
        )
        await self._settled(speaker, call, composed, label)
        deleted = call.method == REDACT
        return Receipt(slot=call.slot, native_id=call.native_id or "", deleted=deleted)

    async def _settled(
        self, speaker: Speaker, call: Call, composed: compose.Composed, label: str
    ) -> str:
        """Write the lines and return the server's native id, or one of ours if it sends none."""
        target = speaker.link.state.support.fold(speaker.target(call.channel))
        waiting = Waiting(call, target, composed.first, label)
        speaker.posts.add(waiting)
        lines = list(composed.lines)
        if not speaker.answers(call):
            lines.append(formatted("PING", label))  # its PONG proves that the server took the lines
        speaker.link.put(lines, together=composed.together, written=waiting.write)
        try:
            async with asyncio.timeout(_ANSWER_S):
                return await asyncio.shield(waiting.settled)
        except TimeoutError:
            if not waiting.written and speaker.link.withdraw(waiting.write):
                raise Unavailable("The message could not be sent at the pace that is set") from None
            raise Unsettled(
                f"No answer to {call.method} in {call.channel.channel} within {_ANSWER_S:g} s",
                late=True,
            ) from None

    # --- pastes and cards --------------------------------------------------------------------

    async def _keep_paste(self, call: Call) -> None:
        paste = call.body.get("paste")
        if not isinstance(paste, str) or self._files is None:
            return
        await self._files.blobs.put(_once(paste_bytes(paste)), limit=_LARGEST_PASTE)

    async def _remember_card(self, call: Call, native_id: str) -> None:
        code = call.body.get("card")
        if not isinstance(code, str) or not code:
            return
        try:
            await remember_card(self._key_values, call.channel, code, native_id)
        except BridgeError as error:
            log.warning("card_write_failed", channel=call.channel.key, error=str(error))


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content

"""Files shared in a message of their own, and the search for that message after a lost answer.

A share has no metadata, and Slack posts the message after it has answered: `files.info` shows the
message some time later; sometimes Slack answers and never shares (docs.slack.dev
files.completeUploadExternal, 2026-08; slackapi/bolt-js#2115, paradigmxyz/centaur#311). Therefore
the ids of the files are stored before they are shared.
"""

from __future__ import annotations

from pydantic import BaseModel, JsonValue, ValidationError

from bridge.errors import PlatformError, Refused, Unavailable, Unsettled
from bridge.model import Call, Receipt
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.key_values import KeyValues
from connectors.slack import ids
from connectors.slack.files import stage
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.send import WebApi

_FIRST_LOOK = 0.25  # seconds until the first look for the message; each next pause is twice as long
_LONGEST_LOOK = 2.0
_LONGEST_SEARCH = 8.0  # seconds of looking before the lane treats the answer as lost
_SHARE_TIMEOUT = (
    120.0  # seconds after which files that Slack took but does not show are shared again
)
_GONE = ("file_not_found", "file_deleted")


class _Note(BaseModel):
    """The files of a channel's last share; `at`: when it was requested, seconds since 1970."""

    operation: str
    slot: int
    at: float
    files: tuple[str, ...]


class Shares:
    """The shares of one account."""

    def __init__(
        self, api: WebApi, files: Files | None, key_values: KeyValues, clock: Clock
    ) -> None:
        self._api = api
        self._files = files
        self._key_values = key_values
        self._clock = clock

    async def share(self, call: Call) -> Receipt:
        """Stage every file, then share them in one message, and return its receipt.

        Staged files that are never shared are invisible; only the last request has a visible
        effect. Raises Unsettled when the message does not appear in time, and PlatformError.
        """
        if self._files is None:
            raise Refused(f"{call.method}: this bridge stores no files")
        staged = [await stage(self._api, self._files, file_ref) for file_ref in call.files]
        native_files: list[JsonValue] = [
            {"id": file, "title": file_ref.name}
            for file, file_ref in zip(staged, call.files, strict=True)
        ]
        body: dict[str, JsonValue] = {
            "files": native_files,
            "channel_id": call.channel.channel,
            "initial_comment": call.body.get("initial_comment"),
        }
        if call.thread is not None:
            body["thread_ts"] = call.thread
        note = _Note(
            operation=call.operation, slot=call.slot, at=self._clock.time(), files=tuple(staged)
        )
        await self._key_values.put(_key(call), note.model_dump_json())
        await self._api.post_json(call.method, body, once=True)
        return await self._wait_for_message(call, staged[0])

    async def find(self, call: Call, after: str | None) -> Receipt | None:
        """The receipt of the message later than `after` (a ts) that shares the files of this call.

        None: there is none and will be none. Raises Unavailable when Slack took the files and does
        not show them yet.
        """
        note = await self._stored_note(call)
        if note is None:
            return None
        try:
            receipt = await self._first_message(call, note.files[0])
        except Refused as error:
            if error.code not in _GONE:
                raise
            return None
        if receipt:
            is_earlier = after is not None and ids.order_key(receipt.native_id) <= ids.order_key(
                after
            )
            return None if is_earlier else receipt
        waited = self._clock.time() - note.at
        if waited < _SHARE_TIMEOUT:
            raise Unavailable(
                f"{call.method} to {call.channel}: Slack took the files {waited:.0f} s ago and "
                "does not show them yet; the bridge looks again"
            )
        await self._forget(note)
        return None

    async def _wait_for_message(self, call: Call, file: str) -> Receipt:
        """The receipt of the message once it appears.

        Raises Unsettled when it does not appear in time: Slack took the files, so they must not be
        shared again without a search.
        """
        pause, waited = _FIRST_LOOK, 0.0
        try:
            while waited < _LONGEST_SEARCH:
                await self._clock.sleep(pause)
                if receipt := await self._first_message(call, file):
                    return receipt
                pause, waited = min(2 * pause, _LONGEST_LOOK), waited + pause
        except PlatformError as error:
            reason = str(error)
        else:
            reason = f"it does not show them after {waited:g} s"
        raise Unsettled(f"{call.method} to {call.channel}: Slack took the files; {reason}")

    async def _first_message(self, call: Call, file: str) -> Receipt | None:
        """The first message with the file in the channel of this call."""
        shares = object_at(await self._api.read("files.info", file=file), "file", "shares")
        for kind in ("public", "private"):
            places: Json = object_at(shares, kind)
            for share in objects_at(places, call.channel.channel):
                ts, root = text_at(share, "ts"), text_at(share, "thread_ts")
                if ts:
                    thread = root if root and root != ts else None
                    return Receipt(slot=call.slot, native_id=ts, thread=thread)
        return None

    async def _stored_note(self, call: Call) -> _Note | None:
        stored = await self._key_values.get(_key(call))
        try:
            note = _Note.model_validate_json(stored or "")
        except ValidationError:
            return None
        return note if (note.operation, note.slot) == (call.operation, call.slot) else None

    async def _forget(self, note: _Note) -> None:
        """Delete the files, so that Slack cannot share them late."""
        for file in note.files:
            try:
                await self._api.post_json("files.delete", {"file": file}, once=False)
            except Refused as error:
                if error.code not in _GONE:
                    raise


def _key(call: Call) -> str:
    """One key for each channel: its lane shares one message after the other."""
    return f"shared:{call.channel.channel}"

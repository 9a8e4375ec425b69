"""Sends a call to Discord and returns the receipt of the message."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import JsonValue

from bridge.errors import NotFound, Refused, ThreadClosed, Unsettled
from bridge.model import Call, Receipt
from bridge.ports.files import Files
from connectors.discord import encode
from connectors.discord.capabilities import THREAD_NAME_LIMIT
from connectors.discord.commands import ANSWER
from connectors.discord.files import opened
from connectors.discord.interactions import PendingInteractions
from connectors.discord.marks import PUT_PIN, REACT, TAKE_PIN, TYPE, UNREACT
from connectors.discord.reactions import ReactionSender
from connectors.discord.rest import (
    ARCHIVED_THREAD,
    BAD_WEBHOOK_TOKEN,
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    NEEDS_THREAD_NAME,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    Rest,
)
from connectors.discord.webhooks import Webhook, Webhooks
from connectors.discord.words import title_words

_REMEMBERED = 256  # forum posts whose later parts may follow


class Sender:
    """Sends calls; a missing webhook or thread is created once, and the call is repeated."""

    def __init__(
        self,
        rest: Rest,
        webhooks: Webhooks,
        reactions: ReactionSender,
        pending: PendingInteractions,
        files: Files | None = None,
    ) -> None:
        self._pending = pending
        self._rest = rest
        self._files = files
        self._webhooks = webhooks
        self._forum_posts: OrderedDict[str, str] = OrderedDict()  # operation -> its thread
        self._senders: Mapping[str, Callable[[Call], Awaitable[Receipt]]] = {
            encode.WEBHOOK_POST: self._post_by_webhook,
            encode.WEBHOOK_EDIT: self._edit_by_webhook,
            encode.WEBHOOK_DELETE: self._delete_by_webhook,
            encode.BOT_POST: self._post_as_bot,
            encode.BOT_EDIT: self._edit_as_bot,
            encode.BOT_DELETE: self._delete_as_bot,
            TYPE: self._type,
            ANSWER: self._answer,
            **dict.fromkeys((REACT, UNREACT, PUT_PIN, TAKE_PIN), reactions.put),
        }

    async def send(self, call: Call) -> Receipt:
        send_call = self._senders.get(call.method)
        if send_call is None:
            raise Refused(f"Unknown call {call.method!r}; was it made by another version?")
        return await send_call(call)

    # --- webhooks ---------------------------------------------------------------------------

    async def _post_by_webhook(self, call: Call) -> Receipt:
        thread = call.thread or self._forum_posts.get(call.operation)
        try:
            answer = await self._execute(call, thread, {})
        except Refused as error:
            if error.code == NEEDS_THREAD_NAME and thread is None:
                answer = await self._execute(call, None, {"thread_name": _title(call)})
                self._remember(call, answer)
            elif error.code == UNKNOWN_CHANNEL and thread is not None:
                await self._start_thread(call, thread)
                answer = await self._execute(call, thread, {})
            elif error.code == ARCHIVED_THREAD and thread is not None:
                await self._reopen(thread)
                answer = await self._execute(call, thread, {})
            else:
                raise
        return _receipt(call, answer)

    async def _execute(self, call: Call, thread: str | None, more: Mapping[str, JsonValue]) -> Any:
        query: dict[str, str | int] = {"wait": "true"}
        if thread is not None:
            query["thread_id"] = thread
        body = {**call.body, **more}
        return await self._with_webhook(call, "POST", "", query, body)

    async def _edit_by_webhook(self, call: Call) -> Receipt:
        await self._change_copy(call, "PATCH", call.body)
        return _receipt_of_copy(call)

    async def _delete_by_webhook(self, call: Call) -> Receipt:
        try:
            await self._change_copy(call, "DELETE", None)
        except NotFound as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
            # It is deleted already, or an earlier webhook posted it: then the bot may delete it.
            return await self._delete_as_bot(call)
        return _receipt_of_copy(call, deleted=True)

    async def _change_copy(
        self, call: Call, method: str, body: Mapping[str, JsonValue] | None
    ) -> None:
        path = f"/messages/{call.native_id}"
        query = {"thread_id": call.thread} if call.thread is not None else {}
        try:
            await self._with_webhook(call, method, path, query, body)
        except Refused as error:
            if error.code != ARCHIVED_THREAD or call.thread is None:
                raise
            await self._unarchive(call.thread)
            await self._with_webhook(call, method, path, query, body)

    async def _with_webhook(
        self,
        call: Call,
        method: str,
        path: str,
        query: Mapping[str, str | int],
        body: Mapping[str, JsonValue] | None,
    ) -> Any:
        webhook = await self._webhooks.of(call.channel)
        try:
            return await self._ask(webhook, call, method, path, query, body)
        except Refused as error:
            if error.code not in (UNKNOWN_WEBHOOK, BAD_WEBHOOK_TOKEN):
                raise
        await self._webhooks.forget(call.channel, webhook)
        webhook = await self._webhooks.of(call.channel)
        return await self._ask(webhook, call, method, path, query, body)

    async def _ask(
        self,
        webhook: Webhook,
        call: Call,
        method: str,
        path: str,
        query: Mapping[str, str | int],
        body: Mapping[str, JsonValue] | None,
    ) -> Any:
        if body is not None and "components" in body:
            query = {**query, "with_components": "true"}
        async with opened(self._files, call, body) as (body, files):
            return await self._rest.request(
                method, webhook.path + path, bucket=f"{call.method} {webhook.id}",
                doing=_doing(call), query=query, body=body, files=files, authorised=False,
            )  # fmt: skip

    # --- threads ----------------------------------------------------------------------------

    async def _start_thread(self, call: Call, root: str) -> None:
        """Start a thread from its root message; the thread has the message's id."""
        channel = call.channel.channel
        path = f"/channels/{channel}/messages/{root}/threads"
        doing = f"Starting a thread from message {root} in channel {channel!r}"
        body = {"name": await self._root_title(call, root)}
        try:
            await self._rest.request(
                "POST", path, bucket=f"thread.start {channel}", doing=doing, body=body
            )
        except Refused as error:
            if error.code != THREAD_EXISTS:
                raise

    async def _root_title(self, call: Call, root: str) -> str:
        channel = call.channel.channel
        path = f"/channels/{channel}/messages/{root}"
        doing = f"Reading message {root} of channel {channel!r}"
        bucket = f"message.get {channel}"
        message = await self._rest.request("GET", path, bucket=bucket, doing=doing)
        content = message.get("content") if isinstance(message, dict) else None
        return title_of(content if isinstance(content, str) else "")

    async def _reopen(self, thread: str) -> None:
        """Reopen a locked thread (a post reopens an archived one); raises ThreadClosed."""
        try:
            await self._unarchive(thread)
        except Refused as error:
            if error.code not in (MISSING_ACCESS, MISSING_PERMISSIONS):
                raise
            raise ThreadClosed(
                f"Thread {thread} is locked, and opening it needs Manage Threads: {error}",
                code=ARCHIVED_THREAD,
            ) from error

    async def _unarchive(self, thread: str) -> None:
        await self._rest.request(
            "PATCH", f"/channels/{thread}", bucket=f"channel.edit {thread}",
            doing=f"Unarchiving thread {thread}", body={"archived": False},
        )  # fmt: skip

    def _remember(self, call: Call, answer: Any) -> None:
        """Remember the thread of a forum post, for the later parts of the same operation."""
        if isinstance(answer, dict) and isinstance(thread := answer.get("channel_id"), str):
            self._forum_posts[call.operation] = thread
            if len(self._forum_posts) > _REMEMBERED:
                self._forum_posts.popitem(last=False)

    # --- the bot itself ---------------------------------------------------------------------

    async def _post_as_bot(self, call: Call) -> Receipt:
        return _receipt(call, await self._as_bot(call, "POST", "", call.body))

    async def _edit_as_bot(self, call: Call) -> Receipt:
        await self._as_bot(call, "PATCH", f"/{call.native_id}", call.body)
        return _receipt_of_copy(call)

    async def _delete_as_bot(self, call: Call) -> Receipt:
        try:
            await self._as_bot(call, "DELETE", f"/{call.native_id}", None)
        except NotFound as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
        return _receipt_of_copy(call, deleted=True)

    async def _answer(self, call: Call) -> Receipt:
        return _receipt(call, await self._pending.answer(call))

    async def _type(self, call: Call) -> Receipt:
        channel = call.channel.channel
        await self._rest.request(
            "POST", f"/channels/{channel}/typing", bucket=f"typing {channel}", doing=_doing(call)
        )
        return Receipt(slot=call.slot, native_id="")

    async def _as_bot(
        self, call: Call, method: str, path: str, body: Mapping[str, JsonValue] | None
    ) -> Any:
        channel = call.thread or call.channel.channel
        async with opened(self._files, call, body) as (body, files):
            return await self._rest.request(
                method, f"/channels/{channel}/messages{path}", doing=_doing(call),
                bucket=f"{method} messages {channel}", body=body, files=files,
            )  # fmt: skip


def title_of(text: str) -> str:
    """Return a thread's name: the first words of the text, at most 100 characters."""
    words = " ".join(text.split()) or "Thread"
    if len(words) <= THREAD_NAME_LIMIT:
        return words
    cut = words.rfind(" ", THREAD_NAME_LIMIT // 2, THREAD_NAME_LIMIT)
    return words[: cut if cut > 0 else THREAD_NAME_LIMIT - 1].rstrip() + "…"


def _title(call: Call) -> str:
    return title_of(title_words(call.body))


def _doing(call: Call) -> str:
    verb = {"post": "Posting to", "edit": "Editing in", "delete": "Deleting from"}
    return f"{verb.get(call.kind, 'Asking')} channel {call.channel.channel!r}"


def _receipt(call: Call, answer: Any) -> Receipt:
    try:
        native_id, place = str(answer["id"]), str(answer["channel_id"])
    except (KeyError, TypeError):
        text = f"{_doing(call)}: Discord's answer holds no message; the outcome is unknown"
        raise Unsettled(text, code="broken") from None
    thread = place if place != call.channel.channel else None
    return Receipt(slot=call.slot, native_id=native_id, thread=thread)


def _receipt_of_copy(call: Call, *, deleted: bool = False) -> Receipt:
    native_id = call.native_id or ""
    return Receipt(slot=call.slot, native_id=native_id, thread=call.thread, deleted=deleted)

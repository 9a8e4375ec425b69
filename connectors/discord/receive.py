"""discord.py's gateway -> inbox rows, written from the raw frames in their order.

discord.py connects, sends heartbeats, resumes and reconnects; its models are not used, because they
lose unknown fields. Discord has no acknowledgement of events: frames wait here in a bounded queue
while the inbox cannot accept them, and catch-up reads back those that do not fit.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson
import structlog
import yarl

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.content.cards.tree import Card
from bridge.errors import AuthFailed, BridgeError, PlatformError
from bridge.model import AccountId, ChannelRef, Echo, Raw, Receipt
from bridge.ports.abilities.health import Health
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.ports.installs import Tenancy
from bridge.runtime.keyed_locks import KeyedLocks
from connectors.discord import ids
from connectors.discord.capabilities import DIRECT_TYPES, INTENTS, THREAD_TYPES
from connectors.discord.content import is_hidden
from connectors.discord.decode import KINDS, ids_in_text
from connectors.discord.identity import BotIdentity
from connectors.discord.interactions import PendingInteractions
from connectors.discord.places import Places
from connectors.discord.presses import (
    COMMAND,
    NO_ROOM,
    first_answer,
    last_answer,
    press_target,
    with_own_values,
)
from connectors.discord.rest import translated
from connectors.discord.sdk import Client, DiscordWebSocket, Intents, MemberCacheFlags, Route
from connectors.discord.unpinned import PIN_KINDS, UNPINNED, OwnUnpins, UnpinDetector
from connectors.discord.webhooks import Webhooks

_INTERACTION_S = 900.0  # an interaction's token is valid this long
log = structlog.get_logger()

_MAX_FRAMES = 10_000  # frames; beyond that catch-up reads them back
_MOST_AT_A_TIME = 100  # rows that the inbox is given at a time
_LONGEST_PAUSE_S = 30.0
_OWN_GATEWAY = DiscordWebSocket.DEFAULT_GATEWAY
_LOOK_UPS = 4
_STOP_S = 5.0
_INTENT_TODO = (
    "switch on Message Content Intent for the bot (developer portal, page Bot) and start again"
)
_UPDATES = frozenset({"CHANNEL_UPDATE", "THREAD_UPDATE"})


class _Gateway(Client):
    """A client that passes every raw frame on and builds no models."""

    def __init__(
        self, queue_frame: Callable[[str], None], note_disconnect: Callable[[], None]
    ) -> None:
        super().__init__(
            intents=_intents(),
            enable_debug_events=True,
            chunk_guilds_at_startup=False,
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            guild_ready_timeout=0,
        )
        self._queue_frame = queue_frame
        self._note_disconnect = note_disconnect
        # The parsers turn each frame into models, which the bridge does not use, and close the
        # connection when a frame is malformed. Sessions and heartbeats do not need them.
        self._connection.parsers.clear()  # pyright: ignore[reportPrivateUsage]  # no public way

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Take events in the order of the frames; `on_...` handlers run as unordered tasks."""
        if event == "socket_raw_receive":
            self._queue_frame(args[0])
        elif event == "disconnect":
            self._note_disconnect()


def _intents() -> Intents:
    intents = Intents.none()
    intents.value = sum(INTENTS.values())
    return intents


async def _stop(client: Client, running: asyncio.Task[None]) -> None:
    """Close the client, then cancel its task.

    A client that is cancelled while it connects leaves its heartbeat thread running (2.7.1), and
    `wait_for` of Python 3.11 may swallow a cancellation.
    """
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_STOP_S):
            await client.close()
    with contextlib.suppress(Exception):
        await client.http.close()
    await asyncio.wait({running}, timeout=_STOP_S / 10)
    while not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=_STOP_S / 10)
    if not running.cancelled():
        running.exception()  # retrieved, or asyncio logs that it never was
    with contextlib.suppress(Exception):
        await client.http.close()  # a pending login may have opened it again


def use_gateway(api_url: str, gateway_url: str | None) -> None:
    """Set discord.py's addresses: class attributes, so they hold for all clients of the process."""
    Route.BASE = api_url.rstrip("/")
    gateway = yarl.URL(gateway_url) if gateway_url else _OWN_GATEWAY
    DiscordWebSocket.DEFAULT_GATEWAY = gateway


class Receiver:
    """Stays connected until it is cancelled, and writes events to the inbox."""

    def __init__(
        self,
        account: AccountId,
        token: Callable[[], Awaitable[str]],
        clock: Clock,
        bot: BotIdentity,
        webhooks: Webhooks,
        places: Places,
        respond: Callable[[dict[str, Any], dict[str, Any]], Awaitable[None]],
        own_unpins: OwnUnpins,
        pending: PendingInteractions,
        cards: Cards = NO_CARDS,
        tenancy: Tenancy | None = None,
    ) -> None:
        self._pending = pending
        self._tenancy = tenancy
        self._account = account
        self._token = token
        self._clock = clock
        self._bot = bot
        self._webhooks = webhooks
        self._places = places
        self._respond = respond
        self._cards = cards
        self._own_unpins = own_unpins
        self._unpinnings = UnpinDetector(clock)
        self._answers: set[asyncio.Task[None]] = set()
        self._rows: set[asyncio.Task[None]] = set()  # that are being kept
        self._free = asyncio.Semaphore(_MOST_AT_A_TIME)
        self._channels = KeyedLocks[ChannelRef | None]()
        self._frames: asyncio.Queue[str] = asyncio.Queue(_MAX_FRAMES)
        self._session = ""
        self._missed = 0
        self._trouble = ""
        self._content_hidden = False
        self.state = Health("connecting")

    async def run(self, inbox: Inbox) -> None:
        """Receive until cancelled; raises AuthFailed when Discord refuses the token or intents."""
        refused: AuthFailed | None = None
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._keep_frames(inbox), name="discord frames")
            try:
                await self._keep_connected()
            except AuthFailed as error:
                refused = error
            finally:
                keeping.cancel()
                left = self._answers | self._rows
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)
        if refused is not None:
            self.state = Health("failed", note=str(refused))
            raise refused

    # --- connecting -------------------------------------------------------------------------

    async def _keep_connected(self) -> None:
        tries = 0
        while True:
            last_event = self.state.last_event_at
            try:
                with translated("Connecting to Discord's gateway"):
                    await self._connect()
                error = "the gateway closed the connection"
            except AuthFailed:
                raise
            except Exception as failure:  # noqa: BLE001 - supervising: log, wait, connect again
                error = str(failure) or type(failure).__name__
            tries = 1 if self.state.last_event_at != last_event else tries + 1
            pause = min(2.0**tries, _LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)  # noqa: S311
            log.warning("gateway_lost", account=self._account, error=error, pause=round(pause, 1))
            self.state = Health("connecting", last_event_at=self.state.last_event_at, note=error)
            await self._clock.sleep(pause)

    async def _connect(self) -> None:
        client = _Gateway(self._queue_frame, self._note_disconnect)
        running = asyncio.create_task(client.start(await self._token()), name="discord gateway")
        try:
            await asyncio.wait({running})
        finally:
            await _stop(client, running)
        await running

    def _note_disconnect(self) -> None:
        """Note a broken socket; discord.py opens a new one and resumes the session if possible."""
        self.state = Health(
            "connecting",
            last_event_at=self.state.last_event_at,
            note="the socket closed; discord.py reconnects",
        )

    def _queue_frame(self, frame: str) -> None:
        try:
            self._frames.put_nowait(frame)
        except asyncio.QueueFull:
            self._missed += 1

    # --- keeping ----------------------------------------------------------------------------

    async def _keep_frames(self, inbox: Inbox) -> None:
        while True:
            text = await self._frames.get()
            try:
                frame = orjson.loads(text)
                if isinstance(frame, dict) and frame.get("op") == 0:
                    await self._take(inbox, frame)
            except Exception as error:  # noqa: BLE001 - supervising: one bad frame must not stop the others
                log.warning("frame_dropped", account=self._account, error=repr(error)[:300])
            if self._missed and self._frames.empty():
                log.warning("frames_missed", account=self._account, count=self._missed)
                self._missed = 0
                inbox.session_began(self._account)

    async def _take(self, inbox: Inbox, frame: dict[str, Any]) -> None:
        kind, data = frame.get("t"), frame.get("d")
        now = self._clock.time()
        if not isinstance(kind, str) or not isinstance(data, dict):
            return
        self._note_event(now)
        changed = self._places.changed(data) if kind in _UPDATES else []
        relevant = kind in KINDS and _is_relevant(kind, data, changed)
        self._learn(inbox, kind, data)
        if self._tenancy is not None and not await self._is_of_tenant(self._tenancy, kind, data):
            return
        at = f"{self._session}:{frame.get('s')}"
        if kind in PIN_KINDS:
            await self._keep_unpinnings(inbox, kind, data, at, now)
        if not relevant:
            return
        channel = await self._channel_of(kind, data)
        if channel is None:
            return
        if _begins_post(kind, data):
            await self._learn_title(data["id"])
        await self.learn(channel, data)
        if kind == "INTERACTION_CREATE":
            self._answer_soon(inbox, data, channel, at, now)
            return
        if kind == "MESSAGE_CREATE":
            self._look_for_content(data)
        await self._keep_soon(inbox, self.raw(kind, data, channel, at, now, changed=changed))

    async def _is_of_tenant(self, tenancy: Tenancy, kind: str, data: dict[str, Any]) -> bool:
        """Whether an event is of a guild that installed the app, or of no guild. A guild that
        removed the bot ends, also one that did so while the bridge was not connected.

        Source: gateway events "Guild Delete" (`unavailable`: an outage), "Ready" (2026-06).
        """
        if kind == "GUILD_DELETE" and data.get("unavailable") is not True:
            await tenancy.ended(str(data.get("id")), kind)
        if kind == "READY" and isinstance(guilds := data.get("guilds"), list):
            present = {str(guild.get("id")) for guild in guilds if isinstance(guild, dict)}
            for tenant in await tenancy.tenants():
                if tenant.state != "ended" and tenant.native_id not in present:
                    await tenancy.ended(tenant.native_id, "not among the guilds of the bot")
        guild = data.get("guild_id")
        return not isinstance(guild, str) or await tenancy.admits(guild)

    async def _keep_unpinnings(
        self, inbox: Inbox, kind: str, data: dict[str, Any], at: str, now: float
    ) -> None:
        for number, (ago, update) in enumerate(self._unpinnings.observe(kind, data)):
            if channel := await self._channel_of(UNPINNED, update):
                raw = self.raw(UNPINNED, update, channel, f"{at}:{number}", now - ago)
                await self._keep_soon(inbox, raw)

    def _look_for_content(self, data: dict[str, Any]) -> None:
        """Detect from an empty message that the bot may not read message content."""
        hidden = not data.get("content") and is_hidden(data)
        if hidden and not self._content_hidden:
            log.error("message_content_hidden", account=self._account, todo=_INTENT_TODO)
        if hidden or data.get("content"):
            self._content_hidden = hidden
            self.state = replace(self.state, note=self._note())

    # --- interactions -----------------------------------------------------------------------

    def _answer_soon(
        self, inbox: Inbox, data: dict[str, Any], channel: ChannelRef, at: str, now: float
    ) -> None:
        """Answer in a task of its own: Discord waits three seconds, and other frames go on."""
        task = asyncio.create_task(self._answer(inbox, data, channel, at, now), name="interaction")
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(
        self, inbox: Inbox, data: dict[str, Any], channel: ChannelRef, at: str, now: float
    ) -> None:
        """Answer an interaction: keep it and acknowledge it, or ask first (a form, a confirmation).

        The inbox rejects a command in a channel that is in no room; its user is told so.
        """
        if data.get("type") == COMMAND:
            if self._pending.begin(data):
                raw = self.raw("INTERACTION_CREATE", data, channel, at, now)
                accepted = await self._keep(inbox, raw)
                await self._reply(data, last_answer(data) if accepted else NO_ROOM)
            return
        pressed_card = await self._pressed_card(inbox, data, channel)
        answer = first_answer(*pressed_card, data) if pressed_card else None
        if answer is None:
            data = with_own_values(*pressed_card, data) if pressed_card else data
            self._pending.begin(data, press=True)
            await self._keep(inbox, self.raw("INTERACTION_CREATE", data, channel, at, now))
            answer = last_answer(data)
        await self._reply(data, answer)

    async def _reply(self, data: dict[str, Any], answer: dict[str, Any]) -> None:
        try:
            await self._respond(data, answer)
            self._pending.acknowledged(data)
        except PlatformError as error:
            log.warning("interaction_answer_failed", account=self._account, error=str(error))

    async def _pressed_card(
        self, inbox: Inbox, data: dict[str, Any], channel: ChannelRef
    ) -> tuple[Card, Callable[[str], str]] | None:
        """Return the pressed message's card and its tokens; None if no agent listens to it."""
        _, target, _ = press_target(data)
        try:
            message = await inbox.message_of(channel, target) if target else None
        except BridgeError as error:
            log.warning("interaction_unknown", account=self._account, error=str(error))
            return None
        if message is None or self._cards.live_tokens(message) is None:
            return None
        card, _ = self._cards.read(message)
        return card, self._cards.tokens(message)

    def _note_event(self, now: float) -> None:
        since = self.state.connected_since
        self.state = Health("connected", since if since is not None else now, now, self._note())

    def _learn(self, inbox: Inbox, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "READY":
                self._session = str(data.get("session_id"))
                user, app = data.get("user"), data.get("application")
                if isinstance(user, dict) and isinstance(app, dict):
                    name = str(user.get("username") or "")
                    self._bot.learn(str(user.get("id")), str(app.get("id")), name)
                now = self._clock.time()
                self.state = Health("connected", now, now, self._note())
                log.info("gateway_session_began", account=self._account)
                inbox.session_began(self._account)
            case "RESUMED":
                log.info("gateway_resumed", account=self._account)
            case "GUILD_CREATE":
                self._places.learn_guild(data)
            case "THREAD_LIST_SYNC":
                self._places.learn_guild({"threads": data.get("threads")})
            case "THREAD_CREATE" | "THREAD_UPDATE" | "CHANNEL_CREATE" | "CHANNEL_UPDATE":
                self._places.learn_channel(data)
            case "WEBHOOKS_UPDATE":
                self._webhooks.distrust(str(data.get("channel_id")))
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" if isinstance(data.get("role"), dict):
                self._places.learn_name(data["role"])
            case _:
                pass

    async def _learn_title(self, thread: str) -> None:
        """Look up a forum post's name unless it is cached."""
        try:
            await self._places.learn_name_of(thread)
        except PlatformError as error:
            log.warning(
                "title_lookup_failed", account=self._account, thread=thread, error=str(error)
            )

    async def _channel_of(self, kind: str, data: dict[str, Any]) -> ChannelRef | None:
        """Return the event's channel; None if look-ups fail, and catch-up reads the event later."""
        guild, channel_id = data.get("guild_id"), data.get("channel_id")
        if kind.startswith("THREAD_"):
            channel_id = data.get("parent_id")
        elif kind.startswith("CHANNEL_"):
            channel_id = data.get("id")
        if not isinstance(channel_id, str) or not isinstance(guild, str | None):
            return None
        if data.get("channel_type") in DIRECT_TYPES:
            guild = None
        elif data.get("channel_type", 11) not in THREAD_TYPES:
            return ids.channel_ref(guild, channel_id)
        for attempt in range(_LOOK_UPS):
            try:
                return await self._places.channel_of(guild, channel_id)
            except PlatformError as error:
                log.warning(
                    "channel_lookup_failed",
                    account=self._account,
                    channel=channel_id,
                    error=str(error),
                )
                await self._clock.sleep(min(2.0**attempt, _LONGEST_PAUSE_S))
        self._missed += 1
        return None

    async def learn(self, channel: ChannelRef, message: dict[str, Any]) -> None:
        """Look up what `raw` needs to know of a message: who owns its webhook."""
        if isinstance(webhook := message.get("webhook_id"), str):
            await self._webhooks.learn(channel, webhook)

    def raw(
        self,
        kind: str,
        data: dict[str, Any],
        channel: ChannelRef,
        at: str,
        received_at: float | None,
        *,
        changed: Sequence[str] = (),
    ) -> Raw:
        """Return the inbox row of one gateway dispatch.

        A message has the same keys live and read back. `at` (session and sequence number) is the
        key of events without an id; a resumed session repeats it. The receive time is in seconds
        since 1970.
        """
        content = data.get("content")
        identity = self._bot.cached
        own: dict[str, str | bool] = (
            {"user": identity.user, "application": identity.application} if identity else {}
        )
        if isinstance(webhook := data.get("webhook_id") or data.get("owner_id"), str):
            own["webhook"] = self._webhooks.is_ours(webhook)
            own["bridge"] = self._webhooks.is_of_a_bridge(webhook)
        if kind == UNPINNED and str(data.get("id")) in self._own_unpins:
            own["unpinned"] = True
        secret = data.get("token") if kind == "INTERACTION_CREATE" else None
        if isinstance(secret, str):
            data = {name: value for name, value in data.items() if name != "token"}
        wrapped: dict[str, Any] = {"d": data, "own": own, "at": received_at}
        if isinstance(content, str) and (names := ids_in_text(content)):
            wrapped["names"] = self._places.names_of(names)
        if _begins_post(kind, data) and (names := self._places.names_of([data["id"]])):
            wrapped["title"] = names[data["id"]]
        if changed:
            wrapped["changed"] = list(changed)
        if kind == "THREAD_CREATE" and self._places.is_forum(str(data.get("parent_id"))):
            wrapped["forum"] = True
        message = str(data.get("message_id") or data.get("id") or (data.get("ids") or ["0"])[0])
        key = ids.order_key(message) if kind == "MESSAGE_CREATE" else ids.order_key_after(message)
        return Raw(
            account=self._account,
            kind=kind,
            dedupe_key=_dedupe_key(kind, data, message, at),
            order_key=key,
            channel=channel,
            volatile=kind == "TYPING_START",
            # A webhook post carries no id of ours, so its operation is unknown.
            echo=Echo(receipt=Receipt(native_id=message))
            if kind == "MESSAGE_CREATE" and own.get("webhook")
            else None,
            payload=orjson.dumps(wrapped),
            credentials={"/d/token": secret} if isinstance(secret, str) else {},
            credentials_ttl=_INTERACTION_S,
        )

    async def _keep_soon(self, inbox: Inbox, raw: Raw) -> None:
        """Keep the row in a task of its own: rows of different channels share a transaction, and
        those of one channel follow one another. Waits while too many are being kept."""
        await self._free.acquire()
        task = asyncio.create_task(self._keep_in_order(inbox, raw), name="discord row")
        self._rows.add(task)
        task.add_done_callback(self._row_over)

    def _row_over(self, task: asyncio.Task[None]) -> None:
        self._rows.discard(task)
        self._free.release()

    async def _keep_in_order(self, inbox: Inbox, raw: Raw) -> None:
        async with self._channels.hold(raw.channel):
            await self._keep(inbox, raw)

    async def _keep(self, inbox: Inbox, raw: Raw) -> bool:
        """Offer the row to the inbox until it accepts it, because Discord does not send it again.

        Returns what `Inbox.accept` returns.
        """
        pause = 0.1
        while True:
            try:
                accepted = await inbox.accept(raw)
            except Exception as error:  # noqa: BLE001 - supervising: log any failure, wait, try again
                waiting = self._frames.qsize() + max(len(self._rows), 1)
                self._trouble = f"the inbox fails ({error}); {waiting} frames wait"
                self.state = replace(self.state, note=self._note())
                log.error("inbox_write_failed", account=self._account, error=str(error))  # noqa: TRY400
                await self._clock.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
            else:
                if self._trouble:
                    self._trouble = ""
                    self.state = replace(self.state, note=self._note())
                return accepted

    def _note(self) -> str:
        if self._trouble:
            return self._trouble
        if self._missed:
            return f"{self._missed} frames missed; catch-up reads them back"
        return (
            f"Discord sends messages without their text; {_INTENT_TODO}"
            if self._content_hidden
            else ""
        )


def _is_relevant(kind: str, data: dict[str, Any], changed: Sequence[str]) -> bool:
    if kind == "MESSAGE_UPDATE":  # a link preview is not an edit
        return (bool(data.get("edited_timestamp")) and "content" in data) or has_result(data)
    return kind not in _UPDATES or bool(changed)


def _begins_post(kind: str, data: dict[str, Any]) -> bool:
    """The first message of a forum post has the post's id."""
    own_id = data.get("id")
    begins = isinstance(own_id, str) and data.get("channel_id") == own_id
    return begins and kind in ("MESSAGE_CREATE", "MESSAGE_UPDATE")


def has_result(data: dict[str, Any]) -> bool:
    """Return whether the message is a poll with final results."""
    poll = data.get("poll")
    results = poll.get("results") if isinstance(poll, dict) else None
    return isinstance(results, dict) and results.get("is_finalized") is True


def _dedupe_key(kind: str, data: dict[str, Any], message: str, at: str) -> str:
    match kind:
        case "MESSAGE_CREATE":
            return f"create:{message}"
        case "INTERACTION_CREATE":
            return f"interaction:{data.get('id')}"
        case "MESSAGE_UPDATE" if has_result(data):
            return f"poll:{message}"
        case "MESSAGE_UPDATE":
            return f"update:{message}:{data.get('edited_timestamp')}"
        case "MESSAGE_DELETE":
            return f"delete:{message}"
        case "MESSAGE_PINNED":
            return f"pinned:{message}:{at}"
        case "THREAD_CREATE" if data.get("newly_created"):
            return f"thread:{message}"
        case "THREAD_DELETE":
            return f"thread deleted:{message}"
        case _:
            return f"{kind}:{at}"

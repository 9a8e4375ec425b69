"""Another bridge that sends as one of our accounts is noticed; then we stop sending there.

Two bridges with the same tokens and different stores post everything twice, and neither store tells
it. What does tell it is a new post of our own account whose operation our store does not know.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Protocol

import orjson
import structlog

from bridge.errors import BridgeError, UndecodableEvent
from bridge.model import AccountId, ChannelRef, Echo, MessageId, MessagePosted, Raw
from bridge.model.refs import join_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import Signal, UnknownPost

log = structlog.get_logger()

_INSTANCE = "instance"
_STOPPED = "sending stopped"
# New posts that name no store, or ours (it was copied), until it is believed that another bridge
# made them. One that names another store is enough.
_UNKNOWN_POSTS = 3
_WITHIN = 600.0  # seconds between the first and the last of them
_MOST_DOUBTED = 200  # posts of an account that may still be known in a moment
_LOOKS = 4  # times that a post is looked for in the store while its lane is at work
_TOLD_AGAIN = 5  # times that the rooms are told that the other bridge still sends


@dataclass(frozen=True)
class SendingStopped:
    """Since when (seconds since 1970) we do not send through an account, and the id of the other
    bridge's store, where its posts name it."""

    since: float
    other: str = ""


@dataclass(frozen=True)
class _Doubted:
    """A post of ours that does not say which operation made it; the store is asked at `due`."""

    channel: ChannelRef
    native_id: str
    due: float
    looks: int = 0


@dataclass(frozen=True)
class _Seen:
    at: float
    native_id: str
    other: str


async def instance_of(store: KeyValueStore, new_id: Callable[[], str]) -> str:
    """The id of this store, made at its first start. Posts name it, where the platform keeps what
    nobody sees."""
    found = await store.get_value(ROUTER_VALUES, _INSTANCE)
    if found is None:
        found = new_id()[:12]
        await store.put_value(ROUTER_VALUES, _INSTANCE, found)
    return found


async def resume_sending(store: KeyValueStore, account: AccountId) -> bool:
    """Forget that sending was stopped, in the store alone; False where it was not."""
    if await store.get_value(ROUTER_VALUES, _key(account)) is None:
        return False
    await store.remove_value(ROUTER_VALUES, _key(account))
    return True


class _OtherBridgesStore(KeyValueStore, MessageStore, OutboxStore, Protocol):
    """What `OtherBridges` needs of the store."""


class OtherBridges:
    """Judges our accounts' new posts; `instance` is the id of our store. `stopped` are the accounts
    through which nothing is sent: it is changed here, and the lanes read it.

    Only posts made after our start count: what a store from a backup, or a new one, does not know
    of the time before is no evidence.
    """

    def __init__(
        self,
        store: _OtherBridgesStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        notices: Notices,
        clock: Clock,
        policy: Timeouts,
        reconnect: Callable[[AccountId, float], None],
        stopped: dict[AccountId, SendingStopped],
        unknown_post: Signal[UnknownPost],
        sending_resumed: Signal[AccountId],
    ) -> None:
        self._reconnect = reconnect
        self._tasks: set[asyncio.Task[None]] = set()
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._notices = notices
        self._clock = clock
        self._policy = policy
        self.instance = ""
        self._since: defaultdict[AccountId, float] = defaultdict(lambda: self._started)
        self._started = clock.time()
        self._stopped = stopped
        self._seen: defaultdict[AccountId, list[_Seen]] = defaultdict(list)
        self._doubted: defaultdict[AccountId, deque[_Doubted]] = defaultdict(
            lambda: deque(maxlen=_MOST_DOUBTED)
        )
        self._told: defaultdict[AccountId, int] = defaultdict(int)
        self._told_at = 0.0
        self.examined = 0  # posts of ours that were looked for in the store
        self._sending_resumed = sending_resumed
        unknown_post.subscribe(self._unknown_post)

    def is_stopped(self, account: AccountId) -> bool:
        """Whether nothing is sent through the account."""
        return account in self._stopped

    def note(self, account: AccountId) -> str:
        """Why nothing is sent through the account; empty where it is."""
        stopped = self._stopped.get(account)
        if stopped is None:
            return ""
        other = f" (store {stopped.other})" if stopped.other else ""
        since = datetime.fromtimestamp(stopped.since, UTC)
        return (
            f"sends nothing since {since:%Y-%m-%d %H:%M} UTC: another bridge{other} sends with the "
            f"same tokens; stop one of the two, then run: uacs-bridge account resume {account}"
        )

    async def start(self) -> None:
        self.instance = await self._store.get_value(ROUTER_VALUES, _INSTANCE) or ""
        for account in self._connectors:
            if found := await self._store.get_value(ROUTER_VALUES, _key(account)):
                self._stopped[account] = SendingStopped(**orjson.loads(found))
                log.error("sending_stopped", account=account, why=self.note(account))

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def run(self) -> None:
        """Until cancelled: look for posts that did not say which operation made them."""
        while True:
            await self._clock.sleep(self._policy.other_bridge_look)
            for account in list(self._doubted):
                try:
                    await self._look_at(account)
                except BridgeError as error:
                    log.warning("own_posts_check_failed", account=account, error=str(error))

    async def heard(self, raw: Raw, echo: Echo) -> None:
        """A post of our account came back."""
        if raw.channel is None or echo.receipt is None:
            return
        if echo.operation is None:
            due = self._clock.time() + self._policy.other_bridge_wait
            self._doubted[raw.account].append(_Doubted(raw.channel, echo.receipt.native_id, due))
            return
        self.examined += 1
        if not await self._store.knows_operation(echo.operation):
            try:
                events = self._connectors[raw.account].decode(raw)
            except UndecodableEvent:
                return
            for event in events:
                if isinstance(event, MessagePosted):
                    await self._unknown_post(UnknownPost(event, echo.bridge))

    async def _unknown_post(self, post: UnknownPost) -> None:
        """Our account posted it, and no operation that we know of did."""
        event, other = post.event, post.other
        if event.time.timestamp() >= self._since[event.account]:
            self._note(event.account, event.place.channel, event.native_id, other)

    async def resume(self, account: AccountId) -> bool:
        """Send again through the account; False where it was not stopped."""
        was = self._stopped.pop(account, None)
        await resume_sending(self._store, account)
        self._since[account] = self._clock.time()
        self._seen.pop(account, None)
        self._doubted.pop(account, None)
        self._told.pop(account, None)
        if was is None:
            return False
        log.info("sending_resumed", account=account)
        metrics.SENDING_STOPPED.labels(account).set(0)
        await self._sending_resumed.emit(account)
        return True

    async def _look_at(self, account: AccountId) -> None:
        """A post whose answer is on its way, or was lost, is known when its lane has settled it."""
        now, doubted = self._clock.time(), self._doubted[account]
        for _ in range(len(doubted)):
            if doubted[0].due > now:
                break
            one = doubted.popleft()
            self.examined += 1
            if await self._store.resolve(one.channel, one.native_id) is not None:
                continue
            head = await self._store.head(one.channel.lane)
            if head is not None and head.state == "sending":
                if one.looks < _LOOKS:
                    due = now + self._policy.other_bridge_wait
                    doubted.append(_Doubted(one.channel, one.native_id, due, one.looks + 1))
                continue
            self._note(account, one.channel, one.native_id, "")

    def _note(self, account: AccountId, channel: ChannelRef, native_id: str, other: str) -> None:
        now = self._clock.time()
        if account in self._stopped:
            self._tell_again(account, channel)
            return
        seen = [
            one
            for one in self._seen[account]
            if one.at > now - _WITHIN and one.native_id != native_id
        ]
        seen.append(_Seen(now, native_id, other if other != self.instance else ""))
        self._seen[account] = seen
        log.warning("own_post_unknown", account=account, channel=channel.key, other=other)
        named = [one.other for one in seen if one.other]
        if named or len(seen) >= _UNKNOWN_POSTS:
            self._stop(account, channel, named[-1] if named else "")

    def _stop(self, account: AccountId, channel: ChannelRef, other: str) -> None:
        now = self._clock.time()
        stopped = self._stopped[account] = SendingStopped(now, other)
        self._told_at = now
        log.error("other_bridge_detected", account=account, other=other, own=self.instance)
        metrics.SENDING_STOPPED.labels(account).set(1)
        platform = platform_name(self._connectors, self._connectors[account].capabilities.platform)
        text = (
            f"⚠️ Another bridge posts to {platform} with the same tokens, so messages arrive twice. "
            f"This bridge has stopped posting to {platform}; what is said meanwhile waits. Whoever "
            "runs the bridges: stop one of the two, then run for the other: "
            f"uacs-bridge account resume {account}"
        )
        own_id = notice_id("other_bridge", account, f"{now:.3f}")
        self._announce(account, channel, own_id, text, stopped)

    def _tell_again(self, account: AccountId, channel: ChannelRef) -> None:
        """The other may not have noticed us: our words are a post of ours, too."""
        now, times = self._clock.time(), self._told[account]
        if times >= _TOLD_AGAIN or now - self._told_at < self._policy.other_bridge_wait:
            return
        self._told[account], self._told_at = times + 1, now
        since = f"{self._stopped[account].since:.3f}"
        own_id = notice_id("other_bridge", account, since, str(times))
        self._announce(account, channel, own_id, "The other bridge still posts here.")

    def _announce(
        self,
        account: AccountId,
        channel: ChannelRef,
        own_id: MessageId,
        text: str,
        stopped: SendingStopped | None = None,
    ) -> None:
        """Beside what tells us: that is a connection which ends now."""
        work = self._keep_and_tell(account, channel, own_id, text, stopped)
        task = asyncio.create_task(work, name="another bridge")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_and_tell(
        self,
        account: AccountId,
        channel: ChannelRef,
        own_id: MessageId,
        text: str,
        stopped: SendingStopped | None,
    ) -> None:
        """In the room in which it was noticed. A platform that gives each event to one connection
        gives our words to the other bridge if ours is closed."""
        try:
            if stopped is not None:
                kept = orjson.dumps(asdict(stopped)).decode()
                await self._store.put_value(ROUTER_VALUES, _key(account), kept)
            if self._stopped.get(account, SendingStopped(0.0)).other:
                self._reconnect(account, self._policy.other_bridge_away)
                await self._clock.sleep(self._policy.other_bridge_away / 2)
            for room in self._rooms.holding(channel)[:1]:
                await self._notices.say(
                    own_id, text, room.id, room.listeners(), timeline=room.timeline
                )
        except BridgeError as error:
            log.error("stop_notice_failed", account=account, error=str(error))  # noqa: TRY400


def _key(account: AccountId) -> str:
    return join_key(_STOPPED, account)

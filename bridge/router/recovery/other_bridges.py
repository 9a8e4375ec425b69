"""Another bridge that sends as one of our accounts is noticed; then we stop sending there.

Two bridges with the same tokens and different stores post everything twice, and neither store tells
it. What does tell it is a new post of our own account whose operation our store does not know.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Protocol

import orjson
import structlog

from bridge.errors import BridgeError
from bridge.model import AccountId, ChannelRef, Echo, MessageId, MessagePosted, OperationId, Raw
from bridge.model.refs import join_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.outbound.own_posts import OwnPosts
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.decoding import readable_events
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
_MOST_REPEATS = 5  # notices that the other bridge still sends


@dataclass(frozen=True)
class SendingStopped:
    """Since when (seconds since 1970) we do not send through an account, and the id of the other
    bridge's store, where its posts name it."""

    since: float
    other: str = ""


@dataclass(frozen=True)
class _DoubtedPost:
    """A post of ours that does not say which operation made it; the store is asked at `due`."""

    channel: ChannelRef
    native_id: str
    due: float
    looks: int = 0


@dataclass(frozen=True)
class _UnknownPost:
    at: float
    native_id: str
    other: str


async def instance_of(store: KeyValueStore, new_id: Callable[[], str]) -> str:
    """Return the id of this store, made at its first start. Posts name it, where the platform keeps
    metadata that nobody sees. Raises StoreError."""
    instance = await store.get_value(ROUTER_VALUES, _INSTANCE)
    if instance is None:
        instance = await store.put_first_value(ROUTER_VALUES, _INSTANCE, new_id()[:12])
    return instance


async def resume_sending(store: KeyValueStore, account: AccountId) -> bool:
    """Forget in the store that sending was stopped. Returns False where it was not. Raises
    StoreError."""
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
        clock: Clock,
        timeouts: Timeouts,
        stopped: dict[AccountId, SendingStopped],
        own_posts: OwnPosts,
        notices: StopNotices,
        sending_resumed: Signal[AccountId],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._clock = clock
        self._timeouts = timeouts
        self._own_posts = own_posts
        self._notices = notices
        self.instance = ""
        self._since: defaultdict[AccountId, float] = defaultdict(lambda: self._started)
        self._started = clock.time()
        self._stopped = stopped
        self._unknown_posts: defaultdict[AccountId, list[_UnknownPost]] = defaultdict(list)
        self._doubted: defaultdict[AccountId, deque[_DoubtedPost]] = defaultdict(
            lambda: deque(maxlen=_MOST_DOUBTED)
        )
        self.examined = 0  # posts of ours that were looked for in the store
        self._sending_resumed = sending_resumed

    def is_stopped(self, account: AccountId) -> bool:
        """Whether nothing is sent through the account."""
        return account in self._stopped

    def note(self, account: AccountId) -> str:
        """Return why nothing is sent through the account; empty where messages are sent."""
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
        await self.load(self._connectors)

    async def load(self, accounts: Iterable[AccountId]) -> None:
        """Read through which of these accounts nothing is sent. Raises StoreError."""
        for account in accounts:
            if value := await self._store.get_value(ROUTER_VALUES, _key(account)):
                self._stopped[account] = SendingStopped(**orjson.loads(value))
                log.error("sending_stopped", account=account, why=self.note(account))

    async def close(self) -> None:
        """Stop."""
        await self._notices.close()

    async def run(self) -> None:
        """Look for posts that did not say which operation made them, until cancelled."""
        while True:
            await self._clock.sleep(self._timeouts.other_bridge_look)
            for account in list(self._doubted):
                try:
                    await self._look_at(account)
                except BridgeError as error:
                    log.warning("own_posts_check_failed", account=account, error=str(error))

    async def echo_received(self, raw: Raw, echo: Echo) -> None:
        """Judge a post of our account that came back. Raises StoreError."""
        if raw.channel is None or echo.receipt is None:
            return
        if echo.operation is None:
            due = self._clock.time() + self._timeouts.other_bridge_wait
            self._doubted[raw.account].append(
                _DoubtedPost(raw.channel, echo.receipt.native_id, due)
            )
            return
        self.examined += 1
        if not await self._is_ours(echo.operation):
            for event in readable_events(self._connectors[raw.account], raw):
                if isinstance(event, MessagePosted):
                    await self.unknown_post(UnknownPost(event, echo.bridge))

    async def _is_ours(self, operation: OperationId) -> bool:
        return self._own_posts.are_of(operation) or await self._store.knows_operation(operation)

    async def unknown_post(self, post: UnknownPost) -> None:
        """Judge a post of our account that no operation of this store made."""
        event, other = post.event, post.other
        if event.time.timestamp() >= self._since[event.account]:
            self._note(event.account, event.place.channel, event.native_id, other)

    async def resume(self, account: AccountId) -> bool:
        """Send again through the account. Returns False where it was not stopped. Raises
        StoreError."""
        await resume_sending(self._store, account)
        return await self.resumed_elsewhere(account)

    async def resumed_elsewhere(self, account: AccountId) -> bool:
        """Send again through the account: the store says so already."""
        was = self._stopped.pop(account, None)
        self._since[account] = self._clock.time()
        self._unknown_posts.pop(account, None)
        self._doubted.pop(account, None)
        self._notices.forget(account)
        if was is None:
            return False
        log.info("sending_resumed", account=account)
        metrics.SENDING_STOPPED.labels(account).set(0)
        await self._sending_resumed.emit(account)
        return True

    async def _look_at(self, account: AccountId) -> None:
        """A post whose answer is on its way, or was lost, is known when its lane has settled it."""
        now, posts = self._clock.time(), self._doubted[account]
        for _ in range(len(posts)):
            if posts[0].due > now:
                break
            doubted_post = posts.popleft()
            self.examined += 1
            if await self._stands(doubted_post.channel, doubted_post.native_id):
                continue
            head = await self._store.head(doubted_post.channel.lane)
            if head is not None and head.state == "sending":
                if doubted_post.looks < _LOOKS:
                    due = now + self._timeouts.other_bridge_wait
                    posts.append(
                        _DoubtedPost(
                            doubted_post.channel,
                            doubted_post.native_id,
                            due,
                            doubted_post.looks + 1,
                        )
                    )
                continue
            self._note(account, doubted_post.channel, doubted_post.native_id, "")

    async def _stands(self, channel: ChannelRef, native_id: str) -> bool:
        """Whether a native message is known to be a post of ours."""
        if self._own_posts.include(channel, native_id):
            return True
        return await self._store.resolve(channel, native_id) is not None

    def _note(self, account: AccountId, channel: ChannelRef, native_id: str, other: str) -> None:
        now = self._clock.time()
        if account in self._stopped:
            self._notices.post_reminder(account, channel, self._stopped[account])
            return
        unknown_posts = [
            post
            for post in self._unknown_posts[account]
            if post.at > now - _WITHIN and post.native_id != native_id
        ]
        unknown_posts.append(_UnknownPost(now, native_id, other if other != self.instance else ""))
        self._unknown_posts[account] = unknown_posts
        log.warning("own_post_unknown", account=account, channel=channel.key, other=other)
        named = [post.other for post in unknown_posts if post.other]
        if named or len(unknown_posts) >= _UNKNOWN_POSTS:
            self._stop(account, channel, named[-1] if named else "")

    def _stop(self, account: AccountId, channel: ChannelRef, other: str) -> None:
        now = self._clock.time()
        stopped = self._stopped[account] = SendingStopped(now, other)
        log.error("other_bridge_detected", account=account, other=other, own=self.instance)
        metrics.SENDING_STOPPED.labels(account).set(1)
        self._notices.post(account, channel, stopped)


class StopNotices:
    """Keeps in the store that sending was stopped, and tells the room where it was noticed."""

    def __init__(
        self,
        store: KeyValueStore,
        rooms: Rooms,
        connectors: Mapping[AccountId, Connector],
        notices: Notices,
        reconnect: Callable[[AccountId, float], None],
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._connectors = connectors
        self._notices = notices
        self._reconnect = reconnect
        self._clock = clock
        self._timeouts = timeouts
        self._repeats: defaultdict[AccountId, int] = defaultdict(int)
        self._last_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def post(self, account: AccountId, channel: ChannelRef, stopped: SendingStopped) -> None:
        """Keep the stop, and post why nothing is sent, in the background: the caller may be a
        connection that ends now."""
        self._last_at = stopped.since
        platform = platform_name(self._connectors, self._connectors[account].capabilities.platform)
        text = (
            f"⚠️ Another bridge posts to {platform} with the same tokens, so messages arrive twice. "
            f"This bridge has stopped posting to {platform}; messages wait meanwhile. Whoever runs "
            "the bridges: stop one of the two, then run for the other: "
            f"uacs-bridge account resume {account}"
        )
        own_id = notice_id("other_bridge", account, f"{stopped.since:.3f}")
        self._spawn(self._keep_and_post(account, channel, own_id, text, stopped, keep=True))

    def post_reminder(
        self, account: AccountId, channel: ChannelRef, stopped: SendingStopped
    ) -> None:
        """Post now and then that the other bridge still sends: it may not have noticed this one,
        and this notice is a post of our account, too."""
        now, repeats = self._clock.time(), self._repeats[account]
        if repeats >= _MOST_REPEATS or now - self._last_at < self._timeouts.other_bridge_wait:
            return
        self._repeats[account], self._last_at = repeats + 1, now
        own_id = notice_id("other_bridge", account, f"{stopped.since:.3f}", str(repeats))
        text = "The other bridge still posts here."
        self._spawn(self._keep_and_post(account, channel, own_id, text, stopped, keep=False))

    def forget(self, account: AccountId) -> None:
        """Count the notices of this account anew: it sends again."""
        self._repeats.pop(account, None)

    async def close(self) -> None:
        """Stop; notices that are not posted yet are not posted."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="another bridge")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_and_post(
        self,
        account: AccountId,
        channel: ChannelRef,
        own_id: MessageId,
        text: str,
        stopped: SendingStopped,
        *,
        keep: bool,
    ) -> None:
        """A platform that gives each event to one connection gives this notice to the other bridge
        if our connection is closed."""
        try:
            if keep:
                value = orjson.dumps(asdict(stopped)).decode()
                await self._store.put_value(ROUTER_VALUES, _key(account), value)
            if stopped.other:
                self._reconnect(account, self._timeouts.other_bridge_away)
                await self._clock.sleep(self._timeouts.other_bridge_away / 2)
            for room in self._rooms.holding(channel)[:1]:
                await self._notices.post(
                    own_id, text, room.id, room.listeners(), timeline=room.timeline
                )
        except BridgeError as error:
            log.error("stop_notice_failed", account=account, error=str(error))  # noqa: TRY400


def _key(account: AccountId) -> str:
    return join_key(_STOPPED, account)

"""How the last process stopped or gave an account up, and what it may have left open: how long live
events wait for missed ones, and whether one before them may come later, depends on it."""

from __future__ import annotations

import json
from collections.abc import Collection

from bridge.model import AccountId, ChannelRef, join_key
from bridge.ports.clock import Clock
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.router.runtime.timeouts import Timeouts

# Seconds for which a platform may hand events to the connection of a process that died or stopped:
# until it is closed for want of answers, or the process goes on and closes it.
_LEFT_OPEN = 120.0
_STOPPED = "stopped"  # a value between a clean stop and the next start

AccountChannel = tuple[AccountId, str]  # a channel, by its key, as one account receives it


class LastStop:
    """What the last process noted for this one, and this one for the next: when it stopped
    receiving, and which channels it had not read to their end. A crash leaves no note."""

    def __init__(self, store: KeyValueStore, clock: Clock, timeouts: Timeouts) -> None:
        self._store = store
        self._clock = clock
        self._timeouts = timeouts
        # When the last process stopped, and when it gave an account up, if it noted that.
        self._stopped: float | None = None
        self._given_up: dict[AccountId, float] = {}
        self._taken: dict[AccountId, float] = {}
        self._unread: set[AccountChannel] = set()
        # Until when a process that died or was stopped may have left a connection of an account
        # open, and whether the platform counts one.
        self._left_open: dict[AccountId, float] = {}
        self._shared: set[AccountId] = set()
        self._started = self._stopping_at = clock.time()

    # --- what the last process noted --------------------------------------------------------------

    async def start(self) -> None:
        """Read how the last process stopped. The note is removed: a crash leaves none. Raises
        StoreError."""
        value = await self._store.get_value(ROUTER_VALUES, _STOPPED)
        await self._store.remove_value(ROUTER_VALUES, _STOPPED)
        if value is not None:
            note = json.loads(value)
            self._stopped = float(note["at"])
            self._unread = {(AccountId(account), key) for account, key in note["unread"]}

    async def take(self, account: AccountId) -> None:
        """Read how another process gave the account up. The note is removed: a crash leaves none.
        Raises StoreError."""
        key = _given_up(account)
        value = await self._store.get_value(ROUTER_VALUES, key)
        self._given_up.pop(account, None)
        self._left_open[account] = self._clock.time() + _LEFT_OPEN
        if value is not None:
            await self._store.remove_value(ROUTER_VALUES, key)
            note = json.loads(value)
            self._given_up[account] = float(note["at"])
            self._unread |= {(account, channel) for channel in note["unread"]}
            self._left_open[account] = float(note.get("left_open", 0.0))
        self._taken[account] = self._clock.time()

    def live_wait(self, account: AccountId, channel: ChannelRef, *, first: bool) -> float:
        """How long live events wait for the platform's limits. Shorter in the `first` session after
        a clean stop a moment ago: only messages of that moment may have been missed."""
        stopped, began = self._stopped, self._started
        if account in self._taken:
            stopped, began = self._given_up.get(account), self._taken[account]
        was_read = (account, channel.key) not in self._unread
        if (
            stopped is None
            or not (first and was_read)
            or began - stopped > self._timeouts.clean_stop
        ):
            return self._timeouts.live_wait
        return self._timeouts.live_wait_after_clean_stop

    # --- other connections of an account ----------------------------------------------------------

    def note_connections(self, account: AccountId, *, alone: bool) -> None:
        """Note whether the platform counts our connection of the account alone. Another one is
        taken for that of a process which did not give the account up, for it died or was stopped a
        moment ago; or for one of our own, which we have just lost."""
        (self._shared.discard if alone else self._shared.add)(account)

    def may_share(self, account: AccountId) -> bool:
        """Whether another connection of the account, which nobody reads, may still be open."""
        left_open = self._left_open.get(account, 0.0)
        return account in self._shared and self._clock.time() < left_open

    # --- what this process notes for the next -----------------------------------------------------

    def receivers_stop(self) -> None:
        """Note that nothing is received from now on."""
        self._stopping_at = self._clock.time()

    async def note_stop(self, unread: Collection[AccountChannel]) -> None:
        """Leave the note of a clean stop. Raises StoreError."""
        note = json.dumps({"at": self._stopping_at, "unread": sorted(unread)})
        await self._store.put_value(ROUTER_VALUES, _STOPPED, note)

    async def give_up(self, account: AccountId, unread: Collection[str]) -> None:
        """Leave the note of an account that another process reads from now on; `unread` are keys of
        its channels. Raises StoreError."""
        self._unread = {known for known in self._unread if known[0] != account}
        left_open = self._left_open.pop(account, 0.0)
        note = {"at": self._clock.time(), "unread": sorted(unread), "left_open": left_open}
        await self._store.put_value(ROUTER_VALUES, _given_up(account), json.dumps(note))


def _given_up(account: AccountId) -> str:
    """The key of the note of a process that gave an account up."""
    return join_key("given up", account)

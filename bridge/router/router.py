"""The facade of the router: what it is made of, how it runs, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from bridge.model import AccountId, Event, Raw
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.ports.tools import Toolbox
from bridge.ports.traces import Tracer
from bridge.router.operations import Operations
from bridge.router.reconfigure import Reconfigure
from bridge.router.rooms.programs import raw_of
from bridge.router.runtime.alone import Alone
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.sharing import Sharing
from bridge.router.turns.tools import NoTools
from bridge.router.wiring import Configuration, ContentServices, Dependencies, wire, wire_inbox


class Router:
    """Routes events of connectors to channels and agents.

    - `inbox`: what connectors call.
    - `operations`: what the web server, the API and commands use.
    - `reconfigure`: what a reload uses.
    - `sharing`: what comes to this process and goes from it where many share the store.
    - `signals`: what other parts may subscribe to.
    """

    def __init__(
        self,
        *,
        store: Store,
        connectors: Mapping[AccountId, Connector],
        agents: Mapping[str, Agent],
        configuration: Configuration,
        clock: Clock,
        timeouts: Timeouts | None = None,
        content: ContentServices | None = None,
        tools: Toolbox | None = None,
        tracer: Tracer | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        shared = Dependencies(
            store, connectors, agents, configuration.rooms, list(configuration.admins), clock,
            timeouts or Timeouts(), content or ContentServices(), tools or NoTools(),
            tracer=tracer, cluster=cluster or Alone(),
        )  # fmt: skip
        self._shared = shared
        self.signals = shared.signals
        self.parts = wire(shared, configuration)
        self.inbox = wire_inbox(shared, self.parts)
        self.operations = Operations(store, shared.content.cards, self.parts)
        self.reconfigure = Reconfigure(shared, self.parts, self.inbox)
        self.sharing = Sharing(shared, self.parts, self.reconfigure, self.inbox)
        self._watches: list[asyncio.Task[None]] = []

    async def process_event(self, event: Event, key: str) -> str | None:
        """Process an event of a program. Returns its outcome, or None if the key is a repeat. Once
        the store has accepted the event, cancelling the call does not undo it."""
        work = self._process_outside(raw_of(event, key))
        return await asyncio.shield(self._shared.background.spawn(work, "outside"))

    async def _process_outside(self, raw: Raw) -> str | None:
        if not self.parts.rooms.responsibility.is_ours(raw):
            handed_on = await self._shared.cluster.hand_on(raw)
            return handed_on and await self._shared.cluster.outcome_of(handed_on)
        row = await self._shared.store.accept(raw, advance=False)
        if row is None:
            return None
        with self.parts.inbound.processor.outcome_of(row) as outcome:
            self.parts.inbound.queues.put(row)
            return await outcome

    # --- Life --------------------------------------------------------------------------------

    async def run(self, ready: Callable[[], None] | None = None) -> None:
        """Run until cancelled; then let calls that have begun finish, within `Timeouts.drain`
        seconds. `ready` is called when all accounts receive; where many processes share the store,
        when the router can take some of them."""
        await self._prepare()
        if not self._shared.cluster.is_shared:
            await self._resume()
        if ready:
            ready()
        try:
            await asyncio.Event().wait()
        finally:
            await self._stop()

    async def _prepare(self) -> None:
        """Read what is kept in memory, and begin what looks after the accounts."""
        recovery = self.parts.recovery
        await self.sharing.load()
        await recovery.last_stop.start()
        await recovery.other_bridges.start()
        await recovery.watchdog.start()
        self._watches = [
            asyncio.create_task(recovery.watchdog.run(), name="watchdog"),
            asyncio.create_task(recovery.other_bridges.run(), name="other bridges"),
        ]

    async def _resume(self) -> None:
        """Continue with the rows, operations and turns of the last run."""
        recovery, accounts = self.parts.recovery, self._shared.connectors
        channels = {account: recovery.reader.inbound_channels(account) for account in accounts}
        recovery.catch_up.await_sessions(channels)
        await self.parts.inbound.orphans.start()
        self._watches += [
            asyncio.create_task(recovery.catch_up.stop_awaiting(accounts), name="first sessions"),
            asyncio.create_task(self.parts.outbound.delays.watch(), name="lateness"),
            asyncio.create_task(self.parts.turns.departures.watch(), name="idle agents"),
        ]
        for row in await self._shared.store.waiting_rows():
            self.parts.inbound.queues.put(row)
        await self.parts.outbound.failures.start()
        await recovery.backfill.start()
        await self.parts.outbound.replay.start()
        self.reconfigure.announce_rooms()
        await self.parts.outbound.lanes.start()
        await self.parts.turns.queue.start()
        await self.parts.inbound.feedback.start()
        for account, connector in accounts.items():
            self.reconfigure.start_account(account, connector)

    async def _stop(self) -> None:
        inbound, recovery, background = (
            self.parts.inbound, self.parts.recovery, self._shared.background
        )  # fmt: skip
        # The receivers end later: some platforms answer calls over the connection of the events.
        # Whose store refuses it waits for nothing: others work for it.
        drain = self._shared.timeouts.drain if self._shared.cluster.is_alive else 0.0
        await self.parts.outbound.lanes.close(drain)
        recovery.last_stop.receivers_stop()
        inbound.queues.keep_held()
        background.cancel()
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(
            inbound.receivers.close(), background.wait(), *self._watches, return_exceptions=True
        )
        await background.wait()  # what is being kept just now
        await self.parts.turns.queue.close()
        await inbound.feedback.close()
        await self.inbox.close()
        await inbound.queues.close()
        await inbound.orphans.close()
        await recovery.backfill.close()
        await self.parts.outbound.replay.close()
        await self.sharing.close()
        await inbound.fetcher.close()
        await self.parts.rooms.linking.close()
        await recovery.other_bridges.close()
        await recovery.catch_up.close()
        await recovery.watchdog.close()
        await self.parts.outbound.rate_limits.close()

    async def settled(self, *, poll: float = 0.01) -> None:
        """Wait until no row, operation or turn is left, looking every `poll` seconds; for scripts
        and tests."""
        queues, lanes, turns = (
            self.parts.inbound.queues, self.parts.outbound.lanes, self.parts.turns.queue
        )  # fmt: skip
        while not (queues.idle and lanes.idle and turns.idle and self._shared.background.idle):
            await self._shared.clock.sleep(poll)

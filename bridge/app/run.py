"""Runs a bridge until a signal stops it: web server, router, background tasks, and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from bridge.app.archive.accesses import AccessLog
from bridge.app.archive.erasing import clean_up, clean_up_regularly
from bridge.app.build import Bridge, build
from bridge.app.checks.readiness import watch_readiness
from bridge.app.cluster.member import RELOAD, Member
from bridge.app.control import ControlAccess
from bridge.app.installs.renewal import renew_regularly
from bridge.app.logs.repeats import tell_repeats
from bridge.app.reload import Reloader
from bridge.app.room_changes.direct import DirectRooms
from bridge.app.room_changes.linker import AppLinker
from bridge.app.room_changes.patterns import follow_patterns
from bridge.app.settings.needs import check_purpose
from bridge.app.settings.sections import Settings
from bridge.app.watch.event_loop import measure_lag
from bridge.app.watch.retention import prune_daily, retention_of
from bridge.app.watch.sweep import sweep_daily
from bridge.app.web.server import WebServer, web_app
from bridge.errors import BridgeError, StoreError
from bridge.model.assignments import UPKEEP
from bridge.model.erasure_records import Retention
from bridge.router.runtime.background import Background
from bridge.runtime.memory import settle_memory, settle_more, uncollected

log = structlog.get_logger()

T = TypeVar("T")
_ANEW = 1.0  # seconds between two attempts to begin anew


async def run(
    settings: Settings,
    *,
    ready: Callable[[Bridge, str], None] | None = None,
    source: Callable[[], Settings] | None = None,
    ask_agents: bool = True,
    alone: bool = False,
) -> None:
    """Run a bridge until SIGINT, SIGTERM or cancellation.

    `ready` is called with the bridge and the URL of its web server. `source` reads the settings
    again, for a reload by command or SIGHUP. `ask_agents`: whether agents' APIs are checked at the
    start. `alone`: nothing else runs in this process, so its garbage collection is the bridge's.

    Raises:
        ConfigError: The configuration has no accounts or rooms, or a part cannot be built.
    """
    check_purpose(settings)
    with stop_signals() as stop, hangups() as hung_up:
        run_once = partial(_run_once, stop, hung_up, ready, source, ask_agents, alone, settings)
        goes_on = await run_once()
        while goes_on and not stop.is_set():
            log.warning("bridge_begins_anew", why="the other processes held this one for dead")
            try:
                goes_on = await run_once()
            except StoreError as error:
                log.error("store_unavailable", error=str(error))  # noqa: TRY400
                await _wait_for_any(asyncio.ensure_future(asyncio.sleep(_ANEW)), stop)


async def _run_once(
    stop: asyncio.Event,
    hung_up: asyncio.Event,
    ready: Callable[[Bridge, str], None] | None,
    source: Callable[[], Settings] | None,
    ask_agents: bool,
    alone: bool,
    settings: Settings,
) -> bool:
    """Run until it stops; True where it must begin anew, because others took over its work."""
    with uncollected():
        bridge = await _result_unless_stopped(stop, build(settings))
    if bridge is None:
        return False
    if alone:
        settle_more()
    # While nothing else works with the store: it may have to be written anew.
    await clean_up(bridge.store, bridge.files.blobs, alone=bridge.member is None)
    bridge.router.reconfigure.use_linker(AppLinker(bridge))
    DirectRooms(bridge).listen()
    reloader = Reloader(bridge, source, settle_more if alone else lambda: None)
    bridge.reload, bridge.installs.apply = reloader.reload, reloader.follow_tenants
    control = ControlAccess.new()
    server = WebServer(web_app(bridge, control), settings.web.host, settings.web.port)
    try:
        await server.start()
        process = bridge.member.process if bridge.member else ""
        control.open(settings.store.path, server.url, process)
        log.info("bridge_started", accounts=list(bridge.connectors), web=server.url)
        running = asyncio.Event()
        router_task = asyncio.create_task(
            bridge.router.run(partial(_mark_running, bridge, server, running, ready, alone))
        )
        once_for_all = partial(_while_ours, bridge.member)
        tasks = [
            asyncio.create_task(work)
            for work in (
                tell_repeats(),
                bridge.watch.run(),
                measure_lag(),
                once_for_all(partial(_sweep, bridge)),
                once_for_all(partial(_clean_up, bridge)),
                once_for_all(partial(_prune, bridge)),
                follow_patterns(bridge),
                watch_readiness(bridge, ask=ask_agents),
                _reload_at(hung_up, bridge),
                bridge.installs.follow(),
                once_for_all(partial(renew_regularly, bridge.installs)),
                _take_part(bridge, reloader, running),
            )
        ]
        try:
            await _wait_for_any(router_task, stop, *([bridge.member.lost] if bridge.member else []))
        finally:
            if bridge.member is not None and stop.is_set():
                await _leave(bridge, bridge.member)
            elif bridge.member is not None:  # what still comes here is for the others
                await bridge.router.sharing.stop_receiving()
            bridge.running = False
            await server.stop()
            for task in (router_task, *tasks):
                await _cancel_and_wait(task)
    finally:
        control.close()
        await bridge.close()
        log.info("bridge_stopped")
    return bridge.member is not None and bridge.member.lost.is_set()


async def _take_part(bridge: Bridge, reloader: Reloader, running: asyncio.Event) -> None:
    """Share the work with the other processes, once the router runs."""
    if bridge.member is None:
        return

    changes = Background()  # platforms may be asked: nothing else waits for that

    async def revised(topic: str) -> None:
        if topic == "rooms":
            changes.spawn(reloader.follow_others(), "rooms of others")
        elif topic == RELOAD:
            changes.spawn(reloader.follow_reload(), "reload of others")

    await running.wait()
    try:
        await bridge.member.run(bridge.router.sharing, revised)
    finally:
        changes.cancel()
        await changes.wait()


async def _leave(bridge: Bridge, member: Member) -> None:
    """Hand the work over to the other processes; what is not handed over they take soon."""
    try:
        await member.leave(bridge.router.sharing)
    except BridgeError as error:
        log.warning("work_not_handed_over", error=str(error))


async def _while_ours(member: Member | None, begin: Callable[[], Awaitable[None]]) -> None:
    """Do what is done once for the whole store while that is the work of this process."""
    if member is None:
        await begin()
        return
    while True:
        await member.until(UPKEEP, owned=True)
        work = asyncio.ensure_future(begin())
        try:
            await member.until(UPKEEP, owned=False)
        finally:
            await _cancel_and_wait(work)


def _mark_running(
    bridge: Bridge,
    server: WebServer,
    running: asyncio.Event,
    ready: Callable[[Bridge, str], None] | None,
    alone: bool,
) -> None:
    bridge.running = True
    running.set()
    if alone:
        settle_memory()
    if ready is not None:
        ready(bridge, server.url)


def warn_of_renamed_keys(path: Path, settings: Settings) -> None:
    """Log a warning with the configuration file's keys that were renamed in this version."""
    if settings.renamed_keys:
        keys = [f"{key.path} -> {key.new_key}" for key in settings.renamed_keys]
        log.warning("settings_renamed", path=str(path), keys=keys, works="until the next version")


async def _sweep(bridge: Bridge) -> None:
    settings = bridge.settings
    days = settings.files.keep_unused_days
    blobs, agents = bridge.files.blobs, bridge.agents
    await sweep_daily(bridge.store, blobs, bridge.clock, days, agents.values)


async def _clean_up(bridge: Bridge) -> None:
    """Finish the erasures whose traces could not be overwritten at once."""
    await clean_up_regularly(bridge.store, bridge.files.blobs, bridge.clock)


async def _prune(bridge: Bridge) -> None:
    def policy() -> Retention:
        return retention_of(bridge.settings, bridge.rooms.all)

    def prune_accesses() -> None:
        if days := bridge.settings.archive.access_log_days:
            AccessLog(bridge.settings.store.path).prune(days, bridge.clock.time())

    await prune_daily(bridge.store, bridge.files.blobs, bridge.clock, policy, prune_accesses)


async def _reload_at(hung_up: asyncio.Event, bridge: Bridge) -> None:
    """Reload the configuration at each SIGHUP; `Bridge.reload` logs the errors of the file."""
    while True:
        await hung_up.wait()
        hung_up.clear()
        with contextlib.suppress(BridgeError):
            await bridge.reload()


@contextlib.contextmanager
def hangups() -> Generator[asyncio.Event]:
    """An event that SIGHUP sets, for a reload of the configuration once everything runs."""
    hung_up = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)
    try:
        yield hung_up
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


@contextlib.contextmanager
def stop_signals() -> Generator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set; the second signal ends the program at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopping(number: signal.Signals) -> None:
        log.info("bridge_stopping", signal=number.name)
        stop.set()
        loop.remove_signal_handler(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, stopping, number)
    try:
        yield stop
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def _result_unless_stopped(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The work's result; None if the stop came first, which cancels the work."""
    working = asyncio.ensure_future(work)
    try:
        await _wait_for_any(working, stop)
    finally:
        if not working.done():
            await _cancel_and_wait(working)
    return None if working.cancelled() else working.result()


async def _cancel_and_wait(task: asyncio.Future[T]) -> None:
    """Cancel the task once and wait for its end: a second cancellation would interrupt its
    cleanup."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def _wait_for_any(working: asyncio.Future[T], *ends: asyncio.Event) -> None:
    """Wait until the work is done or one of `ends` is set; raises the work's exception."""
    ending = [asyncio.create_task(end.wait()) for end in ends]
    try:
        await asyncio.wait({working, *ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in ending:
            task.cancel()
    if working.done():
        working.result()

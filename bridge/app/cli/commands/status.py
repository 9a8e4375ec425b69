"""`uacs-bridge status`: accounts from the running bridge, everything else from the store."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import age, bytes_text, counted, heading, print_json, table
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings
    from bridge.ports.store.whole import Store

_QUIET = 600.0  # seconds without events after which an open connection may be stalled
_UP = ("connected", "listening")

Facts: TypeAlias = dict[str, Any]


@click.command("status")
@config_option
@json_option
def command(config: Path, as_json: bool) -> None:
    """Show accounts, queues and the oldest waiting operations.

    Works while the bridge runs and while it does not; changes nothing.

    \b
    Examples:
      uacs-bridge status -c bridge.yaml
      uacs-bridge status --json
    """
    facts = asyncio.run(_facts(config))
    if as_json:
        print_json(facts)
    else:
        click.echo("\n".join(_lines(facts)))


async def _facts(config: Path) -> dict[str, Any]:
    settings, wrong, running, health_body = await asyncio.to_thread(_of_file, config)

    from bridge.app.cli.commands.quota import quota_usage
    from bridge.app.cli.commands.stores import reading

    accounts = {name: entry.platform for name, entry in settings.accounts.items()}
    if wrong:
        accounts = {
            name: facts["platform"] for name, facts in health_body.get("accounts", {}).items()
        }
    from bridge.app.opening import size_of

    async with reading(settings.store) as store:
        size, bucket = await size_of(settings.store), settings.store.blobs
        status = await store.status()
        failed = await store.failed_rows(5)
        spent = await quota_usage(store)
        processes = await processes_of(store)
    now = time.time()
    health = health_body.get("accounts", {})
    stalled = [name for name in accounts if _is_stalled(health.get(name, {}), now)]
    return {
        "running": running,
        "problems": health_body.get("problems", []),
        "accounts": {
            name: {"platform": platform, **health.get(name, {"state": "stopped"})}
            for name, platform in accounts.items()
        },
        **({} if processes is None else {"processes": processes}),
        "stalled": stalled,
        "deaf": stalled,  # the member's name of the version before, until the next version
        "inbox": dict(status.inbox),
        "outbox": dict(status.outbox),
        "turns": dict(status.turns),
        "messages": status.messages,
        "size": {**dataclasses.asdict(size), "bucket": bucket and bucket.url},
        "spent": spent,
        "lanes": [
            {"lane": lane.lane, "account": lane.account, "waiting": lane.waiting,
             "state": lane.state, "age": round(now - lane.oldest, 1), "error": lane.error}
            for lane in status.lanes
        ],
        "failed_events": [
            {"row": row.id, "account": row.raw.account, "kind": row.raw.kind, "error": error}
            for row, error in failed
        ],
    }  # fmt: skip


async def processes_of(store: Store) -> list[Facts] | None:
    """The processes that share the store; None where one has it for itself."""
    from bridge.ports.store.cluster import HasClusterState

    if not isinstance(store, HasClusterState):
        return None
    state = await store.cluster_state()
    return [
        {
            "id": process.id, "name": process.name, "version": process.version,
            "started": process.started, "stopping": process.stopping,
            "starting": process.starting,
            "assignments": {
                name: assigned.epoch
                for name, assigned in sorted(state.assigned.items())
                if assigned.process == process.id
            },
        }
        for process in state.processes
    ] or None  # fmt: skip


def _of_file(config: Path) -> tuple[Settings, bool, Facts | None, Facts]:
    """The settings, whether the file is invalid, the running bridge and its /healthz.

    With an invalid file the settings have the store only, because a running bridge continues with
    the last valid file. Raises ConfigError for an invalid file if no bridge runs.
    """
    from bridge.app.settings.yaml_file import store_named_in

    try:
        settings = settings_from(config)
    except ConfigError:
        store = store_named_in(config)
        running, health_body = _running(store)
        if running is None:
            raise

        from bridge.app.settings.sections import Settings
        from bridge.app.settings.store import StoreSettings

        return Settings(store=StoreSettings(path=store)), True, running, health_body
    running, health_body = _running(settings.store.path)
    return settings, False, running, health_body


def _running(store: Path) -> tuple[Facts | None, Facts]:
    """The bridge that runs with this store, and its /healthz; None and {} if none does."""
    from bridge.app.control import running_bridge
    from bridge.errors import BridgeError

    bridge = running_bridge(store)
    if bridge is None:
        return None, {}
    try:
        return {"pid": bridge.pid, "url": bridge.url}, bridge.ask("/healthz")
    except BridgeError as error:
        return {"pid": bridge.pid, "url": bridge.url}, {"problems": [str(error)]}


def _is_stalled(health: Mapping[str, Any], now: float) -> bool:
    """Whether an account is connected without events for long: its channels are quiet, or its
    connection is dead."""
    last = health.get("last_event_at") or health.get("connected_since")
    return health.get("state") == "connected" and last is not None and now - last > _QUIET


def _lines(status: Mapping[str, Any]) -> Iterator[str]:
    running = status["running"]
    yield heading("Bridge")
    yield f"  running, pid {running['pid']}, {running['url']}" if running else "  not running"
    yield from (f"  problem: {text}" for text in status["problems"])
    yield "\n" + heading("Accounts")
    now = time.time()
    yield table(
        ("account", "platform", "state", "for", "last event", "note"),
        [_account(name, facts, now) for name, facts in status["accounts"].items()],
    )
    for name, facts in status["accounts"].items():
        if progress := facts.get("catching_up"):
            yield from progress_lines(name, progress)
    for name in status["stalled"]:
        yield (
            f"  {name} may be stalled: write in one of its channels; if the bridge does not "
            "receive that, restart it and run `uacs-bridge check`"
        )
    if processes := status.get("processes"):
        yield "\n" + heading("Processes that share the store")
        yield table(
            ("process", "host", "version", "for", "works for (epoch)"),
            [_process(facts, now) for facts in processes],
        )
    yield "\n" + heading("Queues")
    yield f"  inbox     {counted(status['inbox'])}"
    yield f"  outbox    {counted(status['outbox'])}"
    yield f"  turns     {counted(status['turns'])}"
    yield f"  messages  {status['messages']}"
    yield "\n" + heading("Store")
    size = status["size"]
    yield f"  database  {bytes_text(size['database'])}, of which {bytes_text(size['free'])} free"
    yield f"  log       {bytes_text(size['log'])}"
    if size["bucket"] is not None:
        yield f"  files     in {size['bucket']}"  # to count them takes a request for each 1,000
    else:
        yield f"  files     {bytes_text(size['files'])} in {size['file_count']:,} files"
    if status["spent"]:
        yield "\n" + heading("What agents cost in 24 hours")
        from bridge.app.cli.commands.quota import usage_rows

        rows = usage_rows(status["spent"])
        yield table(("quota", "messages", "tokens", "money"), rows)
    yield "\n" + heading("Waiting longest, lane by lane")
    yield table(
        ("lane", "account", "waiting", "state", "age", "error"),
        [
            (lane["lane"], lane["account"], lane["waiting"], lane["state"], age(lane["age"]),
             lane["error"] or "-")
            for lane in status["lanes"]
        ],
    )  # fmt: skip
    if status["failed_events"]:
        yield "\n" + heading("Events that could not be decoded (the first few)")
        rows = [(f["row"], f["account"], f["kind"], f["error"]) for f in status["failed_events"]]
        yield table(("row", "account", "kind", "error"), rows)
        yield "  After an upgrade that can decode them: uacs-bridge dead-letters retry-events"
    if status["outbox"].get("dead") or status["outbox"].get("unproved"):
        yield "\n  See `uacs-bridge dead-letters list` for what was not delivered."


def progress_lines(name: str, progress: Mapping[str, Any]) -> Iterator[str]:
    """Lines about how far an account has caught up after it was not connected."""
    channels, unread = progress["channels"], progress["unread"]
    uncompared, left = progress["uncompared"], progress["seconds_left"]
    yield (
        f"  {name} catches up: messages read in {channels - unread} of {channels} "
        f"channels; edits, deletions, reactions and pins compared in {channels - uncompared}; "
        + ("time left not known yet" if left is None else f"about {age(left)} left")
    )
    waiting = list(progress["waiting"])
    more = max(unread or uncompared, len(waiting)) - len(waiting)
    yield f"    next: {', '.join(waiting)}" + (f" and {more} more" if more else "")


def _process(facts: Mapping[str, Any], now: float) -> tuple[str, ...]:
    works_for = ", ".join(f"{name} ({epoch})" for name, epoch in facts["assignments"].items())
    return (
        facts["id"],
        facts["name"],
        facts["version"],
        age(now - facts["started"]),
        "stops" if facts["stopping"] else "starts" if facts["starting"] else works_for or "-",
    )


def _account(name: str, facts: Mapping[str, Any], now: float) -> tuple[str, ...]:
    since, last_event = facts.get("connected_since"), facts.get("last_event_at")
    up = facts["state"] in _UP
    return (
        name,
        facts["platform"],
        facts["state"],
        age(now - since) if since and up else "-",
        f"{age(now - last_event)} ago" if last_event else "-",
        facts.get("failed") or facts.get("note") or "-",
    )

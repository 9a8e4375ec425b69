"""A changed configuration file -> the running bridge, without a stop.

Accounts that did not change keep their connections. A file that is wrong changes nothing, and what
is wrong with it is said in the log, by `status` and to whoever asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import structlog

from bridge.app.build import (
    Bridge,
    agent_pictures,
    allowances_of,
    build_agents,
    build_connectors,
    email_key,
    find_rooms,
    groups_of,
)
from bridge.app.checks.needs import check_needs, check_purpose
from bridge.app.settings.file import Settings
from bridge.app.settings.secrets import Tokens
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId
from bridge.ports.connector import Connector

log = structlog.get_logger()

KEPT = "the configuration file is wrong, the last good one holds"
# Read when the bridge starts.
_AT_START = ("store", "web", "files", "log", "catch_up", "delivery")
_AT_ONCE = ("admins", "direct", "people", "policies")


class Reloader:
    """One reload at a time; `source` reads and checks the file."""

    def __init__(self, bridge: Bridge, source: Callable[[], Settings]) -> None:
        self._bridge = bridge
        self._source = source
        self._one_at_a_time = asyncio.Lock()

    async def reload(self) -> list[str]:
        """What changed, in words. Raises ConfigError, and then nothing did."""
        async with self._one_at_a_time:
            try:
                new = await asyncio.to_thread(self._source)
                check_purpose(new)
                await check_needs(new, Tokens(self._bridge.store))
                changes = await self._change(new)
            except BridgeError as error:
                log.error("configuration_kept", error=str(error))  # noqa: TRY400
                told = f"{KEPT}: {error}"
                others = (p for p in self._bridge.problems if not p.startswith(KEPT))
                self._bridge.problems[:] = [*others, told]
                raise ConfigError(told) from error
            log.info("configuration_reloaded", changes=changes)
            return changes

    async def _change(self, new: Settings) -> list[str]:
        bridge, old = self._bridge, self._bridge.settings
        changed = {
            AccountId(name) for name in old.accounts | new.accounts
            if old.accounts.get(name) != new.accounts.get(name)
        }  # fmt: skip
        fresh = await asyncio.to_thread(
            build_connectors, new, bridge.store, bridge.clock, only=changed, files=bridge.files,
            instance=bridge.router.other_bridges.instance,
        )  # fmt: skip
        problems: list[str] = []
        try:
            agents = await asyncio.to_thread(
                build_agents, new, bridge.store, bridge.clock, bridge.files
            )
            kept = {a: c for a, c in bridge.connectors.items() if a not in changed}
            rooms = await find_rooms(new, {**kept, **fresh}, bridge.store, problems)
            await bridge.tools.change(new.tools)
        except BaseException:
            for connector in fresh.values():
                await connector.close()
            raise
        await self._swap(changed, fresh)
        bridge.agents.clear()
        bridge.agents.update(agents)
        bridge.router.change_rooms(rooms)
        bridge.router.references.groups = groups_of(new)
        bridge.router.linking.email_key = email_key(new)
        for account, connector in fresh.items():
            bridge.router.start_account(account, connector)
        bridge.settings = new
        bridge.router.admins[:] = new.admins
        bridge.router.allowances = allowances_of(new)
        bridge.pictures.change(await asyncio.to_thread(agent_pictures, new, problems))
        bridge.problems[:] = problems
        return [*await asyncio.to_thread(_told, old, new), *problems]

    async def _swap(self, changed: set[AccountId], fresh: Mapping[AccountId, Connector]) -> None:
        """Those that are gone or changed end; from then on their new ones send."""
        for account in changed & self._bridge.connectors.keys():
            await self._bridge.router.receivers.stop(account)
            ended = self._bridge.connectors.pop(account)
            if account in fresh:
                self._bridge.connectors[account] = fresh[account]
            await self._bridge.router.let_go(ended)
            await ended.close()
        self._bridge.connectors.update(fresh)


def _told(old: Settings, new: Settings) -> list[str]:
    """What is different, a line for each account, room, agent and part."""
    found: list[str] = []
    for section in ("accounts", "rooms", "agents", "tools"):
        before, after = getattr(old, section), getattr(new, section)
        for name in sorted(before | after):
            if before.get(name) == after.get(name):
                continue
            what = "added" if name not in before else "changed" if name in after else "removed"
            found.append(f"{section.removesuffix('s')} {name!r} {what}")
    found += [f"{part} changed" for part in _AT_ONCE if getattr(old, part) != getattr(new, part)]
    found += [
        f"{section} changed: it takes a restart"
        for section in _AT_START
        if getattr(old, section) != getattr(new, section)
    ]
    return found

"""Applies a changed configuration file to the running bridge.

Accounts that did not change stay connected. An invalid file changes nothing; the log, `status` and
the command show its errors.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog

from bridge.app.build import (
    Bridge,
    agent_pictures,
    build_agents,
    build_connectors,
    email_key,
    groups_of,
    quotas_of,
    reload_unavailable,
    tenancy_of,
)
from bridge.app.cluster.member import RELOAD
from bridge.app.rooms.guests import guests_of, with_guests
from bridge.app.settings.needs import check_needs, check_purpose
from bridge.app.settings.secrets import SecretReader
from bridge.app.settings.sections import Settings
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId
from bridge.ports.connector import Connector
from bridge.router.wiring import Configuration
from bridge.runtime.memory import uncollected
from bridge.tools.mcp_server import McpServer

log = structlog.get_logger()

LAST_VALID_STAYS = "the configuration file is not valid, so the last valid one stays in effect"
# Sections that are read only when the bridge starts.
_AT_START = ("store", "web", "files", "log", "traces", "catch_up", "delivery")
_AT_ONCE = ("admins", "direct", "people", "policies", "installs")


class Reloader:
    """Reloads one at a time; `source` reads and validates the file, and `settled` is called after
    rooms or agents alone have changed. Also lets the accounts follow the tenants that come and
    go."""

    def __init__(
        self,
        bridge: Bridge,
        source: Callable[[], Settings] | None = None,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        self._bridge = bridge
        self._source = source
        self._settled = settled
        self._one_at_a_time = asyncio.Lock()

    async def reload(self) -> list[str]:
        """Apply the file, and let the other processes of a cluster apply theirs; returns a text for
        each changed part.

        Raises:
            ConfigError: The file is not valid, and nothing changed.
        """
        changes = await self._reload()
        if self._bridge.member is not None:
            await self._bridge.member.tell(RELOAD)
        return changes

    async def follow_reload(self) -> None:
        """Apply the file, because another process did; the log has the errors of the file."""
        with contextlib.suppress(BridgeError):
            await self._reload()

    async def _reload(self) -> list[str]:
        if self._source is None:
            return await reload_unavailable()
        async with self._one_at_a_time:
            try:
                file = await asyncio.to_thread(self._source)
                check_purpose(file)
                await check_needs(file, SecretReader(self._bridge.store))
                changes = await self._change(await self._whole(file), file)
                self._bridge.file_settings = file
            except BridgeError as error:
                log.error("configuration_rejected", error=str(error))  # noqa: TRY400
                rejection = f"{LAST_VALID_STAYS}: {error}"
                others = (p for p in self._bridge.problems if not p.startswith(LAST_VALID_STAYS))
                self._bridge.problems[:] = [*others, rejection]
                raise ConfigError(rejection) from error
            log.info("configuration_reloaded", changes=changes)
            return changes

    async def follow_tenants(self, renewed: frozenset[AccountId]) -> list[str]:
        """Let accounts and rooms follow the stored tenants; `renewed` are built anew. Agents and
        tools stay as they are. Returns a text for each changed part.

        Raises:
            BridgeError: nothing changed.
        """
        async with self._one_at_a_time:
            file = self._bridge.file_settings
            return await self._change(
                await self._whole(file), file, renewed=renewed, same_agents=True
            )

    async def follow_others(self) -> None:
        """Let rooms, guests and tenants follow what other processes of the cluster stored."""
        async with self._one_at_a_time:
            file = self._bridge.file_settings
            try:
                new = await self._whole(file)
                same_agents = new.agents == self._bridge.settings.agents
                await self._change(new, file, same_agents=same_agents)
            except BridgeError as error:
                log.warning("rooms_not_followed", error=str(error))

    async def _whole(self, file: Settings) -> Settings:
        """The settings of the file with guests and tenants."""
        guests = await guests_of(self._bridge.store)
        return await self._bridge.installs.accounts_in(with_guests(file, guests))

    async def _change(
        self,
        new: Settings,
        file: Settings,
        *,
        renewed: frozenset[AccountId] = frozenset(),
        same_agents: bool = False,
    ) -> list[str]:
        """Apply the settings. Returns a text for each changed part."""
        with uncollected():
            changes, accounts = await self._apply(new, file, renewed, same_agents)
            if not accounts:  # those that ended are garbage
                self._settled()
        return changes

    async def _apply(
        self, new: Settings, file: Settings, renewed: frozenset[AccountId], same_agents: bool
    ) -> tuple[list[str], set[AccountId]]:
        """Apply the settings. Returns a text for each changed part, and the accounts that are
        others."""
        bridge, old = self._bridge, self._bridge.settings
        changed = {
            AccountId(name) for name in old.accounts | new.accounts
            if old.accounts.get(name) != new.accounts.get(name) or name in renewed
        }  # fmt: skip
        fresh = await asyncio.to_thread(
            build_connectors, new, bridge.store, bridge.clock, only=changed, files=bridge.files,
            instance=bridge.router.operations.instance,
            tenancy_of=partial(tenancy_of, bridge.installs, file),
        )  # fmt: skip
        problems: list[str] = []
        ended: dict[AccountId, Connector] = {}
        try:
            agents = bridge.agents.copy() if same_agents else await asyncio.to_thread(
                build_agents, new, bridge.store, bridge.clock, bridge.files
            )  # fmt: skip
            unchanged = {a: c for a, c in bridge.connectors.items() if a not in changed}
            connectors = {**unchanged, **fresh}
            version, missing = bridge.rooms.version, list[str]()
            rooms = await bridge.finder.find(new, connectors, missing, bridge.rooms)
            pictures = await asyncio.to_thread(agent_pictures, new, problems)
            quotas = await asyncio.to_thread(quotas_of, new, bridge.installs)
            changes = await asyncio.to_thread(_changes_between, old, new)
            servers = bridge.tools.prepare(new.tools)
            for account in changed & bridge.connectors.keys():
                ended[account] = bridge.connectors[account]
                await bridge.router.reconfigure.stop_account(account)
            while bridge.rooms.version != version:  # a command or a message changed them meanwhile
                version, missing = bridge.rooms.version, []
                rooms = await bridge.finder.find(new, connectors, missing, bridge.rooms)
        except BaseException:
            for account, connector in ended.items():
                bridge.router.reconfigure.start_account(account, connector)
            for connector in fresh.values():
                await connector.close()
            raise
        # Nothing is awaited from here to the end of the swap: it happens wholly, or not at all.
        for account in ended.keys() - fresh.keys():
            del bridge.connectors[account]
        bridge.connectors.update(fresh)
        bridge.agents.clear()
        bridge.agents.update(agents)
        closing = bridge.tools.use(servers)
        bridge.pictures.change(pictures)
        bridge.settings = new
        configuration = Configuration(
            rooms, new.admins, groups_of(new), email_key(new), quotas,
            bridge.installs.paces(new.installs),
        )  # fmt: skip
        bridge.router.reconfigure.apply(configuration)
        problems[:0] = missing
        bridge.problems[:] = problems
        await self._end(ended, fresh, closing)
        return [*changes, *problems], changed

    async def _end(
        self,
        ended: Mapping[AccountId, Connector],
        fresh: Mapping[AccountId, Connector],
        tool_servers: Sequence[McpServer],
    ) -> None:
        """Close removed and changed parts, then receive through the new connectors. Errors of
        closing are only logged, because the new configuration is in effect already."""
        reconfigure = self._bridge.router.reconfigure
        try:
            for account, connector in ended.items():
                try:
                    await reconfigure.let_go(connector)
                    await connector.close()
                except Exception:
                    log.exception("old_connection_close_failed", account=account)
            for server in tool_servers:
                try:
                    await server.close()
                except Exception:
                    log.exception("old_tool_server_close_failed", server=server.name)
        finally:
            for account, connector in fresh.items():
                reconfigure.start_account(account, connector)


def _changes_between(old: Settings, new: Settings) -> list[str]:
    """A text for each account, room, agent, tool server and section that differs."""
    changes: list[str] = []
    for section in ("accounts", "rooms", "agents", "tools"):
        before, after = getattr(old, section), getattr(new, section)
        for name in sorted(before | after):
            one, other = before.get(name), after.get(name)
            if one is other or one == other:
                continue
            change = "added" if name not in before else "changed" if name in after else "removed"
            changes.append(f"{section.removesuffix('s')} {name!r} {change}")
    changes += [f"{part} changed" for part in _AT_ONCE if getattr(old, part) != getattr(new, part)]
    changes += [
        f"{section} changed: takes effect after a restart"
        for section in _AT_START
        if getattr(old, section) != getattr(new, section)
    ]
    return changes

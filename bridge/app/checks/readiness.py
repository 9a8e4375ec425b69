"""Whether a running bridge's dependencies work: the APIs of agents, tool servers, and accounts'
permissions.

A bridge relays without them. So problems do not stop it: the log, `status` and /healthz show them
until they are solved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence

import structlog

from bridge.agents.settings import TurnSettings
from bridge.agents.transport.http import Request, bearer
from bridge.agents.transport.probe import probe
from bridge.app.build import Bridge
from bridge.app.checks.accounts import check_account
from bridge.app.rooms.find import DIRECT
from bridge.app.settings.needs import wrong_public_url
from bridge.app.settings.sections import Settings
from bridge.errors import BridgeError
from bridge.model import AccountId
from bridge.ports.agent import Agent, ChecksItself
from bridge.ports.connector import Connector
from bridge.ports.findings import Finding
from bridge.ports.secrets import SecretSource
from bridge.tools.mcp_server import missing_program
from bridge.tools.settings import ToolServerSettings

log = structlog.get_logger()

_AT_ONCE = 8  # APIs that are asked at the same time
_DEADLINE = 20.0  # seconds that one may take
UNREACHABLE = "its platform calls the bridge, and public_url is not set"
REACHABLE = "set web.public_url to the https:// address by which platforms reach this bridge"
_AGAIN = 60.0  # seconds after which those that were not ready are asked again
AFTER_START = 30.0  # seconds for which accounts connect and catch up, before they are looked at
_RARELY = 600.0  # ... after which accounts with which something is wrong are looked at again
_ACCOUNT_DEADLINE = 1800.0  # ... that it may take: a connector waits until its limits let it ask
_UP = ("connected", "listening")
TOOLS_TODO = "check that it runs by itself, and answers `initialize` and `tools/list`"


async def watch_readiness(bridge: Bridge, *, ask: bool = True) -> None:
    """Check everything at the start and after each change of the configuration, then parts that are
    not ready, until cancelled.

    `bridge.unready` has the problems. Without `ask` no request is sent: only local problems are
    found.
    """
    watch = _Watch(bridge)
    async with asyncio.TaskGroup() as group:
        group.create_task(watch.look_often(ask=ask), name="readiness")
        if ask:
            group.create_task(watch.look_rarely(), name="readiness of accounts")


class _Watch:
    """Checks agents and tools each minute. Checks accounts once, and every ten minutes while one
    has a problem, because the platforms count these requests."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._often: dict[str, str] = {}
        self._rarely: dict[str, str] = {}

    async def look_often(self, *, ask: bool) -> None:
        checked_settings: Settings | None = None
        while True:
            settings_changed = self._bridge.settings is not checked_settings
            checked_settings = self._bridge.settings
            self._often = await not_ready(
                self._bridge, None if settings_changed and ask else list(self._often)
            )
            self._publish()
            await self._bridge.clock.sleep(_AGAIN)

    async def look_rarely(self) -> None:
        """Check accounts once they are connected: an unconnected account reports that itself."""
        bridge, clock = self._bridge, self._bridge.clock
        checked_settings: Settings | None = None
        unchecked: set[AccountId] = set()
        again_at = 0.0
        await clock.sleep(AFTER_START)
        while True:
            if bridge.settings is not checked_settings:
                checked_settings, unchecked = bridge.settings, set(bridge.connectors)
                self._rarely = {
                    part: text for part, text in self._rarely.items()
                    if part in {f"accounts.{name}" for name in unchecked}
                }  # fmt: skip
                again_at = clock.monotonic() + _RARELY
            elif clock.monotonic() >= again_at:
                unchecked |= {
                    account
                    for account in bridge.connectors
                    if f"accounts.{account}" in self._rarely
                }
                again_at = clock.monotonic() + _RARELY
            for name in [
                account_id for account_id in sorted(unchecked) if _is_up(bridge, account_id)
            ]:
                unchecked.discard(name)
                try:
                    problems = await wrong_with_account(bridge, name)
                except Exception:  # the others are looked at all the same
                    log.exception("account_check_failed", account=name)
                    problems = {}
                self._rarely.pop(f"accounts.{name}", None)
                self._rarely |= problems
                self._publish()
            await clock.sleep(_AGAIN)

    def _publish(self) -> None:
        texts = {**self._rarely, **self._often}
        unready = self._bridge.unready
        for part, text in texts.items():
            if unready.get(part) != text:
                log.warning("part_not_ready", part=part, problem=text)
        for part in unready.keys() - texts.keys():
            log.info("part_ready", part=part)
        unready.clear()
        unready.update(texts)


async def not_ready(bridge: Bridge, only: Collection[str] | None = None) -> dict[str, str]:
    """Part -> its problem in one line, for addresses, agents and tool servers.

    `only`: ask only these agents, and start no tool server that was not started before.
    """
    settings, agents = bridge.settings, bridge.agents
    problems = dict(_unreachable(settings, bridge.connectors))
    asked_agents = {
        name: agent for name, agent in agents.items() if only is None or f"agents.{name}" in only
    }
    agent_findings, tools = await asyncio.gather(
        ask_agents(asked_agents), _wrong_tools(bridge, start=only is None)
    )
    for name, findings in agent_findings.items():
        errors = [finding for finding in findings if finding.level == "error"]
        if errors:
            problems[f"agents.{name}"] = f"agents.{name}: {errors[0].what}; {errors[0].todo}"
    return problems | tools


async def _wrong_tools(bridge: Bridge, *, start: bool) -> dict[str, str]:
    problems: dict[str, str] = {}
    servers = dict(bridge.tools.servers)
    for name in servers:
        if problem := missing_program(bridge.tools.settings[name]):
            problems[f"tools.{name}"] = f"tools.{name}: {problem}; correct `command`"
    startable = {
        name: server for name, server in servers.items() if f"tools.{name}" not in problems
    }
    if start:
        await asyncio.gather(*(server.proved() for server in startable.values()))
    for name, server in startable.items():
        if server.trouble:
            problems[f"tools.{name}"] = f"tools.{name}: {server.trouble}; {TOOLS_TODO}"
    return problems


async def wrong_with_account(bridge: Bridge, name: AccountId) -> dict[str, str]:
    """`accounts.NAME` -> the account's problems, as its platform reports them, in one line; empty
    without problems.

    Sends requests: some for the account, and one or more for each of its channels.
    """
    channels = [
        member.channel for room in bridge.rooms.all for member in room.members
        if member.account == name and not room.id.startswith(DIRECT)
    ]  # fmt: skip
    connector = bridge.connectors[name]
    unique = list(dict.fromkeys(channels))
    findings = await check_account(name, connector, unique, bridge.settings, _ACCOUNT_DEADLINE)
    errors = [finding for finding in findings if finding.level == "error"]
    if not errors:
        return {}
    more = f"; {len(errors) - 1} more: see `uacs-bridge check`" if len(errors) > 1 else ""
    part = f"accounts.{name}"
    return {part: f"{part}: {errors[0].what}; {errors[0].todo}{more}"}


def _is_up(bridge: Bridge, name: AccountId) -> bool:
    connector = bridge.connectors.get(name)
    if connector is None or bridge.router.operations.receive_fault(name):
        return False
    health = connector.abilities.health
    return health is None or health.current().state in _UP


def _unreachable(
    settings: Settings, connectors: Mapping[AccountId, Connector]
) -> Iterator[tuple[str, str]]:
    url = settings.web.public_url
    if url is not None and (problem := wrong_public_url(url)):
        yield "web.public_url", f"web.public_url: {problem}; {REACHABLE}"
    for name, connector in connectors.items():
        if url is None and calls_us(connector):
            yield f"accounts.{name}", f"accounts.{name}: {UNREACHABLE}; {REACHABLE}"


def calls_us(connector: Connector) -> bool:
    """Whether the account's platform sends requests to the bridge."""
    return connector.abilities.http is not None


async def ask_agents(agents: Mapping[str, Agent]) -> dict[str, Sequence[Finding]]:
    """One cheap request to the API of each agent; agents without an API have no findings."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def ask(agent: Agent) -> Sequence[Finding]:
        async with turn:
            return await _agent_findings(agent)

    findings = await asyncio.gather(*(ask(agent) for agent in agents.values()))
    return dict(zip(agents, findings, strict=True))


async def probe_address(server: ToolServerSettings, secrets: SecretSource) -> Sequence[Finding]:
    """Whether a tool server answers at its address."""

    async def request() -> Request:
        headers = {name: await secrets.secret(ref) for name, ref in server.headers.items()}
        bearer_of = bearer(await secrets.secret(server.bearer)) if server.bearer else {}
        accept = {"accept": "application/json, text/event-stream"}
        return Request(server.url or "", accept | headers | bearer_of, method="GET")

    return await probe(TurnSettings.model_validate({}), request)


async def _agent_findings(agent: Agent) -> Sequence[Finding]:
    if not isinstance(agent, ChecksItself):
        return ()
    try:
        async with asyncio.timeout(_DEADLINE):
            return await agent.check()
    except TimeoutError:
        problem = f"its API did not answer within {_DEADLINE:g} s"
        return [Finding("error", problem, "check the network, then try again")]
    except BridgeError as error:
        return [Finding("error", str(error), "correct it in the configuration")]

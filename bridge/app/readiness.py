"""What a bridge that runs needs of others: agents' APIs that answer, programs of tools that exist.

A bridge relays without them, so they are told and do not stop it: in the log, by `status` and by
/healthz, until they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence

import structlog

from bridge.agents.http import Request, bearer
from bridge.agents.probe import probe
from bridge.agents.settings import TurnSettings
from bridge.app.build import Bridge
from bridge.app.needs import wrong_public_url
from bridge.app.settings import Settings
from bridge.errors import BridgeError, StoreError
from bridge.model import AccountId, ChannelRef, Raw
from bridge.ports.agent import Agent, ChecksItself
from bridge.ports.connector import Connector, ServesHttp
from bridge.ports.findings import Finding
from bridge.ports.tokens import TokenSource
from bridge.tools.mcp_server import missing_program
from bridge.tools.settings import ToolServerSettings
from bridge.uacs import Message

log = structlog.get_logger()

_AT_ONCE = 8  # APIs that are asked at the same time
_DEADLINE = 20.0  # seconds that one may take
UNREACHABLE = "its platform calls the bridge, and public_url is not set"
REACHABLE = "set web.public_url to the https:// address by which platforms reach this bridge"
_AGAIN = 60.0  # seconds after which those that were not ready are asked again


async def watch_readiness(bridge: Bridge, *, ask: bool = True) -> None:
    """Ask all when the bridge starts and when its configuration changed, then those that were not
    ready, until cancelled. What is wrong stands in `bridge.unready`."""
    seen: Settings | None = None
    while True:
        anew = bridge.settings is not seen
        seen = bridge.settings
        only = None if anew and ask else list(bridge.unready)
        found = await not_ready(bridge, only)
        for part, text in found.items():
            if bridge.unready.get(part) != text:
                log.warning("not_ready", part=part, problem=text)
        for part in bridge.unready.keys() - found.keys():
            log.info("ready", part=part)
        bridge.unready.clear()
        bridge.unready.update(found)
        await asyncio.sleep(_AGAIN)


async def not_ready(bridge: Bridge, only: Collection[str] | None = None) -> dict[str, str]:
    """Part -> what is wrong with it, in one line. Of agents `only` these are asked, if given."""
    settings, agents = bridge.settings, bridge.agents
    found = dict(_unreachable(settings, bridge.connectors))
    for name, server in settings.tools.items():
        if problem := missing_program(server):
            found[f"tools.{name}"] = f"tools.{name}: {problem}; correct `command`"
    wanted = {
        name: agent for name, agent in agents.items() if only is None or f"agents.{name}" in only
    }
    for name, findings in (await ask_agents(wanted)).items():
        errors = [one for one in findings if one.level == "error"]
        if errors:
            found[f"agents.{name}"] = f"agents.{name}: {errors[0].what}; {errors[0].todo}"
    return found


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
    """Whether its platform sends us requests."""
    return isinstance(connector, ServesHttp) and bool(connector.routes(_NoInbox()))


class _NoInbox:
    """Routes are only counted: nothing arrives."""

    async def accept(self, raw: Raw) -> bool:
        raise StoreError("nothing is taken by one who only counts routes")

    def session_began(self, account: AccountId, channel: ChannelRef | None = None) -> None:
        return

    async def shown(self, channel: ChannelRef, native_id: str) -> Message | None:
        return None


async def ask_agents(agents: Mapping[str, Agent]) -> dict[str, Sequence[Finding]]:
    """One cheap request to the API of each; nothing of those without one."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def ask(agent: Agent) -> Sequence[Finding]:
        async with turn:
            return await _asked(agent)

    found = await asyncio.gather(*(ask(agent) for agent in agents.values()))
    return dict(zip(agents, found, strict=True))


async def probe_address(server: ToolServerSettings, tokens: TokenSource) -> Sequence[Finding]:
    """Whether a tool server answers at its address."""

    async def request() -> Request:
        headers = {name: await tokens.secret(ref) for name, ref in server.headers.items()}
        bearer_of = bearer(await tokens.secret(server.bearer)) if server.bearer else {}
        accept = {"accept": "application/json, text/event-stream"}
        return Request(server.url or "", accept | headers | bearer_of, method="GET")

    return await probe(TurnSettings.model_validate({}), request)


async def _asked(agent: Agent) -> Sequence[Finding]:
    if not isinstance(agent, ChecksItself):
        return ()
    try:
        async with asyncio.timeout(_DEADLINE):
            return await agent.check()
    except TimeoutError:
        what = f"its API did not answer within {_DEADLINE:g} s"
        return [Finding("error", what, "check the network, then try again")]
    except BridgeError as error:
        return [Finding("error", str(error), "correct it in the configuration")]

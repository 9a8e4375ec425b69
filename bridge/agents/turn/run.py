"""What every turn over a network has: a deadline, inputs, retries, and failures with a reason for
people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import structlog

from bridge.agents.settings import TurnSettings
from bridge.agents.transport.api_errors import turn_failure
from bridge.agents.transport.http import Deadlines, Http, open_http
from bridge.agents.turn.inputs import DeadlinePassed, StopRequested, TurnInputs, listening
from bridge.errors import BridgeError, RateLimited, Unavailable, Unsettled
from bridge.model.secret_refs import SecretRef
from bridge.model.turns import AgentEvent, AgentInput, TurnDone, TurnFailed
from bridge.ports.clock import Clock
from bridge.ports.secrets import SecretSource

log = structlog.get_logger()

_LONGEST_PAUSE = 30.0  # seconds: a longer requested pause fails the turn

AgentEvents = AsyncGenerator[AgentEvent, None]


async def run_turn(
    agent: str,
    settings: TurnSettings,
    inputs: AsyncIterator[AgentInput],
    answer: Callable[[TurnInputs, Http], AgentEvents],
    *,
    open_hosts_only: bool = False,
) -> AgentEvents:
    """Yield the events of `answer`, which ends with TurnDone or TurnFailed or raises BridgeError;
    errors, a stop and a passed deadline become the last event."""
    until = asyncio.get_running_loop().time() + settings.total_seconds
    deadlines = Deadlines(settings.connect_seconds, settings.idle_seconds)
    try:
        async with (
            listening(inputs, until) as turn_inputs,
            open_http(deadlines, open_hosts_only=open_hosts_only) as http,
            aclosing(answer(turn_inputs, http)) as events,
        ):
            async for event in events:
                yield event
    except StopRequested:
        yield TurnDone()
    except DeadlinePassed:
        yield TurnFailed(reason=f"its answer took longer than {settings.total_seconds:g} s")
    except BridgeError as error:
        log.warning("agent_failed", agent=agent, error=str(error))
        yield turn_failure(error)


async def with_retries(
    agent: str,
    attempt: Callable[[], AgentEvents],
    retries: int,
    turn_inputs: TurnInputs,
    clock: Clock,
    may_repeat: Callable[[], bool] = lambda: True,
) -> AgentEvents:
    """Yield the events of an attempt. A temporary error repeats it up to `retries` times, as long
    as it yielded nothing and `may_repeat` returns true. Raises the last error."""
    for number in range(retries + 1):
        has_yielded = False
        try:
            async with aclosing(attempt()) as events:
                async for event in events:
                    has_yielded = True
                    yield event
        except (RateLimited, Unavailable, Unsettled) as error:
            pause = _pause(error, number)
            if has_yielded or number == retries or pause > _LONGEST_PAUSE or not may_repeat():
                raise
            log.info("agent_request_retried", agent=agent, error=str(error), pause=pause)
            await turn_inputs.first(clock.sleep(pause))
        else:
            return


async def api_key_of(key: SecretRef | None, secrets: SecretSource) -> str:
    """Return the current secret; empty if none is configured. Raises ConfigError if it is
    missing."""
    return "" if key is None else await secrets.secret(key)


def _pause(error: RateLimited | Unavailable | Unsettled, attempt: int) -> float:
    return error.retry_after if isinstance(error, RateLimited) else 0.5 * 2.0**attempt

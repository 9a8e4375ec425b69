"""One cheap request to an agent's API, before anybody asks the agent something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

import httpx

from bridge.agents.settings import TurnSettings
from bridge.agents.transport.http import Deadlines, Request, open_http
from bridge.errors import (
    AuthFailed,
    ConfigError,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    Unavailable,
)
from bridge.ports.findings import Finding

_CONNECT, _IDLE = 5.0, 10.0  # seconds at most


async def probe(
    settings: TurnSettings,
    request: Callable[[], Awaitable[Request]],
    *,
    absent: str = "",
    open_hosts_only: bool = False,
) -> Sequence[Finding]:
    """Return what the response says about the API. `absent` is the meaning of a 404; without it, a
    404 counts as reachable. A missing secret gives no finding: another check reports it."""
    try:
        probe_request = await request()
    except ConfigError:
        return ()
    host = urlsplit(probe_request.url).netloc
    deadlines = Deadlines(
        min(settings.connect_seconds, _CONNECT), min(settings.idle_seconds, _IDLE)
    )
    try:
        async with (
            open_http(deadlines, open_hosts_only=open_hosts_only) as http,
            http.answer(probe_request),
        ):
            return [Finding("ok", f"{host} answers")]
    except PlatformError as error:
        return [_finding(error, host, absent)]


def _finding(error: PlatformError, host: str, absent: str) -> Finding:
    match error:
        case AuthFailed():
            return Finding(
                "error", f"{host}: {error}", "correct `api_key` or the secret that it names"
            )
        case NotFound() if absent:
            return Finding("error", f"{host}: {absent}", "correct the name in the configuration")
        case Refused() if "api key" in str(error).casefold():  # Gemini answers 400
            return Finding(
                "error", f"{host}: {error}", "correct `api_key` or the secret that it names"
            )
        case Refused(code="private_address" | "moved"):
            return Finding("error", str(error), "correct the address in the configuration")
        case Refused() | RateLimited():
            return Finding("ok", f"{host} answers")
        case Unavailable() if not isinstance(error.__cause__, httpx.HTTPError):
            return Finding("warning", f"{host}: {error}", "try again later")
        case _:
            todo = "check the network and the address in the configuration, then try again"
            return Finding("error", f"{host} cannot be reached", todo)

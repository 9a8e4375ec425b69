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

_CONNECT, _IDLE = 5.0, 10.0  # seconds, at most


async def probe(
    settings: TurnSettings,
    request: Callable[[], Awaitable[Request]],
    *,
    absent: str = "",
    open_hosts_only: bool = False,
) -> Sequence[Finding]:
    """What the answer to this request says of the API. `absent`: what a 404 means; without it, an
    API that does not know the address is there all the same. A secret that is missing is found
    elsewhere."""
    try:
        wanted = await request()
    except ConfigError:
        return ()
    where = urlsplit(wanted.url).netloc
    patience = Deadlines(min(settings.connect_seconds, _CONNECT), min(settings.idle_seconds, _IDLE))
    try:
        async with (
            open_http(patience, open_hosts_only=open_hosts_only) as http,
            http.answer(wanted),
        ):
            return [Finding("ok", f"{where} answers")]
    except PlatformError as error:
        return [_finding(error, where, absent)]


def _finding(error: PlatformError, where: str, absent: str) -> Finding:
    match error:
        case AuthFailed():
            return Finding("error", f"{where}: {error}", "correct `api_key`, or where it is found")
        case NotFound() if absent:
            return Finding("error", f"{where}: {absent}", "correct the name in the configuration")
        case Refused() if "api key" in str(error).casefold():  # Gemini answers 400
            return Finding("error", f"{where}: {error}", "correct `api_key`, or where it is found")
        case Refused(code="private_address" | "moved"):
            return Finding("error", str(error), "correct the address in the configuration")
        case Refused() | RateLimited():
            return Finding("ok", f"{where} answers")
        case Unavailable() if not isinstance(error.__cause__, httpx.HTTPError):
            return Finding("warning", f"{where}: {error}", "try again later")
        case _:
            todo = "check the network and the address in the configuration, then try again"
            return Finding("error", f"{where} cannot be reached", todo)

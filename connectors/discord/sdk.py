"""discord.py, imported in this file only, and the translation of its errors."""

from __future__ import annotations

import warnings

from bridge.errors import (
    AuthFailed,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    Unavailable,
    Unsettled,
)

with warnings.catch_warnings():
    # discord.py 2.7 imports the deprecated audioop for voice, which we never use.
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord
    import discord.gateway
    import discord.http

discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = (
    False  # the bridge does not use voice
)

Client = discord.Client
DiscordWebSocket = discord.gateway.DiscordWebSocket
Intents = discord.Intents
MemberCacheFlags = discord.MemberCacheFlags
Route = discord.http.Route

ERRORS = (
    discord.DiscordException,
    discord.gateway.ReconnectWebSocket,
    discord.gateway.WebSocketClosure,
)
_RESET_TODO = (
    "Discord refused the bot token; reset it in the developer portal, page Bot, and put it where"
    " bot_token points to"
)
_INTENT_TODO = (
    "Discord refused the intent MESSAGE CONTENT; switch it on in the developer portal, page Bot,"
    " Privileged Gateway Intents"
)
# Close codes after which the same connection is refused again (docs: topics/opcodes).
_CLOSED_FOR_GOOD = {
    4004: _RESET_TODO,
    4010: "Discord refused the shard; one bot may run in one process only",
    4011: "The bot is in too many servers for one connection; Discord requires sharding",
    4012: "Discord refused the gateway version; update discord.py",
    4013: "Discord refused the intents as invalid; update uacs-bridge",
    4014: _INTENT_TODO,
}


def to_platform_error(error: BaseException, doing: str) -> PlatformError:
    """Return the bridge's error for an error of discord.py; `doing` begins its text."""
    match error:
        case discord.LoginFailure():
            return AuthFailed(_RESET_TODO, code="401")
        case discord.PrivilegedIntentsRequired():
            return AuthFailed(_INTENT_TODO, code="4014")
        case discord.ConnectionClosed():
            return _closed_error(getattr(error, "code", None), doing)
        case discord.RateLimited():
            wait = float(getattr(error, "retry_after", 5.0))
            return RateLimited(f"{doing}: wait {wait:.1f} s", retry_after=wait, code="429")
        case discord.HTTPException():
            return _http_error(error, doing)
        case (
            discord.GatewayNotFound()
            | discord.gateway.ReconnectWebSocket()
            | discord.gateway.WebSocketClosure()
        ):
            return Unavailable(f"{doing}: the gateway is not available; it will be retried")
        case discord.InvalidData():
            return Unsettled(f"{doing}: Discord's answer has an unknown shape ({_name(error)})")
        case _:
            return Refused(f"{doing}: discord.py refused it ({_name(error)})", code=_name(error))


def _closed_error(code: int | None, doing: str) -> PlatformError:
    if reason := _CLOSED_FOR_GOOD.get(code or 0):
        return AuthFailed(reason, code=str(code))
    return Unavailable(f"{doing}: the gateway closed ({code}); it will be retried", code=str(code))


def _http_error(error: discord.HTTPException, doing: str) -> PlatformError:
    status, code = getattr(error, "status", 0), str(getattr(error, "code", "") or "")
    text = f"{doing}: Discord answered {status} ({code or _name(error)})"
    if isinstance(error, discord.DiscordServerError) or status >= 500:
        return Unsettled(text, code=code)
    if isinstance(error, discord.NotFound) or status == 404:
        return NotFound(f"{text}; check the id, and that the bot may see it", code=code)
    if isinstance(error, discord.Forbidden) or status in (401, 403):
        return AuthFailed(f"{text}; give the bot's role the missing permission", code=code)
    if status == 429:
        return RateLimited(text, retry_after=5.0, code="429")
    return Refused(text, code=code)


def _name(error: BaseException) -> str:
    return type(error).__name__

"""Registers the command `/bridge` with Discord and answers the people who use it.

Source: Discord docs, "Receiving and Responding" (2026-08).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import structlog

from bridge.errors import AuthFailed, PlatformError, RateLimited, Refused
from bridge.model import AccountId, Call
from bridge.ports.clock import Clock
from connectors.discord.capabilities import EPHEMERAL
from connectors.discord.commands import COMMAND, Json, is_registered
from connectors.discord.identity import BotIdentity
from connectors.discord.rest import Rest

log = structlog.get_logger()
_ACKNOWLEDGEMENT_S = 3.0  # Discord waits this long for the acknowledgement of an interaction
_MAX_PENDING = 1000
_RETRY_PAUSES_S = (5.0, 30.0, 300.0)


async def register(account: AccountId, rest: Rest, bot: BotIdentity, clock: Clock) -> None:
    """Register the command unless Discord already has it with the same fields.

    Other commands of the application stay. Transient errors are retried with growing pauses; a
    refusal that only a person can fix is logged and ends the attempt. Raises nothing.
    """
    failures = 0
    while True:
        try:
            await _register_once(rest, bot)
        except (AuthFailed, Refused) as error:
            log.warning("command_not_registered", account=account, error=str(error))
            return
        except PlatformError as error:
            retry_after = error.retry_after if isinstance(error, RateLimited) else 0.0
            pause = max(retry_after, _RETRY_PAUSES_S[min(failures, len(_RETRY_PAUSES_S) - 1)])
            log.warning("command_not_registered", account=account, error=str(error), pause=pause)
            await clock.sleep(pause)
            failures += 1
        else:
            return


async def _register_once(rest: Rest, bot: BotIdentity) -> None:
    application = (await bot.identity()).application
    path, doing = f"/applications/{application}/commands", "Registering the command /bridge"
    commands = await rest.request("GET", path, bucket="GET commands", doing=doing)
    for command in commands if isinstance(commands, list) else []:
        if (
            isinstance(command, dict)
            and command.get("name") == COMMAND["name"]
            and is_registered(command)
        ):
            return
    await rest.request("POST", path, bucket="POST commands", doing=doing, body=COMMAND)
    log.info("command_registered", application=application)


class PendingInteractions:
    """Commands and presses that wait for an answer, with their tokens.

    A token is valid for 15 minutes (Discord docs, "Receiving and Responding", 2026-08). Tokens are
    held in memory only, so a restart of the process drops them.
    """

    def __init__(self, rest: Rest, bot: BotIdentity) -> None:
        self._rest = rest
        self._bot = bot
        self._tokens: OrderedDict[str, tuple[str, asyncio.Event, bool]] = OrderedDict()

    def begin(self, data: Json, *, press: bool = False) -> bool:
        """Hold the interaction's token; returns False if Discord sent this interaction before.

        `press`: the original response is the message with the button, so no answer replaces it.
        """
        if str(data.get("id")) in self._tokens:
            return False
        self._tokens[str(data.get("id"))] = str(data.get("token")), asyncio.Event(), press
        while len(self._tokens) > _MAX_PENDING:
            self._tokens.popitem(last=False)
        return True

    def acknowledged(self, data: Json) -> None:
        """Note that Discord acknowledged the interaction; it refuses answers sent earlier."""
        if pending := self._tokens.get(str(data.get("id"))):
            pending[1].set()

    async def answer(self, call: Call) -> Any:
        """Post an answer to a held interaction and return Discord's message object.

        The first part replaces the "thinking" message of a command; the others follow it.
        Raises Refused if the token is not held or the acknowledgement is late, else PlatformError.
        """
        pending = self._tokens.get(call.native_id or "")
        if pending is None:
            text = "the command was used before the bridge restarted; give it again"
            raise Refused(f"Answering a command: {text}", code="command")
        token, acknowledged, press = pending
        try:
            async with asyncio.timeout(_ACKNOWLEDGEMENT_S):
                await acknowledged.wait()
        except TimeoutError:
            text = "the interaction was not acknowledged in time"
            raise Refused(f"Answering a command: {text}; give it again", code="command") from None
        path = f"/webhooks/{(await self._bot.identity()).application}/{token}"
        doing = "Answering a command"
        if call.slot == 0 and not press:
            return await self._rest.request(
                "PATCH", f"{path}/messages/@original", bucket="interaction", doing=doing,
                body=call.body, authorised=False,
            )  # fmt: skip
        return await self._rest.request(
            "POST", path, bucket="interaction", doing=doing, authorised=False,
            body={**call.body, "flags": EPHEMERAL},
        )  # fmt: skip

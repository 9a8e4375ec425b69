"""Makes `/bridge` known to Discord, and answers who gave it.

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
from connectors.discord.commands import COMMAND, Json, is_known
from connectors.discord.identity import Self
from connectors.discord.rest import Rest

log = structlog.get_logger()
_ANSWER_S = 3.0  # how long Discord waits to be told that an answer comes
_WAITING = 1000
_AGAIN_S = (5.0, 30.0, 300.0)


async def register(account: AccountId, rest: Rest, us: Self, clock: Clock) -> None:
    """Tell Discord of the command unless it knows it so. Commands that others made for the same
    application stay. Ends when it is done, or only a person can mend it."""
    failures = 0
    while True:
        try:
            await _register_once(rest, us)
        except (AuthFailed, Refused) as error:
            log.warning("command_not_registered", account=account, error=str(error))
            return
        except PlatformError as error:
            wanted = error.retry_after if isinstance(error, RateLimited) else 0.0
            pause = max(wanted, _AGAIN_S[min(failures, len(_AGAIN_S) - 1)])
            log.warning("command_not_registered", account=account, error=str(error), pause=pause)
            await clock.sleep(pause)
            failures += 1
        else:
            return


async def _register_once(rest: Rest, us: Self) -> None:
    application = (await us.identity()).application
    path, doing = f"/applications/{application}/commands", "Registering the command /bridge"
    known = await rest.request("GET", path, bucket="GET commands", doing=doing)
    for one in known if isinstance(known, list) else []:
        if isinstance(one, dict) and one.get("name") == COMMAND["name"] and is_known(one):
            return
    await rest.request("POST", path, bucket="POST commands", doing=doing, body=COMMAND)
    log.info("command_registered", application=application)


class Asked:
    """Commands and presses that wait for answers: their tokens last 15 minutes, and are not
    kept longer than this process."""

    def __init__(self, rest: Rest, us: Self) -> None:
        self._rest = rest
        self._us = us
        self._tokens: OrderedDict[str, tuple[str, asyncio.Event, bool]] = OrderedDict()

    def begin(self, data: Json, *, press: bool = False) -> bool:
        """False: it was told before. The first answer to a press stays as it is: it is the message
        with the button."""
        if str(data.get("id")) in self._tokens:
            return False
        self._tokens[str(data.get("id"))] = str(data.get("token")), asyncio.Event(), press
        while len(self._tokens) > _WAITING:
            self._tokens.popitem(last=False)
        return True

    def told(self, data: Json) -> None:
        """Discord knows that an answer comes; before that it takes none."""
        if waiting := self._tokens.get(str(data.get("id"))):
            waiting[1].set()

    async def answer(self, call: Call) -> Any:
        """The first part takes the place of "thinking"; the others follow it. Raises Refused."""
        waiting = self._tokens.get(call.native_id or "")
        if waiting is None:
            text = "it was given before the bridge started anew; give it again"
            raise Refused(f"Answering a command: {text}", code="command")
        token, told, press = waiting
        try:
            async with asyncio.timeout(_ANSWER_S):
                await told.wait()
        except TimeoutError:
            text = "Discord was not told in time that an answer comes"
            raise Refused(f"Answering a command: {text}; give it again", code="command") from None
        path = f"/webhooks/{(await self._us.identity()).application}/{token}"
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

"""The command `/bridge`: its registration, and the answer to a pending interaction."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.errors import Refused
from bridge.model import AccountId, ActorId, Call
from bridge.runtime.clock import SystemClock
from bridge.sandbox.faults import Fault
from connectors.discord.commands import ANSWER, COMMAND, is_registered
from connectors.discord.identity import BotIdentity
from connectors.discord.interactions import PendingInteractions, register
from connectors.discord.rest import Rest
from connectors.discord.sandbox.state import App
from tests.connectors.discord.conftest import Local
from tests.connectors.discord.test_encode import delivery

AS_DISCORD_KEEPS_IT: dict[str, Any] = {
    **COMMAND, "id": "1", "application_id": "2", "version": "3", "nsfw": False,
    "default_member_permissions": None, "dm_permission": True, "integration_types": [0],
}  # fmt: skip


def test_a_registered_command_matches_despite_the_fields_discord_adds() -> None:
    assert is_registered(AS_DISCORD_KEEPS_IT)


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Other words"},
        {"contexts": None},
        {"contexts": [0, 1]},
        {"options": []},
        {"options": None},
        {"options": [{**COMMAND["options"][0], "required": True}]},
        {"type": 2},
    ],
)
def test_a_command_that_differs_is_registered_again(changed: dict[str, Any]) -> None:
    assert not is_registered({**AS_DISCORD_KEEPS_IT, **changed})


def rest_of(local: Local) -> tuple[Rest, App]:
    app = next(iter(local.discord.state.apps.values()))

    async def token() -> str:
        return app.token

    return Rest(f"{local.context.base_url}/discord/api/v10", token, SystemClock()), app


async def test_the_command_is_registered_again_only_when_it_differs(local: Local) -> None:
    rest, app = rest_of(local)
    bot = BotIdentity(rest)
    await register(AccountId("discord"), rest, bot, SystemClock())
    first = dict(next(iter(app.commands.values())))
    await register(AccountId("discord"), rest, bot, SystemClock())
    (registered,) = app.commands.values()
    assert registered == first

    registered["description"] = "Older words"
    app.commands[7] = {"id": "7", "name": "of-another-program", "version": "1"}
    await register(AccountId("discord"), rest, bot, SystemClock())
    await rest.close()

    assert app.commands[int(first["id"])]["description"] == COMMAND["description"]
    assert 7 in app.commands  # commands of other programs stay


class Hasty(SystemClock):
    """A clock that does not sleep, and records the requested pauses."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_registration_is_retried_after_a_server_error(local: Local) -> None:
    rest, app = rest_of(local)
    local.context.faults.add(Fault(where="discord:commands.list:*", kind="status", status=502))
    clock = Hasty()

    await register(AccountId("discord"), rest, BotIdentity(rest), clock)
    await rest.close()

    assert clock.slept == [5.0]
    assert len(app.commands) == 1


def answer(local: Local) -> Call:
    whisper = delivery("hello @everyone", channel=local.channel)
    addressing = {"to": ActorId("discord:1:2"), "answers": "77"}
    operation = whisper.operation.model_copy(update=addressing)
    whisper = whisper.model_copy(update={"operation": operation})
    (call,) = local.connector().encode(whisper).calls
    return call


async def test_a_command_answer_pings_nobody_and_uses_its_interaction(local: Local) -> None:
    call = answer(local)

    assert (call.method, call.native_id) == (ANSWER, "77")
    assert call.body["allowed_mentions"] == {"parse": []}
    assert "username" not in call.body


async def test_a_command_from_before_the_restart_cannot_be_answered(local: Local) -> None:
    with pytest.raises(Refused, match="give it again"):
        await local.connector().send(answer(local))


async def test_a_repeated_interaction_is_stored_once(local: Local) -> None:
    rest, _ = rest_of(local)
    pending = PendingInteractions(rest, BotIdentity(rest))

    assert pending.begin({"id": "77", "token": "t"})
    assert not pending.begin({"id": "77", "token": "t"})

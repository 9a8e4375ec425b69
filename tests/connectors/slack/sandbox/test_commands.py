"""People type slash commands; plain slack-bolt programs receive and answer them."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from bridge.errors import NotFound
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, RANDOM, Running, until
from tests.connectors.slack.sandbox.desk import Desk
from tests.connectors.slack.sandbox.test_plain_programs import over_http, over_sockets

Json = dict[str, Any]
TEAM, BEN = "T0ACME", "U0ACME02"


def program(running: Running, received: list[Json], secret: str = "unused") -> AsyncApp:
    """A program that answers as the text of the command requests."""
    app = AsyncApp(client=running.client(), signing_secret=secret)

    @app.command("/plain")
    async def _on_command(ack: Any, command: Json, respond: Any) -> None:
        received.append(command)
        match command["text"]:
            case "say":
                await ack("to you alone")
            case "shout":
                await ack({"response_type": "in_channel", "text": "to all"})
            case "later":
                await ack()
                await respond("with more words")
            case "never":
                pass
            case _:
                await ack()

    return app


async def test_a_command_reaches_its_app_in_slacks_format(running: Running) -> None:
    received: list[Json] = []
    async with over_sockets(program(running, received), running.app()["app_token"]):
        text = "block @ben in #random"
        outcome = await running.slack.command_as(TEAM, GENERAL, ADA, "/plain", text)

    (command,) = received
    assert outcome.answered
    assert command["text"] == f"block <@{BEN}|ben> in <#{RANDOM}|random>"
    assert {key: command[key] for key in ("command", "user_id", "user_name", "channel_id")} == {
        "command": "/plain", "user_id": ADA, "user_name": "ada", "channel_id": GENERAL,
    }  # fmt: skip
    assert command["api_app_id"] == running.app()["app_id"]
    assert command["trigger_id"]
    assert running.texts() == []  # nobody sees the command itself


@pytest.mark.parametrize("way", ["socket", "http"])
async def test_a_command_answer_is_ephemeral_unless_in_channel(running: Running, way: str) -> None:
    facts, received = running.app(), list[Json]()
    app = program(running, received, facts["signing_secret"])

    async def give() -> None:
        for text in ("say", "shout", "later"):
            outcome = await running.slack.command_as(TEAM, GENERAL, ADA, "/plain", text)
            assert outcome.answered
        await until(lambda: len(running.slack.whispers(TEAM, ADA)) == 2)  # after its ack

    if way == "socket":
        async with over_sockets(app, facts["app_token"]):
            await give()
    else:
        async with over_http(app) as url:
            await running.slack.set_request_url(facts["app_id"], url)
            await give()

    whispered = [whisper.text for whisper in running.slack.whispers(TEAM, ADA)]
    assert whispered == ["to you alone", "with more words"]
    assert running.slack.whispers(TEAM, BEN) == []
    assert running.texts() == ["to all"]


async def test_a_command_fails_when_the_app_answers_late(running: Running) -> None:
    running.slack.pace.ack_seconds = 0.2
    received: list[Json] = []
    async with over_sockets(program(running, received), running.app()["app_token"]):
        outcome = await running.slack.command_as(TEAM, GENERAL, ADA, "/plain", "never")

    assert len(received) == 1  # commands are not sent again
    assert not outcome.answered
    assert outcome.failed == '/plain failed with the error "operation_timeout"'


async def test_a_command_that_no_app_owns_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFound, match="not a valid command"):
        await desk.slack.command_as(TEAM, GENERAL, ADA, "/nothing")
    desk.without("commands")
    with pytest.raises(NotFound, match="not a valid command"):
        await desk.slack.command_as(TEAM, GENERAL, ADA, "/bridge")


async def test_a_command_is_given_over_the_control_api(running: Running) -> None:
    received: list[Json] = []
    body = {
        "workspace": TEAM, "channel": GENERAL, "person": ADA, "command": "/plain", "text": "say",
    }  # fmt: skip
    address = f"{running.context.base_url}/_control/slack/actions/command"
    async with (
        over_sockets(program(running, received), running.app()["app_token"]),
        aiohttp.ClientSession() as http,
        http.post(address, json=body) as answer,
    ):
        assert (await answer.json())["notice"] == "to you alone"

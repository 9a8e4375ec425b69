"""A room of the local Slack and the local IRC network, through the whole bridge."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from connectors.irc import connector_type
from connectors.irc.bylines import GAP
from connectors.irc.sandbox import MODERN, PLAIN, Fault, IrcServer, irc_server
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import Deployer

CHANNEL = "#general"


def with_irc(local: Sandbox, irc: IrcServer, store: Path, **changed: Any) -> dict[str, Any]:
    """The room of the local Slack, with a channel of the local IRC in it."""
    settings = configuration(local, store, channels=("general",))
    account = dict(connector_type.sandbox_settings(irc.app(), ""))
    settings["accounts"]["irc"] = {"platform": "irc", **account, **changed}
    settings["rooms"]["general"]["members"].append({"account": "irc", "channel": CHANNEL})
    settings["catch_up"] = {"requests_per_minute": 6000, "announce_after": 0.2}
    settings["delivery"] = {"settle_grace": 0.1}
    return settings


@asynccontextmanager
async def both(offers: Any = MODERN) -> AsyncGenerator[tuple[Sandbox, IrcServer]]:
    async with local_sandbox(names=("slack",)) as local, irc_server(offers) as irc:
        irc.join("alice", CHANNEL)
        yield local, irc


def irc_texts(irc: IrcServer) -> list[str]:
    return [text.replace(GAP, "") for text in irc.texts(CHANNEL)]


def slack_texts(local: Sandbox) -> list[str]:
    return [message.text for message in local.standing("slack", "general")]


async def test_messages_are_copied_in_both_directions(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            irc.say("alice", CHANNEL, "hello from \x02irc\x02")
            await local.until(
                lambda: any("hello from *irc*" in text for text in slack_texts(local))
            )
            await local.say("slack", "general", "hello from *slack*")
            await local.until(
                lambda: any("hello from \x02slack" in text for text in irc_texts(irc))
            )

            assert await bridge.store.dead_letters() == []
        assert irc.truncated == 0
        (copy,) = [
            message for message in local.standing("slack", "general") if "irc" in message.text
        ]
        assert copy.author == "alice"


async def test_replies_reactions_edits_and_deletions_are_carried(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        slack = local.platforms["slack"]
        team, channel = local.place("slack", "general")
        person = local.person("slack", team)
        async with running(local, settings) as (bridge, _):
            root = await local.say("slack", "general", "who has the keys?")
            await local.until(lambda: len(irc_texts(irc)) == 1)
            (question,) = irc.messages(CHANNEL)
            irc.say("alice", CHANNEL, "I do", reply=question.id)
            irc.react("alice", CHANNEL, question.id, "👍")
            await local.until(lambda: any("I do" in text for text in slack_texts(local)))
            await local.until(
                lambda: local.standing("slack", "general")[0].reactions.keys() == {"👍"}
            )
            await local.say("slack", "general", "thank you", thread=root)
            await local.until(lambda: any("thank you" in text for text in irc_texts(irc)))
            assert irc.messages(CHANNEL)[-1].tags["+reply"] == question.id
            await slack.edit_as(team, channel, person, root, "who has my keys?")
            await local.until(lambda: "(edited) who has my keys?" in irc_texts(irc)[-1])
            await slack.delete_as(team, channel, person, root)
            await local.until(
                lambda: question.id not in {message.id for message in irc.messages(CHANNEL)}
            )

            assert await bridge.store.dead_letters() == []


@pytest.mark.parametrize("multiline", [True, False])
async def test_a_deletion_redacts_the_message_and_the_lines_of_its_edits(
    tmp_path: Path, multiline: bool
) -> None:
    offers = {
        name: value for name, value in MODERN.items() if multiline or name != "draft/multiline"
    }
    async with both(offers) as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        slack = local.platforms["slack"]
        team, channel = local.place("slack", "general")
        person = local.person("slack", team)
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", "this stays")
            message = await local.say("slack", "general", "tpyo")
            await local.until(lambda: len(irc.messages(CHANNEL)) == 2)
            for edit in ("typo", "typo\nwith a second line"):
                await slack.edit_as(team, channel, person, message, edit)
                last = edit.rpartition("\n")[2]
                await local.until(
                    lambda last=last: irc.texts(CHANNEL)[-1].splitlines()[-1].endswith(last)
                )
                await bridge.router.settled()
            lines = "\n".join(irc_texts(irc)).split("\n")
            assert sum("(edited) typo" in line for line in lines) == 2
            await slack.delete_as(team, channel, person, message)
            await local.until(lambda: len(irc.messages(CHANNEL)) == 1)

            assert "this stays" in irc.texts(CHANNEL)[0]
            assert await bridge.store.dead_letters() == []


async def test_messages_during_a_disconnection_arrive_once_and_in_order(
    tmp_path: Path,
) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            irc.say("alice", CHANNEL, "number 0")
            await local.until(lambda: any("number 0" in text for text in slack_texts(local)))
            await local.until(lambda: not bridge.router.operations.catching_up)
            irc.disconnect()
            for number in range(1, 6):
                irc.say("alice", CHANNEL, f"number {number}")
                await local.say("slack", "general", f"figure {number}")
            await local.until(lambda: sum("number" in text for text in slack_texts(local)) == 6, 20)
            await local.until(lambda: sum("figure" in text for text in irc_texts(irc)) == 5, 20)

            assert await bridge.store.dead_letters() == []
        numbers = [text[-1] for text in slack_texts(local) if "number" in text]
        figures = [text[-1] for text in irc_texts(irc) if "figure" in text]
        assert numbers == [str(number) for number in range(6)]
        assert figures == [str(number) for number in range(1, 6)]


async def test_messages_of_a_downtime_are_read_back(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            irc.say("alice", CHANNEL, "before")
            await local.until(lambda: any("before" in text for text in slack_texts(local)))
            await local.until(lambda: not bridge.router.operations.catching_up)
        irc.say("alice", CHANNEL, "meanwhile\nin two lines")
        async with running(local, settings):
            await local.until(
                lambda: any("in two lines" in text for text in slack_texts(local)), 20
            )

        assert sum("before" in text for text in slack_texts(local)) == 1


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_post_with_a_lost_echo_is_posted_once(tmp_path: Path, arrives: bool) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", "the one before")
            await local.until(lambda: len(irc_texts(irc)) == 1)
            irc.fault(Fault("lose_answer" if arrives else "close"))
            await local.say("slack", "general", "did it arrive?")
            await local.say("slack", "general", "the one after")
            await local.until(lambda: any("after" in text for text in irc_texts(irc)), 20)

            assert await bridge.store.dead_letters() == []
        texts = [text.partition("> ")[2] for text in irc_texts(irc)]
        assert texts == ["the one before", "did it arrive?", "the one after"]


async def test_a_lost_answer_on_a_plain_server_leaves_the_post_unproved(tmp_path: Path) -> None:
    async with both(PLAIN) as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            irc.say("alice", CHANNEL, "hello from irc")
            await local.until(lambda: any("hello from irc" in text for text in slack_texts(local)))
            await local.say("slack", "general", "hello from slack")
            await local.until(lambda: any("hello from slack" in text for text in irc_texts(irc)))
            irc.fault(Fault("lose_answer"))
            await local.say("slack", "general", "did it arrive?")
            await local.say("slack", "general", "the one after")
            await local.until(lambda: any("after" in text for text in irc_texts(irc)), 20)

            (letter,) = await bridge.store.dead_letters()
            assert (letter.state, letter.excerpt) == ("unproved", "did it arrive?")


async def test_a_notice_announces_a_gap_of_a_plain_server(tmp_path: Path) -> None:
    async with both(PLAIN) as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings):
            irc.say("alice", CHANNEL, "before")
            await local.until(lambda: any("before" in text for text in slack_texts(local)))
        irc.say("alice", CHANNEL, "nobody hears this")
        await asyncio.sleep(0.3)
        async with running(local, settings):
            await local.until(
                lambda: any("could not be read" in text for text in slack_texts(local)), 20
            )


async def test_an_agent_answers_on_irc_once_and_whole(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            irc.say("alice", CHANNEL, "@echo one two three")
            await local.until(lambda: any("<echo>" in text for text in irc_texts(irc)))
            await bridge.router.settled()

            assert sum("<echo>" in text for text in irc_texts(irc)) == 1
            assert "one two three" in irc_texts(irc)[-1]


async def test_a_number_on_irc_presses_a_button_of_an_agents_card(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3")
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        agent = Deployer()
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            irc.say("alice", CHANNEL, "please deploy")
            await local.until(lambda: any("!1 (Ship it)" in text for text in irc_texts(irc)))
        async with running(local, settings) as (bridge, _):  # the card is known after a restart
            bridge.agents["echo"] = agent
            irc.say("alice", CHANNEL, "!1")
            await local.until(lambda: any("Shipped 1" in text for text in irc_texts(irc)))
            await local.until(lambda: any("Shipped 1" in str(message.raw) for message in
                                          local.standing("slack", "general")))  # fmt: skip

    assert [(press["id"], press["value"]) for press in agent.presses] == [("ship", 42)]


async def test_a_long_text_ends_with_a_link_that_opens(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    async with both(PLAIN) as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3", max_lines=8)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        settings["web"] = {"port": port, "public_url": f"http://127.0.0.1:{port}"}
        async with running(local, settings) as (bridge, _), aiohttp.ClientSession() as http:
            await local.say("slack", "general", text)
            await local.until(lambda: any("more lines: " in text for text in irc_texts(irc)))
            url = irc_texts(irc)[-1].rpartition(" ")[2]
            async with http.get(url) as answer:
                assert (answer.status, await answer.text()) == (200, text)

            assert len(irc_texts(irc)) == 8
            assert await bridge.store.dead_letters() == []


async def test_puppets_post_through_connections_of_their_authors(tmp_path: Path) -> None:
    async with both() as (local, irc):
        settings = with_irc(local, irc, tmp_path / "bridge.sqlite3", puppets=True)
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", "hello")
            await local.until(lambda: irc.texts(CHANNEL) == ["hello"])
            irc.say("alice", CHANNEL, "hi")
            await local.until(lambda: any("hi" in text for text in slack_texts(local)))
            await bridge.router.settled()

            assert irc.messages(CHANNEL)[0].nick.endswith("[b]")
            assert len(slack_texts(local)) == 2  # its echo is nobody's message
            assert await bridge.store.dead_letters() == []

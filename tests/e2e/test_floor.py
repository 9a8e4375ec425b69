"""Three agents of other makers on one floor, with a convener that decides who may speak; and guests
that fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bridge.model import RoomId
from tests.agents.model_server import Answer, model_server
from tests.agents.test_openfloor import answer, event, library_agent
from tests.agents.vendors import JSON
from tests.app.api.served import client, token_for
from tests.app.openfloor.test_serving import envelope, saying
from tests.e2e.floor_peer import floor_peer
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.free_ports import free_port

ROOM = "general"
PLATFORMS = ("slack", "discord", "teams")
OURS = "tag:chat.example.org,2026:agent:"


def settings_of(
    local: Sandbox, folder: Path, urls: Mapping[str, str], *memberships: dict[str, Any]
) -> dict[str, Any]:
    found = configuration(local, folder / "b.sqlite3", channels=(ROOM,))
    found["web"] = {**found.get("web", {}), "public_url": "https://chat.example.org"}
    found["agents"] = {
        name: {"kind": "openfloor", "url": url, "private_addresses": True, "retries": 0}
        for name, url in urls.items()
    } | {"parrot": {"kind": "echo", "pace": 0.08}}
    found["rooms"][ROOM]["agents"] = list(memberships)
    return found


def shown(local: Sandbox, platform: str) -> str:
    return "\n".join(f"{m.author}: {m.text}" for m in local.standing(platform, ROOM))


async def everywhere(local: Sandbox, words: str) -> None:
    for platform in PLATFORMS:
        await local.until(lambda platform=platform: words in shown(local, platform))


async def test_a_convener_sends_away_grants_and_revokes_on_every_platform(tmp_path: Path) -> None:
    pytest.importorskip("openfloor", reason="the package openfloor is not installed")
    parrot = {"speakerUri": f"{OURS}parrot"}
    chair_rules = (
        {"on": "buy now", "events": [
            {"eventType": "uninvite", "to": {"speakerUri": "SPEAKER"}, "reason": "@brokenPolicy"}]},
        {"on": "silence", "events": [
            {"eventType": "revokeFloor", "to": parrot, "reason": "@override"}]},
        {"on": "requestFloor", "events": [{"eventType": "grantFloor", "to": parrot}]},
    )  # fmt: skip
    loud_rules = ({"on": "offer", "events": [{"say": "buy now!"}]},)
    async with AsyncExitStack() as stack:
        chair, chair_log = await stack.enter_async_context(
            floor_peer(tmp_path, "chair", *chair_rules)
        )
        loud, loud_log = await stack.enter_async_context(floor_peer(tmp_path, "loud", *loud_rules))
        repeater = f"{await stack.enter_async_context(library_agent())}/of"
        local = await stack.enter_async_context(local_sandbox(names=PLATFORMS, limits=False))
        urls = {"chair": chair, "loud": loud, "repeater": repeater}
        settings = settings_of(
            local, tmp_path, urls, {"agent": "chair", "convener": True}, {"agent": "loud"},
            {"agent": "repeater"}, {"agent": "parrot"},
        )  # fmt: skip
        bridge, url = await stack.enter_async_context(running(local, settings))

        # It hears all, and sends away who breaks a rule.
        await local.say("slack", ROOM, "@loud what is your offer?")
        await everywhere(local, "buy now!")
        await everywhere(local, "@chair sends @loud away: it broke a rule of this conversation.")
        await local.say("discord", ROOM, "@loud another offer?")
        await everywhere(local, "@loud another offer?")
        await local.until(lambda: "chair has sent it away" in shown(local, "discord"))

        # It stops an agent that speaks, which gets the floor again when it asks for it.
        words = " ".join(f"word{n}" for n in range(60))
        await local.say("slack", ROOM, f"@parrot {words}")
        await local.until(lambda: "word3" in said_by(local, "parrot"))
        await local.say("teams", ROOM, "silence please")
        await everywhere(local, "@chair takes the floor from @parrot")
        await bridge.router.settled()
        stopped = said_by(local, "parrot")
        await local.say("slack", ROOM, "@parrot one more")
        await everywhere(local, "@chair gives @parrot the floor.")
        await local.until(lambda: "one more" in said_by(local, "parrot"))

        # What is private reaches one agent alone.
        token = await token_for(bridge.store, bridge.clock, "peer", role="human")
        to = {"speakerUri": f"{OURS}repeater", "private": True}
        async with client(url, token) as http:
            asked = await http.post(
                f"/openfloor/{ROOM}", json=envelope(saying("quicksilver", "d1", to=to))
            )
        await local.say("slack", ROOM, "@repeater hello")
        await everywhere(local, "You said: ")
        await bridge.router.settled()
        everything = {platform: shown(local, platform) for platform in PLATFORMS}
        logs = {"chair": chair_log.read_text(), "loud": loud_log.read_text()}

    assert "word59" not in stopped
    assert "You said: quicksilver" in asked.text
    assert [e["to"]["private"] for e in asked.json()["openFloor"]["events"]] == [True] * len(
        asked.json()["openFloor"]["events"]
    )
    assert [where for where, text in {**everything, **logs}.items() if "quicksilver" in text] == []
    kinds = [
        e["eventType"] for line in logs["loud"].splitlines() for e in json.loads(line)["events"]
    ]
    assert kinds == ["invite", "utterance", "uninvite"]
    chaired = [json.loads(line) for line in logs["chair"].splitlines()]
    roles = {str(e["conversation"].get("assignedFloorRoles")) for e in chaired}
    assert roles == {str({"convener": [chair]})}


def said_by(local: Sandbox, agent: str) -> str:
    """What an agent has said on Slack."""
    return "\n".join(m.text for m in local.standing("slack", ROOM) if agent in m.author and m.bot)


BROKEN: dict[str, list[Answer]] = {
    "refuses the connection": [],
    "server error": [Answer([b"no"], 500, JSON)],
    "HTML": [Answer([b"<html>Not here</html>"], 200, "text/html")],
    "never answers": [Answer([], 200, JSON, then="hang")],
    "another conversation": [answer(event("utterance", "x"), floor="another")],
    "20 MiB": [Answer([b" " * (1024 * 1024)] * 20, 200, JSON)],
}


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_guest_that_fails_is_named_and_the_conversation_returns(
    tmp_path: Path, broken: str
) -> None:
    async with AsyncExitStack() as stack:
        url = f"http://127.0.0.1:{free_port()}"
        if answers := BROKEN[broken]:
            url = (await stack.enter_async_context(model_server(*answers))).url
        local = await stack.enter_async_context(local_sandbox(names=("slack",), limits=False))
        settings = settings_of(
            local, tmp_path, {"guest": f"{url}/of"}, {"agent": "parrot", "listen": "always"},
            {"agent": "guest"},
        )  # fmt: skip
        settings["agents"]["guest"]["idle_seconds"] = 2
        settings["agents"]["parrot"]["pace"] = 0
        bridge, _ = await stack.enter_async_context(running(local, settings))
        turns, room = bridge.router.parts.turns, bridge.rooms.by_id[RoomId(ROOM)]
        await turns.hand_overs.assign(room, "room", "guest", "agent:parrot")

        asked = bridge.clock.monotonic()
        await local.say("slack", ROOM, "are you there?")
        await local.until(lambda: "@guest is done: it could not answer." in shown(local, "slack"))
        took = bridge.clock.monotonic() - asked
        await local.say("slack", ROOM, "hello again")
        await local.until(lambda: "hello again" in said_by(local, "parrot"))
        await bridge.router.settled()
        said = said_by(local, "guest")

    assert took < 15
    assert said.count("guest could not finish this answer") == 1, said
    assert shown(local, "slack").count("it could not answer") == 1


async def test_a_guest_that_answers_twice_is_heard_once(tmp_path: Path) -> None:
    hello = event("utterance", "Hello from the guest")
    answers = [answer(hello, hello), answer(hello, event("utterance", "And more"))]
    async with AsyncExitStack() as stack:
        local = await stack.enter_async_context(local_sandbox(names=("slack",), limits=False))
        async with model_server() as api:
            settings = settings_of(local, tmp_path, {"guest": f"{api.url}/of"}, {"agent": "guest"})
            bridge, _ = await stack.enter_async_context(running(local, settings))
            floor = str(bridge.rooms.by_id[RoomId(ROOM)].conversation)
            api.answers = [with_floor(one, floor) for one in answers]
            for words in ("@guest one", "@guest two"):
                await local.say("slack", ROOM, words)
                await local.until(lambda words=words: len(api.raw) == 1 + words.count("two"))
                await bridge.router.settled()
        said = said_by(local, "guest")

    assert said.count("Hello from the guest") == 1
    assert said.count("And more") == 1


def with_floor(one: Answer, floor: str) -> Answer:
    """The answer in the conversation of a room."""
    body = json.loads(one.pieces[0])
    body["openFloor"]["conversation"]["id"] = floor
    return Answer([json.dumps(body).encode()], 200, JSON)

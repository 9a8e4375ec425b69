"""Peers in a room with a convener: they speak while they have the floor, and are told when not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.app.api.served import ROOM, token_for
from tests.app.openfloor.test_serving import Served, envelope, post, saying
from tests.e2e.floor_peer import floor_peer
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

PEER = "tag:chat.example.org,2026:api:bridge:peer"


async def test_a_peer_loses_the_floor_gets_it_back_and_is_sent_away(tmp_path: Path) -> None:
    to: dict[str, Any] = {"speakerUri": PEER}
    revoke = {"eventType": "revokeFloor", "to": to, "reason": "@override"}
    rules = (
        {"on": "shouting", "events": [revoke]},
        {"on": "sorry", "events": [{"eventType": "grantFloor", "to": to}]},
        {"on": "rude", "events": [{"eventType": "uninvite", "to": to, "reason": "@brokenPolicy"}]},
        {"on": "requestFloor", "events": []},
    )  # fmt: skip
    async with (
        floor_peer(tmp_path, "chair", *rules) as (chair, log),
        local_sandbox(names=("slack",)) as local,
    ):
        settings = configuration(local, tmp_path / "b.sqlite3")
        settings["web"] = {**settings.get("web", {}), "public_url": "https://chat.example.org"}
        settings["agents"]["chair"] = {
            "kind": "openfloor", "url": chair, "private_addresses": True,
        }  # fmt: skip
        settings["admins"] = ["slack:*"]
        settings["rooms"][ROOM]["agents"] = [{"agent": "chair", "convener": True}]
        async with running(local, settings) as (bridge, url):
            served = Served(local, bridge, url)
            token = await token_for(bridge.store, bridge.clock, "peer", role="human")

            async def says(text: str) -> Any:
                answer = await post(served, token, envelope(saying(text), talk="v1"))
                await bridge.router.settled()
                return answer["events"]

            await says("I am shouting")
            refused = await says("still here")
            wish = await post(served, token, envelope({"eventType": "requestFloor"}, talk="v1"))
            await says("I am sorry")
            heard = await says("and quiet now")
            await says("a rude word")
            away = await says("one more thing")
            invited = await post(served, token, envelope({"eventType": "invite"}, talk="v1"))
            gone = await post(served, token, envelope(talk="v1"))

            await local.say("slack", ROOM, "@bridge invite peer")
            await local.until(lambda: "peer may come back" in text_of(local))
            back = await post(served, token, envelope({"eventType": "invite"}, talk="v1"))
            said = text_of(local)
        asked = log.read_text()

    assert [(e["eventType"], e["reason"]) for e in refused if e["eventType"] != "utterance"] == [
        ("revokeFloor", "chair has not given it the floor")
    ]
    assert [e["eventType"] for e in wish["events"] if e["eventType"] != "utterance"] == [
        "revokeFloor"
    ]
    assert not any(event["eventType"] == "revokeFloor" for event in heard)
    assert [e["eventType"] for e in away if e["eventType"] != "utterance"] == ["uninvite"]
    assert [event["eventType"] for event in invited["events"]] == ["declineInvite"]
    assert gone["events"] == []
    assert "acceptInvite" in [event["eventType"] for event in back["events"]]
    assert "and quiet now" in said
    assert "still here" not in said
    assert "one more thing" not in said
    assert "@chair sends @peer away" in said
    assert "still here" in asked  # the convener was asked about it


def text_of(local: Sandbox) -> str:
    return "\n".join(message.text for message in local.standing("slack", ROOM))

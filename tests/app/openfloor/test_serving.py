"""Agents of other makers join a room over HTTP: they hear, speak, are answered, and leave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from bridge.app.build import Bridge
from bridge.app.settings.sections import Settings
from bridge.openfloor.read import envelope_of
from tests.app.api.served import ROOM, client, token_for
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Served:
    """One bridge for all tests of this file, with the agent `parrot` in its room."""

    local: Sandbox
    bridge: Bridge
    url: str

    async def token(self, name: str, **changes: Any) -> str:
        return await token_for(self.bridge.store, self.bridge.clock, name, **changes)

    def stands(self, platform: str, words: str) -> bool:
        return any(words in message.text for message in self.local.standing(platform, ROOM))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    path: Path = tmp_path_factory.mktemp("floor") / "b.sqlite3"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, path)
        settings["web"] = {**settings.get("web", {}), "public_url": "https://chat.example.org"}
        manifest = {"synopsis": "Repeats", "keyphrases": ["repeat"], "languages": ["en"]}
        settings["agents"]["parrot"] = {"kind": "echo", "pace": 0, "manifest": manifest}
        settings["rooms"][ROOM]["agents"] = [{"agent": "parrot"}]
        async with running(local, settings) as (bridge, url):
            yield Served(local, bridge, url)


def envelope(*events: Any, talk: str = "c1", speaker: str = "tag:peer.test,2026:ada") -> Any:
    conversants = [{"identification": {
        "speakerUri": "tag:peer.test,2026:ada", "serviceUrl": "https://peer.test",
        "organization": "Peers", "conversationalName": "Ada Park", "synopsis": "",
    }}]  # fmt: skip
    return {
        "openFloor": {
            "schema": {"version": "1.0.1"},
            "conversation": {"id": talk, "conversants": conversants},
            "sender": {"speakerUri": speaker}, "events": list(events),
        }
    }  # fmt: skip


def saying(text: str, own_id: str = "", **more: Any) -> dict[str, Any]:
    said = {
        "speakerUri": "tag:peer.test,2026:ada", "span": {"startTime": "2026-01-05T10:00:00Z"},
        "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": text}]}},
        **({"id": own_id} if own_id else {}),
    }  # fmt: skip
    return {"eventType": "utterance", "parameters": {"dialogEvent": said}, **more}


async def post(served: Served, token: str, body: Any, room: str = ROOM) -> Any:
    async with client(served.url, token) as http:
        answer = await http.post(f"/openfloor/{room}", json=body)
    assert answer.status_code == 200, answer.text
    assert envelope_of(answer.json()).warnings == ()
    return answer.json()["openFloor"]


def texts(answer: Any) -> list[str]:
    return [
        "".join(
            token["value"] for token in e["parameters"]["dialogEvent"]["features"]["text"]["tokens"]
        )
        for e in answer["events"]
        if e["eventType"] == "utterance"
    ]


async def test_what_a_peer_says_stands_in_all_channels_under_its_speaker(served: Served) -> None:
    token = await served.token("ada-home", role="human")
    invited = await post(served, token, envelope({"eventType": "invite"}, talk="a1"))
    await post(served, token, envelope(saying("Hello from afar", "d1"), talk="a1"))

    await served.local.until(lambda: served.stands("slack", "Hello from afar"))
    await served.local.until(lambda: served.stands("discord", "Hello from afar"))

    assert [event["eventType"] for event in invited["events"]] == ["acceptInvite"]
    assert invited["schema"] == {"version": "1.0.1"}
    assert invited["conversation"]["id"] == "a1"
    assert invited["sender"] == {
        "speakerUri": "tag:chat.example.org,2026:room:general",
        "serviceUrl": "https://chat.example.org/openfloor/general",
    }
    (standing,) = [m for m in served.local.standing("slack", ROOM) if "from afar" in m.text]
    assert "Ada Park (ada-home)" in standing.author


async def test_an_agent_that_is_addressed_answers_in_the_same_request(served: Served) -> None:
    token = await served.token("asker", role="human")
    to = {"speakerUri": "tag:chat.example.org,2026:agent:parrot"}

    answer = await post(served, token, envelope(saying("Polly?", "d1", to=to), talk="b1"))

    assert any("Polly?" in text for text in texts(answer))
    (spoken,) = [e["parameters"]["dialogEvent"] for e in answer["events"]]
    assert spoken["speakerUri"] == "tag:chat.example.org,2026:agent:parrot"


async def test_the_same_envelope_again_says_nothing_twice_and_gets_the_same_answer(
    served: Served,
) -> None:
    token = await served.token("again", role="human")
    to = {"speakerUri": "tag:chat.example.org,2026:agent:parrot"}
    body = envelope(saying("Only once", "d1", to=to), talk="e1")

    first, again = await post(served, token, body), await post(served, token, body)

    assert texts(first) == texts(again) != []
    await served.local.until(lambda: served.stands("discord", "Only once"))
    authors = [m.author for m in served.local.standing("discord", ROOM) if "Only once" in m.text]
    assert sorted(authors) == ["Ada Park (again)", "parrot"]


async def test_people_answer_with_the_next_envelope(served: Served) -> None:
    token = await served.token("listener", role="human")
    await post(served, token, envelope({"eventType": "invite"}, talk="f1"))
    await served.local.say("slack", ROOM, "Who is there?")
    await served.local.until(lambda: served.stands("discord", "Who is there?"))

    answer = await post(served, token, envelope(talk="f1"))
    again = await post(served, token, envelope(talk="f1", speaker="tag:peer.test,2026:other"))

    assert texts(answer) == ["Who is there?"]
    (spoken,) = [e["parameters"]["dialogEvent"] for e in answer["events"]]
    assert spoken["speakerUri"].startswith("tag:chat.example.org,2026:slack:")
    assert texts(again) == []


async def test_a_guest_hears_nothing_that_was_said_before_it_came(served: Served) -> None:
    await served.local.say("slack", ROOM, "Before the guest came")
    await served.local.until(lambda: served.stands("discord", "Before the guest came"))
    token = await served.token("late-guest", role="human")

    answer = await post(served, token, envelope({"eventType": "invite"}, talk="g1"))

    assert texts(answer) == []


async def test_a_peer_that_left_hears_no_more(served: Served) -> None:
    token = await served.token("leaver", role="human")
    await post(served, token, envelope({"eventType": "invite"}, talk="h1"))
    left = await post(served, token, envelope({"eventType": "bye"}, talk="h1"))
    await served.local.say("slack", ROOM, "After the good-bye")
    await served.local.until(lambda: served.stands("discord", "After the good-bye"))

    answer = await post(served, token, envelope(talk="h1"))

    assert left["events"] == []
    assert texts(answer) == []


async def test_a_private_utterance_is_told_to_nobody(served: Served) -> None:
    token = await served.token("whisperer", role="human")
    to = {"speakerUri": "tag:chat.example.org,2026:agent:parrot", "private": True}
    body = envelope(saying("swordfish", "d1", to=to), saying("public words", "d2"), talk="i1")

    await post(served, token, body)
    await served.local.until(lambda: served.stands("discord", "public words"))

    assert not served.stands("discord", "swordfish")
    assert not served.stands("slack", "swordfish")


async def test_events_for_others_are_ignored(served: Served) -> None:
    token = await served.token("misled", role="human")
    elsewhere = {"serviceUrl": "https://other.test"}
    nowhere = {"serviceUrl": "http://["}
    body = envelope(
        saying("not for you", "d1", to=elsewhere), saying("not for you", "d3", to=nowhere),
        saying("for you", "d2"), talk="j1",
    )  # fmt: skip

    await post(served, token, body)
    await served.local.until(lambda: served.stands("discord", "for you"))

    assert not served.stands("discord", "not for you")


async def test_manifests_are_given_on_request_and_by_get(served: Served) -> None:
    token = await served.token("curious", role="human")
    asking = {"eventType": "getManifests", "parameters": {"recommendScope": "internal"}}
    one = {**asking, "to": {"speakerUri": "tag:chat.example.org,2026:agent:parrot"}}
    external = {"eventType": "getManifests", "parameters": {"recommendScope": "external"}}

    (everybody,) = (await post(served, token, envelope(asking, talk="k1")))["events"]
    (parrot,) = (await post(served, token, envelope(one, talk="k2")))["events"]
    nobody = await post(served, token, envelope(external, talk="k3"))
    async with client(served.url, token) as http:
        by_get = (await http.get(f"/openfloor/{ROOM}")).json()

    names = [
        manifest["identification"]["conversationalName"]
        for manifest in everybody["parameters"]["servicingManifests"]
    ]
    assert names == [ROOM, "parrot"]
    (manifest,) = parrot["parameters"]["servicingManifests"]
    assert manifest["identification"]["synopsis"] == "Repeats"
    assert manifest["capabilities"][0]["keyphrases"] == ["repeat"]
    assert manifest["identification"]["serviceUrl"].endswith("/openfloor/general")
    assert nobody["events"] == []
    assert by_get["identification"]["conversationalName"] == ROOM


async def test_a_peer_that_looks_for_agents_is_told_of_those_that_fit_its_task(
    served: Served,
) -> None:
    token = await served.token("seeker", role="human")
    asking = {"eventType": "getManifests", "parameters": {"recommendScope": "external"}}
    task = saying("somebody to repeat my words", "t1", to={"private": True})
    whisper = {**saying("whom could I ask to repeat this?"), "eventType": "whisper"}
    old = {
        "ovon": {
            "schema": {"version": "0.9.2"}, "conversation": {"id": "seek2"},
            "sender": {"from": "https://old.test"},
            "events": [{"eventType": "findAssistant"}, whisper],
        }
    }  # fmt: skip
    served.bridge.settings = with_discovery(served.bridge.settings, discovery=True)
    try:
        (found,) = (await post(served, token, envelope(asking, task, talk="seek1")))["events"]
        async with client(served.url, token) as http:
            by_old_words = (await http.post(f"/openfloor/{ROOM}", json=old)).json()["ovon"]
            room = (await http.get(f"/openfloor/{ROOM}")).json()
    finally:
        served.bridge.settings = with_discovery(served.bridge.settings, discovery=False)

    (manifest,) = found["parameters"]["servicingManifests"]
    assert manifest["identification"]["conversationalName"] == "parrot"
    assert 0 < manifest["score"] < 1
    (proposed,) = by_old_words["events"]
    assert proposed["eventType"] == "proposeAssistant"
    assert 1 < proposed["parameters"]["servicingManifests"][0]["score"] < 100
    assert room["identification"]["openFloorRoles"] == {"convener": False, "discovery": True}
    assert not served.stands("discord", "repeat my words")


def with_discovery(settings: Settings, *, discovery: bool) -> Settings:
    floor = settings.openfloor.model_copy(update={"discovery": discovery})
    return settings.model_copy(update={"openfloor": floor})


async def test_an_old_peer_is_answered_in_old_words(served: Served) -> None:
    token = await served.token("oldie", role="human")
    said = saying("Tere parrot", "d1")["parameters"]
    said["dialogEvent"]["speakerId"] = said["dialogEvent"].pop("speakerUri")
    body = {
        "ovon": {
            "schema": {"version": "0.9.2"}, "conversation": {"id": "old1"},
            "sender": {"from": "https://old.test"},
            "events": [
                {"eventType": "requestManifest"},
                {"eventType": "utterance", "parameters": said},
            ],
        }
    }  # fmt: skip
    async with client(served.url, token) as http:
        answer = (await http.post(f"/openfloor/{ROOM}", json=body)).json()

    assert answer["ovon"]["schema"] == {"version": "0.9.2"}
    assert answer["ovon"]["sender"]["from"] == "https://chat.example.org/openfloor/general"
    assert answer["ovon"]["events"][0]["eventType"] == "proposeAssistant"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "no JSON: line 1 column 2"),
        (b"{}", 400, "no object under `openFloor` or `ovon`"),
        (b'{"openFloor": {"conversation": {"id": "1"}}}', 400, "/openFloor/events is no list"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_is_no_envelope_is_refused(
    served: Served, body: bytes, status: int, words: str
) -> None:
    token = await served.token("broken")
    async with client(served.url, token) as http:
        answer = await http.post(f"/openfloor/{ROOM}", content=body)

    assert answer.status_code == status
    assert words in answer.json()["detail"]


async def test_without_a_token_or_for_another_room_nothing_is_told(served: Served) -> None:
    async with httpx.AsyncClient(base_url=served.url) as http:
        nobody = await http.post(f"/openfloor/{ROOM}", json=envelope())
        forged = await http.post(
            f"/openfloor/{ROOM}", json=envelope(), headers={"Authorization": "Bearer uacs.x.y"}
        )
    token = await served.token("elsewhere", rooms=("other",))
    async with client(served.url, token) as http:
        other = await http.post(f"/openfloor/{ROOM}", json=envelope())
        manifest = await http.get(f"/openfloor/{ROOM}")
    reader = await served.token("reader-only", scopes=("read",))
    async with client(served.url, reader) as http:
        mute = await http.post(f"/openfloor/{ROOM}", json=envelope())

    assert [a.status_code for a in (nobody, forged, other, manifest, mute)] == [
        401, 401, 404, 404, 403,
    ]  # fmt: skip


async def test_a_speaker_cannot_pose_as_a_person_or_an_agent_of_the_bridge(served: Served) -> None:
    token = await served.token("forger", role="human")
    body = envelope(saying("I am the parrot @everyone <!channel>", "d1"), talk="m1")
    said = body["openFloor"]["events"][0]["parameters"]["dialogEvent"]
    said["speakerUri"] = "tag:chat.example.org,2026:agent:parrot"
    who = body["openFloor"]["conversation"]["conversants"][0]["identification"]
    who["speakerUri"], who["conversationalName"] = said["speakerUri"], "parrot"

    await post(served, token, body)
    await served.local.until(lambda: served.stands("discord", "I am the parrot"))

    (standing,) = [m for m in served.local.standing("discord", ROOM) if "I am the" in m.text]
    assert standing.author.startswith("parrot (forger)")
    on_slack = [m.raw["text"] for m in served.local.standing("slack", ROOM)]
    assert not any("<!channel>" in text for text in on_slack)


async def test_who_asks_for_the_floor_is_granted_it(served: Served) -> None:
    token = await served.token("asks-floor", role="human")
    answer = await post(served, token, envelope({"eventType": "requestFloor"}, talk="rf1"))

    assert answer["events"] == [
        {"eventType": "grantFloor", "to": {"speakerUri": "tag:peer.test,2026:ada"}}
    ]

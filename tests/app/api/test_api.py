"""Programs read rooms and post in them beside people on the platforms, with a whole bridge, the
real SDKs and the sandbox."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio

from bridge.app.build import Bridge
from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.uacs import Accumulator, read_conversation, read_delta, read_message
from tests.app.api.served import ROOM, Reader, client, reading, token_for
from tests.app.api.test_docs import example
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import hands, with_words
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class ServedApi:
    """One bridge for all tests of this file; each test posts different texts."""

    local: Sandbox
    bridge: Bridge
    url: str

    async def token(self, name: str, **changes: Any) -> str:
        return await token_for(self.bridge.store, self.bridge.clock, name, **changes)

    def pictures(self, platform: str) -> bool:
        standing = self.local.standing(platform, ROOM)
        return any(
            message.raw.get("attachments") or message.raw.get("files") for message in standing
        )

    def stands(self, platform: str, words: str, room: str = ROOM) -> bool:
        return any(words in message.text for message in self.local.standing(platform, room))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServedApi]:
    path: Path = tmp_path_factory.mktemp("api") / "b.sqlite3"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, path)
        settings["rooms"]["random"]["show_tools"] = "full"
        async with running(local, settings) as (bridge, url):
            yield ServedApi(local, bridge, url)


async def _posted(http: httpx.AsyncClient, text: str, **more: Any) -> dict[str, Any]:
    answer = await http.post(f"/v1/rooms/{ROOM}/messages", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_program_sees_its_rooms_and_reads_peoples_messages(api: ServedApi) -> None:
    token = await api.token("reader1", scopes=("read",))
    await api.local.say("slack", ROOM, "a word for programs")
    async with client(api.url, token) as http:
        rooms = (await http.get("/v1/rooms")).json()
        await api.local.until(lambda: api.stands("discord", "a word for programs"))
        page = await http.get(f"/v1/rooms/{ROOM}", params={"limit": 1})

    assert [room["id"] for room in rooms["rooms"]] == [ROOM]
    assert {channel["platform"] for channel in rooms["rooms"][0]["channels"]} == {
        "slack",
        "discord",
    }
    assert rooms["you"]["actor_id"] == "api:bridge:reader1"
    conversation = read_conversation(page.content)
    assert conversation.conversation_id == rooms["rooms"][0]["conversation_id"]
    assert "a word for programs" in str(conversation.messages[-1].content)


async def test_a_programs_message_appears_in_every_channel_under_its_name(api: ServedApi) -> None:
    async with client(api.url, await api.token("caller1")) as http:
        posted = await _posted(http, "said from **outside**")
        await api.local.until(
            lambda: all(api.stands(entry, "said from") for entry in ("slack", "discord"))
        )
        message = (await http.get(f"/v1/rooms/{ROOM}/messages/{posted['message_id']}")).json()

    assert {entry["platform"] for entry in posted["goes_to"]} == {"slack", "discord"}
    assert message["message"]["actor"] == {
        "id": "api:bridge:caller1", "role": "assistant", "name": "caller1",
    }  # fmt: skip
    assert message["yours"]
    copies = [entry for entry in api.local.standing("discord", ROOM) if "said from" in entry.text]
    assert [entry.author for entry in copies] == ["caller1"]


async def test_a_message_posted_twice_under_one_id_is_posted_once(api: ServedApi) -> None:
    async with client(api.url, await api.token("caller2")) as http:
        body = {"text": "only once", "message_id": "n1"}
        answers = await asyncio.gather(
            *(http.post(f"/v1/rooms/{ROOM}/messages", json=body) for _ in range(4))
        )
        keyed = [
            await http.post(
                f"/v1/rooms/{ROOM}/messages",
                json={"text": "by key"},
                headers={"Idempotency-Key": "k1"},
            )
            for _ in range(2)
        ]
        other = await http.post(
            f"/v1/rooms/{ROOM}/messages", json={"text": "else", "message_id": "n1"}
        )
        await api.local.until(lambda: api.stands("slack", "by key"))

    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({answer.json()["message_id"] for answer in answers}) == 1
    assert [entry.json()["repeat"] for entry in keyed] == [False, True]
    assert other.status_code == 409
    assert "Another message was posted" in other.json()["detail"]
    once = [entry for entry in api.local.standing("slack", ROOM) if "only once" in entry.text]
    assert len(once) == 1


async def test_a_program_edits_and_deletes_only_its_own_messages(api: ServedApi) -> None:
    where = f"/v1/rooms/{ROOM}/messages"
    await api.local.say("slack", ROOM, "mine, not yours")
    async with client(api.url, await api.token("caller3")) as http, reading(http) as reader:
        posted = await _posted(http, "first words")
        await api.local.until(lambda: api.stands("slack", "first words"))
        edited = await http.put(f"{where}/{posted['message_id']}", json={"text": "second words"})
        await api.local.until(lambda: api.stands("discord", "second words"))
        changed = await reader.event_with("second words", "message_changed")
        gone = await http.delete(f"{where}/{posted['message_id']}")
        await api.local.until(lambda: not api.stands("slack", "second words"))
        await reader.until("message_deleted")
        page = read_conversation((await http.get(f"/v1/rooms/{ROOM}")).content)
        theirs = next(
            message for message in page.messages if "mine, not yours" in str(message.content)
        )
        refused = await http.delete(f"{where}/{theirs.message_id}")
        after = await http.get(f"{where}/{posted['message_id']}")

    assert (edited.json()["outcome"], gone.json()["outcome"]) == ("edited", "deleted")
    assert changed["state"] == "edited"
    assert (refused.status_code, after.status_code) == (403, 404)


async def test_those_below_a_program_speak_under_their_own_names(api: ServedApi) -> None:
    where = f"/v1/rooms/{ROOM}/messages"
    async with client(api.url, await api.token("chief", actors=("plan*",))) as http:
        me = (await http.get("/v1/rooms")).json()["you"]["actor_id"]
        actor = {"id": f"{me}/planner", "name": "The Planner", "role": "assistant"}
        posted = await _posted(http, "I made a plan", actor=actor)
        await api.local.until(lambda: api.stands("discord", "I made a plan"))
        edited = await http.put(f"{where}/{posted['message_id']}", json={"text": "a better plan"})
        message = (await http.get(f"{where}/{posted['message_id']}")).json()
        others = [
            await http.post(where, json={"text": "No", "actor": {"id": other}})
            for other in (
                f"{me}/writer",
                "api:bridge:somebody",
                f"{me}/",
                7,
                f"{me}/plan{'x' * 200}",
            )
        ]
    async with client(api.url, await api.token("thief", actors=("*",))) as http:
        stolen = await http.delete(f"{where}/{posted['message_id']}")

    (copy,) = [m for m in api.local.standing("discord", ROOM) if "plan" in m.text]
    assert copy.author == "The Planner"
    assert edited.json()["outcome"] == "edited"
    assert message["message"]["actor"] == actor
    assert [answer.status_code for answer in others] == [403, 422, 422, 422, 422]
    assert "--actors" in others[0].json()["todo"]
    assert stolen.status_code == 403


async def test_results_of_tools_are_messages_of_tools_on_request(api: ServedApi) -> None:
    call = {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "c1", "content": "42"}
    async with client(api.url, await api.token("looker", rooms=("random",))) as http:
        body = {"content": [{"type": "text", "text": "I look it up"}, call, result]}
        await http.post("/v1/rooms/random/messages", json=body)
        found = {
            view: (await http.get("/v1/rooms/random", params={"tool_results": view})).json()
            for view in ("parts", "messages")
        }
        refused = await http.get("/v1/rooms/random", params={"tool_results": "both"})

    roles = {view: [m["actor"]["role"] for m in one["messages"]] for view, one in found.items()}
    assert "tool" not in roles["parts"]
    assert roles["messages"][-1] == "tool"
    assert found["messages"]["messages"][-1]["actor"]["name"] == "look_up"
    assert refused.status_code == 422


async def test_a_program_answers_in_a_thread_and_quotes(api: ServedApi) -> None:
    await api.local.say("slack", ROOM, "who is there?")
    async with (
        client(api.url, await api.token("caller4")) as http,
        reading(http, after="0.0") as reader,
    ):
        question = await reader.event_with("who is there?")
        root = question["message"]["message_id"]
        posted = await _posted(http, "it is me", thread=root)
        answer = await reader.event_with("it is me")
        await api.local.until(lambda: api.stands("slack", "it is me"))

    assert answer["thread"] == root
    assert answer["message"]["message_id"] == posted["message_id"]
    copies = [
        message for message in api.local.standing("slack", ROOM) if "it is me" in message.text
    ]
    assert copies[0].thread


async def test_a_growing_answer_is_sent_in_deltas_that_add_up_to_the_message(
    api: ServedApi,
) -> None:
    token = await api.token("reader5", scopes=("read",))
    async with client(api.url, token) as http, reading(http) as reader:
        await api.local.say("slack", ROOM, "@echo tell me a long story of deltas")
        await reader.event_with("tell me a long story")
        done = await reader.event_with("this is what reached me", "message_changed")

    answer = done["message"]["message_id"]
    raw = [event for event in reader.of("delta") if event["message_id"] == answer]
    accumulator = Accumulator()
    for event in raw:
        accumulator.add(read_delta(orjson.dumps(event["delta"])))
    assert len(raw) > 5
    assert accumulator.message.content == read_message(orjson.dumps(done["message"])).content
    assert done["state"] == "complete"


async def test_a_mention_by_name_reaches_a_program_and_an_agent_answers_a_person_of_the_api(
    api: ServedApi,
) -> None:
    person = await api.token("ann-of-api", role="human")
    robot = await api.token("robot6")
    async with (
        client(api.url, person) as ann,
        client(api.url, robot) as http,
        reading(http) as reader,
    ):
        await api.local.say("discord", ROOM, "@robot6 are you there?")
        mention = await reader.event_with("are you there?")
        await _posted(http, "@echo a bot calls no agent")
        await _posted(ann, "@echo but a person does")
        answer = await reader.event_with("but a person does", "message_changed")

    assert mention["mentions_you"]
    assert not (await reader.event_with("a bot calls no agent"))["mentions_you"]
    assert "ann-of-api" in str(answer["message"]["content"])
    assert "> @echo a bot" not in str(reader.of("message_changed"))


async def test_an_event_stream_resumes_at_its_position(api: ServedApi) -> None:
    token = await api.token("reader7")
    async with client(api.url, token) as http:
        async with reading(http) as before:
            await _posted(http, "heard before the break")
            await before.event_with("heard before the break")
        left = before.last_id
        posted = await _posted(http, "said meanwhile")
        await http.put(
            f"/v1/rooms/{ROOM}/messages/{posted['message_id']}", json={"text": "said otherwise"}
        )
        async with reading(http, after=left) as after:
            await after.until("message_changed")
            await _posted(http, "and live again")
            await after.event_with("and live again")

    contents = [str(event["message"]["content"]) for event in after.of("message_posted")]
    assert "heard before" not in str(contents)
    assert ["said otherwise" in event for event in contents] == [True, False]


async def test_a_press_on_a_card_of_a_program_comes_back_to_it_from_every_platform(
    api: ServedApi,
) -> None:
    data = {"type": "card", "nodes": [
        {"type": "prose", "text": "Shall we sail?"},
        {"type": "actions", "items": [
            {"type": "button", "label": "Set sail", "id": "sail", "value": 7}]},
    ]}  # fmt: skip
    part = {"type": "structured_data", "schema_id": "application/vnd.uacs.card+json", "data": data}
    async with (
        client(api.url, await api.token("captain1")) as http,
        client(api.url, await api.token("mate1")) as mate,
        reading(http) as reader,
        reading(mate) as other,
    ):
        posted = await http.post(f"/v1/rooms/{ROOM}/messages", json={"content": [part]})
        for platform, user in hands(api.local).items():
            await api.local.until(
                lambda p=platform: bool(with_words(api.local, p, "Shall we sail?"))
            )
            copy = with_words(api.local, platform, "Shall we sail?")
            assert copy
            outcome = await user.press(copy.id, "Set sail")
            assert not outcome.failed, (platform, outcome)
        async with asyncio.timeout(LONGEST_WAIT):
            while len(_presses(reader)) < 2 or len(_presses(other)) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    card = posted.json()["message_id"]
    presses = [press["message"]["content"][0]["data"] for press in _presses(reader)]
    assert [(press["id"], press["value"], press["message"]) for press in presses] == [
        ("sail", 7, card)
    ] * 2
    assert all(press["mentions_you"] for press in _presses(reader))
    assert not any(press["mentions_you"] for press in _presses(other))


def _presses(reader: Reader) -> list[Any]:
    return [
        event
        for event in reader.of("message_posted")
        if event["message"]["content"][0].get("schema_id") == INTERACTION
    ]


async def test_a_reaction_is_sent_as_an_event(api: ServedApi) -> None:
    async with client(api.url, await api.token("reader8")) as http, reading(http) as reader:
        native = await api.local.say("slack", ROOM, "react to this")
        posted = await reader.event_with("react to this")
        workspace, channel = api.local.place("slack", ROOM)
        person = api.local.person("slack", workspace)
        await api.local.platforms["slack"].react_as(workspace, channel, person, native, "👍")
        await reader.until("reactions_changed")

    (change,) = reader.of("reactions_changed")
    assert change["message_id"] == posted["message"]["message_id"]
    assert [reaction["emoji"] for reaction in change["reactions"]] == ["👍"]


async def test_a_token_that_is_revoked_ends_its_streams_with_a_reason(api: ServedApi) -> None:
    async with client(api.url, await api.token("reader9")) as http, reading(http) as reader:
        await api.bridge.store.revoke_token("reader9")
        await reader.until("end")
        refused = await http.get("/v1/rooms")

    assert reader.of("end")[0]["reason"] == "token_over"
    assert refused.status_code == 401
    assert "tokens add" in refused.json()["todo"]


async def test_a_program_reads_files_of_the_messages_that_it_sees(api: ServedApi) -> None:
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
        "rkJggg=="
    )
    part = {"type": "image", "source": {"base64": pixel}, "media_type": "image/png"}
    other = await api.token("stranger10", rooms=("random",))
    async with client(api.url, await api.token("caller10")) as http:
        answer = await http.post(f"/v1/rooms/{ROOM}/messages", json={"content": [part]})
        own_id = answer.json()["message_id"]
        message = (await http.get(f"/v1/rooms/{ROOM}/messages/{own_id}")).json()["message"]
        file_id = message["content"][0]["source"]["file_id"]
        query = {"room": ROOM, "message": own_id}
        got = await http.get(f"/v1/blobs/{file_id}", params=query)
        missing = await http.get("/v1/blobs/blob:sha256-" + "0" * 64, params=query)
        forged = await http.post(
            f"/v1/rooms/{ROOM}/messages",
            json={"content": [{**part, "source": {"file_id": file_id}}]},
        )
    async with client(api.url, other) as http:
        hidden = await http.get(f"/v1/blobs/{file_id}", params=query)
        unseen = await http.get("/v1/blobs/" + file_id, params={**query, "room": "random"})
    await api.local.until(lambda: api.pictures("slack") and api.pictures("discord"))

    assert got.content.startswith(b"\x89PNG")
    assert "sandbox" in got.headers["content-security-policy"]
    assert [response.status_code for response in (missing, forged, hidden, unseen)] == [
        404,
        422,
        404,
        404,
    ]


@pytest.mark.process
async def test_the_examples_of_the_docs_work(api: ServedApi) -> None:
    token = await api.token("helper")
    env = {**os.environ, "BRIDGE_URL": api.url, "BRIDGE_TOKEN": token, "BRIDGE_ROOM": ROOM}
    curl = await asyncio.create_subprocess_exec("bash", "-c", example("curl"), env=env, stdout=PIPE)
    agent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", example("agent"), env=env, stderr=PIPE
    )
    try:
        out, _ = await curl.communicate()
        async with asyncio.timeout(
            LONGEST_WAIT
        ):  # it may still be starting, and also reads messages from then
            while not api.stands("discord", "I counted 2 words"):
                await api.local.say("slack", ROOM, "@helper hello")
                await asyncio.sleep(0.5)
    finally:
        agent.kill()
        _, errors = await agent.communicate()

    assert not errors, errors.decode()
    for expected in (b'"you"', b'"conversation_id"', b'"goes_to"', b'"hits"', b"event: hello"):
        assert expected in out

"""What tokens permit and rooms admit, with the API over a router with fake connectors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from bridge.app.api.api_keys import Authenticator, TokenRequest, new_token, scopes_of, seconds_of
from bridge.app.api.problems import Problem
from bridge.app.api.view import outside_view
from bridge.content.cards.json import SCHEMA_ID
from bridge.content.cards.reader import Cards
from bridge.content.messages.agent_parts import REASONING, STATE
from bridge.errors import InvalidData
from bridge.model import ActorId
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, Turn
from bridge.router import AgentMembership, Router
from bridge.router.rooms.options import MessageFilter, RoomOptions
from bridge.store import SqliteStore
from bridge.uacs import (
    Actor,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from connectors.discord import cards as discord
from connectors.slack import cards as slack
from connectors.teams import cards as teams
from tests.app.api.served import RigGateway, in_process, token_for
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_presses import KEY, Deployer

ROOM = "plaza"
WHERE = f"/v1/rooms/{ROOM}"


@dataclass
class Served:
    rig: RouterRig
    router: Router
    gateway: RigGateway
    http: httpx.AsyncClient

    @property
    def billing(self) -> list[str]:
        billing = self.rig.connectors[next(a for a in self.rig.connectors if a == "billing")]
        return [post.text for post in billing.channels["b"]]

    async def post(self, text: str, **more: Any) -> httpx.Response:
        answer = await self.http.post(f"{WHERE}/messages", json={"text": text, **more})
        await self.rig.clock.advance(1)
        return answer

    async def as_token(self, name: str, **changes: Any) -> httpx.AsyncClient:
        fields = {"rooms": (ROOM,), **changes}
        return in_process(
            self.gateway, await token_for(self.rig.store, self.rig.clock, name, **fields)
        )


@asynccontextmanager
async def served(
    options: RoomOptions | None = None, codecs: Sequence[Any] = (), **changes: Any
) -> AsyncGenerator[Served]:
    clock = FakeClock()
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.cards = Cards.over(codecs, KEY)
    rig.agents = {"deployer": Deployer()}
    rig.memberships = (AgentMembership("deployer", "mentions"),)
    rig.room(ROOM, (sales, "s", "both"), (billing, "b", "both"))
    if options is not None:
        rig.rooms[0] = replace(rig.rooms[0], options=options)
    rig.room("other", (sales, "o", "both"))
    async with rig.run() as router:
        gateway = RigGateway(rig, router)
        fields = {"rooms": (ROOM,), **changes}
        token = await token_for(rig.store, clock, "robot", **fields)
        async with in_process(gateway, token) as http:
            yield Served(rig, router, gateway, http)


# --- tokens -------------------------------------------------------------------------------------


async def test_the_store_keeps_only_a_digest_of_a_token() -> None:
    stored_token, token = new_token(TokenRequest("robot", ("a",), ("read",)), 0.0)

    secret = token.rpartition(".")[2]
    assert token.startswith("uacs.robot.")
    assert len(secret) >= 40
    assert secret not in repr(stored_token)


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer x", "Basic dXNlcjpw", "Bearer uacs.robot.", "Bearer uacs.robot.wrong",
     "Bearer uacs.nobody.secret", "Bearer \udce9", "bearer uacs..", f"Bearer {'x' * 9000}"],
)  # fmt: skip
async def test_without_a_valid_token_every_request_is_refused(header: str) -> None:
    async with served() as api:
        raw = [(b"authorization", header.encode("utf-8", "surrogateescape"))]
        api.http.headers.pop("authorization")
        for path in ("/v1/rooms", f"{WHERE}/events", "/v1/nowhere", "/v1"):
            answer = await api.http.get(path, headers=raw)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "tokens add" in answer.json()["todo"]


async def test_a_token_ends_when_it_expires_or_is_replaced() -> None:
    async with served(seconds=60.0) as api:
        before = (await api.http.get("/v1/rooms")).status_code
        await api.rig.clock.advance(61)
        expired = await api.http.get("/v1/rooms")
        async with await api.as_token("robot") as fresh:
            renewed = (await fresh.get("/v1/rooms")).status_code
        old = (await api.http.get("/v1/rooms")).status_code

    assert (before, expired.status_code, renewed, old) == (200, 401, 200, 401)
    assert "expired" in expired.json()["detail"]


async def test_a_token_permits_only_its_scopes() -> None:
    async with served(scopes=("read",)) as api:
        refusal = await api.post("hello")
        pressed = await api.http.post(f"{WHERE}/interactions", json={})
        async with await api.as_token("mouth", scopes=("post",)) as mouth:
            read = await mouth.get(WHERE)
            posted = await mouth.post(f"{WHERE}/messages", json={"text": "hello"})

    assert [response.status_code for response in (refusal, pressed, read, posted)] == [
        403,
        403,
        403,
        201,
    ]
    assert "no scope 'post'" in refusal.json()["detail"]


async def test_rooms_of_other_tokens_are_not_found() -> None:
    async with served() as api:
        async with await api.as_token("other", rooms=("oth*",)) as other:
            posted = (await other.post("/v1/rooms/other/messages", json={"text": "secret"})).json()
        rooms = (await api.http.get("/v1/rooms")).json()["rooms"]
        paths = [
            "/v1/rooms/other", "/v1/rooms/other/events",
            f"/v1/rooms/other/messages/{posted['message_id']}",
            f"{WHERE}/messages/{posted['message_id']}", "/v1/search?q=secret&room=other",
        ]  # fmt: skip
        answers = [await api.http.get(path) for path in paths]
        reply = await api.post("hm", reply_to=posted["message_id"])
        found = (await api.http.get("/v1/search?q=secret")).json()

    assert [room["id"] for room in rooms] == [ROOM]
    assert [response.status_code for response in (*answers, reply)] == [404] * 6
    assert found["hits"] == []


async def test_messages_to_other_people_only_are_not_found() -> None:
    async with served() as api:
        own = await api.post("hello")
        room = api.rig.rooms[0]
        for name, reader in (("w1", "fake:sales:ann"), ("w2", "api:bridge:robot")):
            message = Message(
                message_id=name, timestamp="2026-11-22T12:00:00Z",
                actor=Actor(id="fake:sales:bob", role="human"),
                content=(TextPart(text=f"whispered to {reader}"),),
            )  # fmt: skip
            new = NewMessage(message, (await _author(api, own)), 1.0, audience=(ActorId(reader),))
            await api.rig.store.admit(Admission("routed", message=new, timelines=(room.timeline,)))
        page = (await api.http.get(WHERE)).json()["messages"]
        found = (await api.http.get("/v1/search?q=whispered")).json()["hits"]
        single = [(await api.http.get(f"{WHERE}/messages/{entry}")).status_code
                  for entry in ("w1", "w2")]  # fmt: skip

    assert [entry["message_id"] for entry in page][1:] == ["w2"]
    assert [entry["message"]["message_id"] for entry in found] == ["w2"]
    assert single == [404, 200]


async def _author(api: Served, own: httpx.Response) -> Any:
    stored = await api.rig.store.message(own.json()["message_id"])
    assert stored
    return stored.author


async def test_the_requests_of_a_token_are_limited() -> None:
    async with served(per_minute=3) as api:
        first = [(await api.http.get("/v1/rooms")).status_code for _ in range(4)]
        refusal = await api.http.get("/v1/rooms")
        await api.rig.clock.advance(20)
        later = [(await api.http.get("/v1/rooms")).status_code for _ in range(2)]

    assert first == [200, 200, 200, 429]
    assert 1 <= int(refusal.headers["retry-after"]) <= 20
    assert later == [200, 429]


async def test_a_stream_ends_when_its_token_expires() -> None:
    async with served(seconds=60.0) as api:
        authenticator = Authenticator(api.rig.store, api.rig.clock)
        caller = await authenticator.caller(api.http.headers["authorization"])
        before = await authenticator.is_valid(caller)
        await api.rig.clock.advance(61)

        assert (before, await authenticator.is_valid(caller)) == (True, False)


@pytest.mark.parametrize(
    ("name", "rooms", "scopes"),
    [("", ("a",), ("read",)), ("A b", ("a",), ("read",)), ("a", (), ("read",)),
     ("a", ("a",), ()), ("echo", ("a",), ("read",))],
)  # fmt: skip
def test_a_token_with_invalid_options_is_not_created(
    name: str, rooms: tuple[str, ...], scopes: Any
) -> None:
    with pytest.raises(InvalidData):
        new_token(TokenRequest(name, rooms, scopes), 0.0, taken=["echo"])


def test_invalid_times_and_scopes_are_refused() -> None:
    assert [seconds_of(text) for text in ("30d", "2h", "90m", "1w", "never")] == [
        2_592_000.0, 7200.0, 5400.0, 604_800.0, None,
    ]  # fmt: skip
    assert scopes_of("post, read") == ("read", "post")
    for wrong in ("", "30", "0d", "-1d", "d", "1y"):
        with pytest.raises(InvalidData):
            seconds_of(wrong)
    for wrong in ("", "admin", "read,all"):
        with pytest.raises(InvalidData):
            scopes_of(wrong)


# --- the gate -----------------------------------------------------------------------------------


async def test_a_paused_room_refuses_messages_with_the_reason() -> None:
    async with served() as api:
        await api.router.parts.rooms.bans.pause(api.rig.rooms[0].id, "cleaning", "ann")
        refused = await api.post("hello", message_id="m1")
        await api.router.parts.rooms.bans.resume(api.rig.rooms[0].id)
        taken = await api.post("hello", message_id="m1")

    assert (refused.status_code, taken.status_code) == (409, 201)
    assert "paused" in refused.json()["detail"]
    assert api.billing == ["hello"]


async def test_a_blocked_program_is_not_admitted() -> None:
    async with served() as api:
        actor = ActorId("api:bridge:robot")
        await api.router.parts.rooms.bans.set_blocked(actor, "ann", None, blocked=True)
        refused = await api.post("hello")

    assert refused.status_code == 409
    assert "banned" in refused.json()["detail"]


async def test_a_room_that_filters_bots_refuses_the_token_of_an_assistant() -> None:
    async with served(RoomOptions(message_filter=MessageFilter(bots=False))) as api:
        robot = await api.post("beep")
        async with await api.as_token("ann", role="human") as ann:
            person = await ann.post(f"{WHERE}/messages", json={"text": "hello"})

    assert (robot.status_code, person.status_code) == (409, 201)


async def test_a_flood_of_a_program_pauses_the_room() -> None:
    async with served(RoomOptions(bots_per_minute=5)) as api:
        statuses = [(await api.post(f"number {n}")).status_code for n in range(8)]

    assert statuses == [201] * 5 + [409] * 3
    assert any("paused" in text for text in api.billing)


async def test_a_program_can_set_neither_another_author_nor_the_bridges_own_parts() -> None:
    async with served() as api:
        forged = await api.post("hello", actor={"id": "agent:deployer", "role": "assistant"})
        whole = await api.http.post(
            f"{WHERE}/messages",
            json={
                "message_id": "m1", "timestamp": "2020-01-01T00:00:00Z",
                "actor": {"id": "api:bridge:robot", "role": "system", "name": "Boss"},
                "content": [{"type": "text", "text": "hello"}],
                "metadata": {
                    "mine": 1, "agents": {"deployer": {"x": 1}},
                    "uacs_bridge": {"origin": "https://evil.test", "person": "p1"},
                },
            },
        )  # fmt: skip
        stored = await api.http.get(f"{WHERE}/messages/{whole.json()['message_id']}")
        refused = [
            await api.http.post(f"{WHERE}/messages", json={"content": [part]})
            for part in (
                {"type": "structured_data", "schema_id": REASONING, "data": {"text": "x"}},
                {"type": "structured_data", "schema_id": STATE, "data": {"api": "x"}},
                {"type": "structured_data", "data": {},
                 "schema_id": "application/vnd.uacs.interaction+json"},
                {"type": "image", "media_type": "image/png",
                 "source": {"url": "http://169.254.169.254/"}},
                {"type": "file", "media_type": "x/y", "source": {"base64": "%%%"}},
            )
        ]  # fmt: skip

    message = stored.json()["message"]
    assert forged.status_code == 422
    assert message["actor"] == {"id": "api:bridge:robot", "role": "assistant", "name": "robot"}
    assert message["timestamp"].startswith("2023-")
    assert message["metadata"]["mine"] == 1
    assert message["metadata"]["uacs_bridge"].keys() == {"version", "channel", "native_id"}
    assert [response.status_code for response in refused] == [422] * 5


async def test_an_invalid_card_is_refused_with_its_place_and_not_posted() -> None:
    nodes: list[Any] = [{"type": "prose", "text": "Shall we"}, {"type": "hologram"}]
    data: dict[str, Any] = {"type": "card", "nodes": nodes}
    card = {"type": "structured_data", "schema_id": SCHEMA_ID, "data": data}
    body = {"content": [{"type": "text", "text": "A form:"}, card]}
    async with served() as api:
        posted = (await api.http.post(f"{WHERE}/messages", json={"text": "first"})).json()
        own = quote(posted["message_id"], safe="")
        answers = [await api.http.post(f"{WHERE}/messages", json=body),
                   await api.http.put(f"{WHERE}/messages/{own}", json=body)]  # fmt: skip
        nodes[1] = {"type": "divider"}
        mended = await api.http.post(f"{WHERE}/messages", json=body)

    for answer in answers:
        problem = answer.json()
        assert answer.status_code == 422
        assert "/content/1/data/nodes/1" in problem["detail"]
        assert "hologram" in problem["detail"] + problem["value"]
    assert mended.status_code == 201


NATIVE = [
    pytest.param(
        slack, "application/vnd.slack.blocks+json", [{"type": "divider"}, {"type": "hologram"}],
        "/1/type", [{"type": "divider"}], id="slack",
    ),
    pytest.param(
        discord, "application/vnd.discord.components+json", [{"type": 14}, {"type": 99}],
        "/1/type", [{"type": 14}], id="discord",
    ),
    pytest.param(
        teams, "application/vnd.microsoft.card.adaptive+json",
        {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock"}]},
        "/body/0",
        {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": "x"}]},
        id="teams",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("codec", "schema_id", "wrong", "place", "right"), NATIVE)
async def test_an_invalid_native_payload_is_refused_with_its_place_and_not_posted(
    codec: Any, schema_id: str, wrong: Any, place: str, right: Any
) -> None:
    def body(data: Any) -> dict[str, Any]:
        return {"content": [{"type": "structured_data", "schema_id": schema_id, "data": data}]}

    async with served(codecs=[codec]) as api:
        posted = (await api.http.post(f"{WHERE}/messages", json={"text": "first"})).json()
        own = quote(posted["message_id"], safe="")
        answers = [await api.http.post(f"{WHERE}/messages", json=body(wrong)),
                   await api.http.put(f"{WHERE}/messages/{own}", json=body(wrong))]  # fmt: skip
        await api.rig.clock.advance(1)
        texts = list(api.billing)
        mended = await api.http.post(f"{WHERE}/messages", json=body(right))

    for answer in answers:
        assert answer.status_code == 422
        assert f"/content/0/data{place}: " in answer.json()["detail"]
    assert texts == ["first"]
    assert mended.status_code == 201


async def test_a_press_on_a_programs_card_mentions_that_program_only() -> None:
    part = {"type": "structured_data", "schema_id": SCHEMA_ID, "data": {
        "type": "card", "nodes": [
            {"type": "actions", "items": [{"type": "button", "label": "Deploy", "id": "deploy"}]}]
    }}  # fmt: skip
    async with (
        served() as api,
        await api.as_token("ann", role="human") as ann,
        await api.as_token("other") as other,
    ):
        posted = (await api.http.post(f"{WHERE}/messages", json={"content": [part]})).json()
        body = {"message_id": posted["message_id"], "action": "deploy"}
        pressed = (await ann.post(f"{WHERE}/interactions", json=body)).json()
        await api.rig.clock.advance(5)
        path = f"{WHERE}/messages/{pressed['message_id']}"
        own_view, other_view = [(await http.get(path)).json() for http in (api.http, other)]

    agent = api.rig.agents["deployer"]
    assert isinstance(agent, Deployer)
    assert agent.pressed == []
    assert pressed["outcome"] == "told to its author"
    assert (own_view["mentions_you"], other_view["mentions_you"]) == (True, False)
    interaction = own_view["message"]["content"][0]["data"]
    assert (interaction["id"], interaction["message"]) == ("deploy", posted["message_id"])
    assert own_view["message"]["actor"]["name"] == "ann"


async def test_a_press_over_the_api_reaches_the_agent_like_a_press_on_a_platform() -> None:
    async with served() as api, await api.as_token("ann", role="human") as ann:
        await ann.post(f"{WHERE}/messages", json={"text": "@deployer please"})
        await api.rig.clock.advance(5)
        page = (await ann.get(WHERE)).json()["messages"]
        card = page[-1]["message_id"]
        body = {"message_id": card, "action": "deploy"}
        key = {"Idempotency-Key": "p1"}
        pressed = await ann.post(f"{WHERE}/interactions", json=body, headers=key)
        again = await ann.post(f"{WHERE}/interactions", json=body, headers=key)
        wrong = await ann.post(f"{WHERE}/interactions", json={**body, "action": "no"})
        none = await ann.post(
            f"{WHERE}/interactions", json={**body, "message_id": page[0]["message_id"]}
        )
        await api.rig.clock.advance(5)

    agent = api.rig.agents["deployer"]
    assert isinstance(agent, Deployer)
    assert [
        (press["id"], press["value"]) for press in agent.pressed if isinstance(press, dict)
    ] == [("deploy", 7)]
    assert (pressed.status_code, again.json()["repeat"]) == (200, True)
    assert (wrong.status_code, none.status_code) == (422, 422)
    assert "no such action" in wrong.json()["detail"]


FORM: dict[str, Any] = {
    "type": "structured_data",
    "schema_id": "application/vnd.uacs.card+json",
    "data": {
        "type": "card",
        "nodes": [
            {"type": "text_input", "id": "why", "label": "Why?"},
            {"type": "number_input", "id": "many", "label": "How many?"},
            {"type": "button", "label": "Send", "id": "send", "does": "submit"},
        ],
    },
}


class Asker(Deployer):
    """An agent that posts a form."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        async for event in super().run(turn, inputs):
            yield PartGiven(part=FORM) if isinstance(event, PartGiven) else event


async def test_a_form_that_a_program_submits_reaches_its_author_filled_in() -> None:
    async with served() as api, await api.as_token("ann", role="human") as ann:
        agent = api.rig.agents["deployer"] = Asker()
        await ann.post(f"{WHERE}/messages", json={"text": "@deployer please"})
        await api.rig.clock.advance(5)
        form = (await ann.get(WHERE)).json()["messages"][-1]["message_id"]
        values = {"why": "because", "many": "3", "nobody": "asked"}
        body = {"message_id": form, "action": "send", "values": values}
        sent = await ann.post(f"{WHERE}/interactions", json=body)
        await api.rig.clock.advance(5)

    assert sent.status_code == 200, sent.text
    (submission,) = agent.pressed
    assert isinstance(submission, dict)
    assert (submission["kind"], submission["id"]) == ("submitted", "send")
    assert submission["inputs"] == {"why": "because", "many": 3}


async def test_a_form_with_a_mistake_is_answered_with_the_inputs_that_are_wrong() -> None:
    async with served() as api, await api.as_token("ann", role="human") as ann:
        agent = api.rig.agents["deployer"] = Asker()
        await ann.post(f"{WHERE}/messages", json={"text": "@deployer please"})
        await api.rig.clock.advance(5)
        form = (await ann.get(WHERE)).json()["messages"][-1]["message_id"]
        body = {"message_id": form, "action": "send", "values": {"many": "three"}}
        sent = await ann.post(f"{WHERE}/interactions", json=body)
        await api.rig.clock.advance(5)

    assert sent.status_code == 422
    assert sent.json()["detail"] == "The form was not sent: many must be a number"
    assert agent.pressed == []


async def test_paging_backwards_reaches_the_first_message() -> None:
    async with served() as api:
        empty = (await api.http.get(WHERE)).json()
        for number in range(5):
            await api.post(f"number {number}")
        texts: list[str] = []
        query: dict[str, Any] = {"limit": 2}
        while True:
            page = (await api.http.get(WHERE, params=query)).json()
            texts[:0] = [message["content"][0]["text"] for message in page["messages"]]
            before = page["metadata"]["uacs_bridge"]["next_before"]
            if before is None:
                break
            query["before"] = before

    assert empty["messages"] == []
    assert texts == [f"number {number}" for number in range(5)]


# --- what is shown ------------------------------------------------------------------------------


def test_private_parts_of_agents_are_hidden_and_later_parts_keep_their_metadata() -> None:
    def data(schema: str) -> StructuredDataPart:
        return StructuredDataPart(schema_id=schema, data={"x": 1})

    message = Message(
        message_id="m", timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id="agent:a", role="assistant"),
        content=(data(REASONING), data("application/x"), TextPart(text="the same"), data(STATE)),
        metadata={
            "agents": {"a": 1}, "usage": 2,
            "uacs_bridge": {
                "version": 1, "home": {"x": 1}, "fallbacks": {"1": [2]},
                "parts": {"2": {"name": "n"}},
            },
        },
    )  # fmt: skip

    view = outside_view(message)

    assert view.content == (data("application/x"), TextPart(text="the same"))
    assert view.metadata == {
        "usage": 2,
        "uacs_bridge": {"version": 1, "fallbacks": {"0": [1]}, "parts": {"1": {"name": "n"}}},
    }
    assert outside_view(view) is view


async def test_hidden_content_is_not_found_by_a_search() -> None:
    async with served() as api:
        own = (await api.post("hello")).json()["message_id"]
        stored = await api.rig.store.message(own)
        assert stored
        result = ToolResultPart(tool_call_id="c1", content="hidden treasure")
        content = (*stored.message.content, result)
        changed = stored.message.model_copy(update={"content": content})
        await api.rig.store.change_message(changed, "edited")
        found = [(await api.http.get("/v1/search", params={"q": query})).json()["hits"]
                 for query in ("hello", "treasure")]  # fmt: skip

    assert [len(hits) for hits in found] == [1, 0]


async def test_a_search_gives_the_messages_around_a_hit_without_whispers() -> None:
    async with served() as api:
        for text in ("one", "two", "three"):
            await api.post(text)
        params = {"q": "two", "context": "1"}
        (hit,) = (await api.http.get("/v1/search", params=params)).json()["hits"]
        refused = await api.http.get("/v1/search", params={"q": "two", "context": "11"})

    texts = [[m["content"][0]["text"] for m in hit[side]] for side in ("before", "behind")]
    assert texts == [["one"], ["three"]]
    assert hit["before"][0]["metadata"]["uacs_bridge"]["channel"]
    assert refused.status_code == 422


def test_a_program_sees_tool_calls_as_the_room_shows_them() -> None:
    call = ToolCallPart(id="c1", name="calendar__list", arguments={"day": "secret day"})
    result = ToolResultPart(tool_call_id="c1", content="secret result")
    message = Message(
        message_id="m", timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id="agent:a", role="assistant"),
        content=(call, result, TextPart(text="done")),
    )  # fmt: skip

    assert outside_view(message, "off").content == (TextPart(text="done"),)
    named = outside_view(message, "names")
    assert "secret" not in str(named.content)
    assert len(named.content) == 2
    assert outside_view(message, "full") is message


def test_a_problem_has_the_detail_the_value_and_what_to_do() -> None:
    problem = Problem(422, "too long", value="x" * 500, todo="write less").response()

    assert problem.media_type == "application/problem+json"
    assert len(problem.body) < 300

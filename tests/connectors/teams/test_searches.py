"""Searches in a menu whose options do not all fit in its card."""

from __future__ import annotations

import time
from typing import Any

import httpx
import orjson
import pytest
from starlette.applications import Starlette

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Button, Card, Choice, Option
from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef
from bridge.model.secret_refs import SecretRef
from bridge.runtime.clock import SystemClock
from bridge.testing.inbox import ListInbox
from bridge.uacs import Actor, Message, StructuredDataPart
from connectors.teams import cards as codec
from connectors.teams.activity import BotIdentity
from connectors.teams.presses import matching_options
from connectors.teams.receive import Receiver
from connectors.teams.references import References
from connectors.teams.settings import TeamsSettings
from connectors.teams.validate import SigningKeys, TokenValidator
from tests.connectors.doubles import MemoryKeyValues
from tests.connectors.teams.payloads import APP_ID, CHANNEL, TENANT, activity
from tests.connectors.teams.test_validate import KEY, Publisher, token
from tests.connectors.teams.written import elements, kinds, line, write

FISH = Option(line("Pigfish"), "pig")
OPTIONS = (
    FISH,
    Option(line("Butterfly"), "but", line("of the meadow")),
    Option(line("Butter"), "b"),
)
MENU = Choice(options=OPTIONS, at="/m")
MANY = tuple(Option(line(f"option number {n}"), f"{n}") for n in range(2000))


def path(at: str) -> str:
    return f"token{at}"


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("", ["pig", "but", "b"]),
        ("BUTTER", ["but", "b"]),
        ("meadow butter", ["but"]),
        ("snail", []),
    ],
)
def test_options_are_found_by_their_text(typed: str, values: list[str]) -> None:
    query = {"dataset": "token/m", "queryText": typed}

    assert [option["value"] for option in matching_options(Card((MENU,)), path, query)] == values


def test_an_option_search_returns_one_page() -> None:
    card = Card((Choice(options=MANY, many=True, at="/m"),))
    query = {"dataset": "token/m", "queryText": "number", "queryOptions": {"skip": 20, "top": 15}}

    options = matching_options(card, path, query)

    assert options[0] == {"title": "option number 20", "value": "20"}
    assert len(options) == 15


@pytest.mark.parametrize("query", [{}, {"dataset": 7}, {"dataset": "token/b", "queryOptions": []}])
def test_an_option_search_of_a_node_other_than_a_menu_finds_nothing(query: Any) -> None:
    card = Card((MENU, Button(line("Go"), does="press", at="/b")))

    assert matching_options(card, path, query) == []


def test_a_menu_that_is_too_large_searches_for_further_options() -> None:
    node = Choice(options=MANY, form="list", at="/m")

    (menu,) = elements(node)

    assert menu["style"] == "filtered"
    assert menu["choices.data"] == {"type": "Data.Query", "dataset": "token/m"}
    assert [kind for _, kind, _ in kinds(write(node))] == ["options_cut"]


# --- over HTTP ------------------------------------------------------------------------------


CARDS = Cards.over([codec], bytes(32))
MESSAGE = Message(
    message_id="agent:desk:1",
    timestamp="2026-01-01T00:00:00Z",
    actor=Actor(id="agent:desk", role="assistant"),
    content=(StructuredDataPart(schema_id=SCHEMA_ID, data=card_to_json(Card((MENU,)))),),
)


class _Failing(ListInbox):
    async def message_of(self, channel: ChannelRef, native_id: str) -> Message | None:
        raise StoreError("the disk is gone")


def search(message: str | None = "1700") -> Any:
    (menu,) = CARDS.read(MESSAGE)[0].nodes
    value = {"dataset": CARDS.tokens(MESSAGE)(menu.at), "queryText": "pig"}
    return activity("invoke", name="application/search", value=value, replyToId=message)


async def search_results(inbox: ListInbox, body: Any) -> Any:
    settings = TeamsSettings(app_id=APP_ID, app_password=SecretRef(env="X"), tenant_id=TENANT)
    keys = SigningKeys(settings.openid_url, Publisher(k1=KEY).fetch, SystemClock())
    receiver = Receiver(
        settings,
        BotIdentity(AccountId("teams"), APP_ID, TENANT),
        inbox,
        References(MemoryKeyValues()),
        TokenValidator(settings, keys, SystemClock()),
        lambda _activity: None,
        lambda _activity: False,
        CARDS,
    )
    transport = httpx.ASGITransport(Starlette(routes=list(receiver.routes())))
    now = int(time.time())
    headers = {"Authorization": f"Bearer {token(nbf=now, exp=now + 60)}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://bridge") as client:
        answer = await client.post("/messages", content=orjson.dumps(body), headers=headers)
    assert answer.status_code == 200
    assert answer.json()["type"] == "application/vnd.microsoft.search.searchResponse"
    return answer.json()["value"]["results"]


def inbox_with(message: Message) -> ListInbox:
    inbox = ListInbox()
    inbox.messages[ChannelRef(platform="teams", workspace=TENANT, channel=CHANNEL), "1700"] = (
        message
    )
    return inbox


async def test_a_search_is_answered_from_the_card_and_not_stored() -> None:
    inbox = inbox_with(MESSAGE)

    assert await search_results(inbox, search()) == [{"title": "Pigfish", "value": "pig"}]
    assert inbox.raws == []


async def test_a_search_in_a_message_without_live_tokens_finds_nothing() -> None:
    foreign = MESSAGE.model_copy(update={"actor": Actor(id="slack:T1:U1", role="human")})

    assert await search_results(inbox_with(foreign), search()) == []


async def test_a_search_in_an_unknown_message_finds_nothing() -> None:
    assert await search_results(ListInbox(), search()) == []
    assert await search_results(inbox_with(MESSAGE), search(message=None)) == []
    assert await search_results(_Failing(), search()) == []

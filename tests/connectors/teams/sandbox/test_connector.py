"""The REST API of the connector service, request by request."""

from __future__ import annotations

import time
from typing import Any

import aiohttp
import pytest

from bridge.sandbox.faults import Fault
from connectors.teams.sandbox.seed import seed
from connectors.teams.sandbox.tokens import TOKEN_SECONDS, Keys, Login
from tests.connectors.teams.sandbox.rest import (
    RestClient,
    activities,
    as_bot,
    bot_token,
    conversation,
)
from tests.connectors.teams.sandbox.running import Host, RunningTeams

HELLO = {"type": "message", "text": "hello"}
NOT_INSTALLED = "The bot is not part of the conversation roster."
POSTS = "teams:activity.post:*"
BAD_PARAMETERS = "Incorrect conversation creation parameters"


def error(code: str, message: str) -> dict[str, dict[str, str]]:
    return {"error": {"code": code, "message": message}}


async def test_a_channel_post_starts_a_thread_for_replies(
    teams: RunningTeams,
) -> None:
    async with as_bot(teams) as rest:
        root = (await rest.post(teams.channel, "root")).body["id"]
        chain = f"{teams.channel};messageid={root}"
        by_chain = (await rest.post(chain, "by chain")).body["id"]
        by_reply = await rest.post(teams.channel, "by reply", reply_to=by_chain)
        made_up = await rest.post(chain, "made-up reply", reply_to="3f1c-not-a-message")
        alone = await rest.post(teams.channel, "alone", reply_to="3f1c-not-a-message")

    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel))
    assert [(m.text, m.thread) for m in messages] == [
        ("root", None),
        ("by chain", root),
        ("by reply", root),
        ("made-up reply", root),
        ("alone", None),
    ]
    assert [by_reply.status, made_up.status, alone.status] == [201] * 3
    ids = [int(m.id) for m in messages]
    assert ids == sorted(set(ids))


async def test_chats_have_no_threads(teams: RunningTeams) -> None:
    chat = teams.teams.world().apps[0]["group_chat"]

    async with as_bot(teams) as rest:
        first = (await rest.post(chat, "first")).body["id"]
        await rest.post(chat, "second", reply_to=first)

    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, chat))
    assert [(m.text, m.thread) for m in messages] == [("first", None), ("second", None)]


async def test_a_message_is_edited_and_deleted_by_its_author(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        own = (await rest.post(teams.channel, "first")).body["id"]
        edited = await rest("PUT", activities(teams.channel, own), HELLO | {"text": "second"})
        messages = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel))
        deleted = await rest("DELETE", activities(teams.channel, own))
        again = await rest("DELETE", activities(teams.channel, own))
        reply = await rest.post(f"{teams.channel};messageid={own}", "too late")

    assert (edited.status, edited.body) == (200, {"id": own})
    assert [(m.text, m.edited) for m in messages] == [("second", True)]
    assert (deleted.status, deleted.body) == (200, None)
    not_found = error("ActivityNotFoundInConversation", "Message does not exist in the thread.")
    assert [(a.status, a.body) for a in (again, reply)] == [(404, not_found)] * 2
    assert await teams.texts() == []


async def test_a_bot_reacts_when_the_service_supports_it(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        own = (await rest.post(teams.channel, "first")).body["id"]
        path = activities(teams.channel, own) + "/reactions/"
        answers = [await rest("PUT", path + kind) for kind in ("like", "like", "no such type!")]
        target = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel)[0])
        answers.append(await rest("DELETE", path + "like"))
        answers.append(await rest("PUT", activities(teams.channel, "1") + "/reactions/like"))
        teams.teams.tenant.bots_react = False
        answers.append(await rest("PUT", path + "like"))
        after = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel)[0])

    assert list(target.reactions) == ["👍"]
    assert after.reactions == {}
    assert [answer.status for answer in answers] == [200, 200, 400, 200, 404, 405]


async def test_typing_activities_are_accepted_and_not_stored(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        typing = await rest("POST", activities(teams.channel), {"type": "typing"})

    assert typing.status == 201
    assert await teams.texts() == []


async def test_a_channel_thread_is_created_with_its_first_message(teams: RunningTeams) -> None:
    parameters = {
        "isGroup": True,
        "channelData": {"channel": {"id": teams.channel}},
        "activity": HELLO,
        "tenantId": teams.tenant,
    }

    async with as_bot(teams) as rest:
        created = await rest("POST", "/v3/conversations", parameters)

    own = created.body["activityId"]
    assert created.status == 201
    assert created.body == {"id": f"{teams.channel};messageid={own}", "activityId": own}
    assert await teams.texts() == ["hello"]


async def test_a_personal_chat_is_created_once(teams: RunningTeams) -> None:
    person = next(iter(teams.teams.tenant.people))
    parameters = {"isGroup": False, "members": [{"id": person}], "tenantId": teams.tenant}

    async with as_bot(teams) as rest:
        first = await rest("POST", "/v3/conversations", parameters)
        second = await rest("POST", "/v3/conversations", parameters | {"activity": HELLO})

    chat = teams.teams.personal_chat("bridge", person)
    assert chat.startswith("a:1")
    assert [(a.status, a.body) for a in (first, second)] == [(201, {"id": chat})] * 2
    assert await teams.texts(chat) == ["hello"]


@pytest.mark.parametrize(
    ("parameters", "status", "body"),
    [
        ({"isGroup": True, "channelData": {"channel": {"id": "CHANNEL"}}}, 400, BAD_PARAMETERS),
        ({"isGroup": True, "members": [{"id": "PERSON"}], "tenantId": "T"}, 400, BAD_PARAMETERS),
        ({"members": [{"id": "PERSON"}, {"id": "PERSON"}], "tenantId": "T"}, 400, BAD_PARAMETERS),
        ({}, 400, BAD_PARAMETERS),
        ({"members": 7, "channelData": [], "bot": []}, 400, BAD_PARAMETERS),
        ({"members": [{"id": "PERSON"}]}, 400, "Bad format of conversation ID"),
        ({"members": [{"id": "29:nobody"}], "tenantId": "T"}, 400, "Bad format of conversation ID"),
        (
            {"members": [{"id": "PERSON"}], "bot": {"id": "28:other"}, "tenantId": "T"},
            400,
            "The bot does not match the token.",
        ),
        (
            {"members": [{"id": "LAST"}], "tenantId": "T"},
            403,
            "Bot is not installed in user's personal scope",
        ),
        ({"channelData": {"channel": {"id": "CLOSED"}}, "activity": HELLO}, 403, NOT_INSTALLED),
        (
            {"channelData": {"channel": {"id": "19:none@thread.tacv2"}}, "activity": HELLO},
            404,
            "Conversation not found.",
        ),
    ],
)
async def test_invalid_conversation_requests_are_refused(
    untouched: RunningTeams, parameters: dict[str, Any], status: int, body: str
) -> None:
    people = list(untouched.teams.tenant.people)
    names = {
        "CHANNEL": untouched.channel,
        "PERSON": people[0],
        "LAST": people[-1],
        "T": untouched.tenant,
        "CLOSED": untouched.teams.world().apps[0]["not_installed"],
    }

    async with as_bot(untouched) as rest:
        refused = await rest("POST", "/v3/conversations", filled(parameters, names))

    assert (refused.status, refused.body["error"]["message"]) == (status, body)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"{not json", 400, "BadSyntax"),
        (b"\xff\xfe", 400, "BadSyntax"),
        (b"[1, 2]", 400, "BadSyntax"),
        (b"null", 400, "BadSyntax"),
        (b"{" * 100_000, 400, "BadSyntax"),
        ({"text": "no type"}, 400, "BadArgument"),
        ({"type": "trace", "text": "x"}, 400, "BadArgument"),
        ({"type": ["message"]}, 400, "BadArgument"),
        ({"type": "message"}, 400, "BadSyntax"),
        ({"type": "message", "text": "  \n"}, 400, "BadSyntax"),
        ({"type": "message", "text": 7}, 400, "BadSyntax"),
        ({"type": "message", "text": "x", "attachments": "none"}, 400, "BadSyntax"),
        ({"type": "message", "text": "x" * 51_300}, 413, "MessageSizeTooBig"),
        ({"type": "message", "text": "𐐷" * 25_700}, 413, "MessageSizeTooBig"),
        (b'{"type": "message", "text": "' + b"x" * 1_000_000 + b'"}', 413, "MessageSizeTooBig"),
    ],
)
async def test_invalid_activities_are_refused(
    untouched: RunningTeams, sent: Any, status: int, code: str
) -> None:
    untouched.context.feed.refusals.clear()

    async with as_bot(untouched) as rest:
        refused = await rest("POST", activities(untouched.channel), sent)

    assert (refused.status, refused.body["error"]["code"]) == (status, code)
    assert await untouched.texts() == []
    assert untouched.context.feed.refusals == {f"teams:{status}:activity.post": 1}


async def test_a_message_and_an_image_within_the_limits_are_accepted(
    teams: RunningTeams,
) -> None:
    picture = {"contentType": "image/png", "contentUrl": "data:image/png;base64," + "A" * 200_000}

    async with as_bot(teams) as rest:
        long = await rest.post(teams.channel, "x" * 40_000)
        with_picture = await rest(
            "POST", activities(teams.channel), HELLO | {"attachments": [picture]}
        )

    assert [long.status, with_picture.status] == [201, 201]


@pytest.mark.parametrize(
    ("where", "status", "refusal"),
    [
        ("CLOSED", 403, error("BotNotInConversationRoster", NOT_INSTALLED)),
        ("19:none@thread.tacv2", 404, error("ConversationNotFound", "Conversation not found.")),
        ("a:none", 404, error("ConversationNotFound", "Conversation not found.")),
        ("CHAT OF ANOTHER BOT", 403, error("BotNotInConversationRoster", NOT_INSTALLED)),
        ("general", 400, error("BadSyntax", "Bad format of conversation ID")),
        (
            "CHANNEL;messageid=12",
            404,
            error("ActivityNotFoundInConversation", "Message does not exist in the thread."),
        ),
    ],
)
async def test_posts_to_inaccessible_conversations_are_refused(
    untouched: RunningTeams, where: str, status: int, refusal: Any
) -> None:
    person = next(iter(untouched.teams.tenant.people))
    names = {
        "CLOSED": untouched.teams.world().apps[0]["not_installed"],
        "CHAT OF ANOTHER BOT": untouched.teams.personal_chat("plain", person),
        "CHANNEL;messageid=12": f"{untouched.channel};messageid=12",
    }

    async with as_bot(untouched) as rest:
        refused = await rest.post(names.get(where, where), "hello")

    assert (refused.status, refused.body) == (status, refusal)


async def test_a_bot_cannot_change_messages_of_others(teams: RunningTeams) -> None:
    person = await teams.say("mine")
    async with as_bot(teams, "plain") as plain:
        other = (await plain.post(teams.channel, "of another bot")).body["id"]

    async with as_bot(teams) as rest:
        answers = [
            await rest(method, activities(teams.channel, own), HELLO)
            for own in (person.id, other)
            for method in ("PUT", "DELETE")
        ]

    assert {(a.status, a.body["error"]["code"]) for a in answers} == {(403, "NotEnoughPermissions")}
    assert await teams.texts() == ["mine", "of another bot"]


async def test_an_edit_keeps_its_conversation_and_kind_of_content(
    teams: RunningTeams,
) -> None:
    elsewhere = teams.teams.world().places[2].channel
    empty = {"type": "AdaptiveCard", "version": "1.5"}
    card = {"contentType": "application/vnd.microsoft.card.adaptive", "content": empty}

    async with as_bot(teams) as rest:
        own = (await rest.post(teams.channel, "hello")).body["id"]
        other = (await rest.post(teams.channel, "other root")).body["id"]
        both = await rest("PUT", activities(teams.channel, own), HELLO | {"attachments": [card]})
        wrong_channel = await rest("PUT", activities(elsewhere, own), HELLO)
        wrong_chain = await rest(
            "PUT", activities(f"{teams.channel};messageid={other}", own), HELLO
        )
        right_chain = await rest("PUT", activities(f"{teams.channel};messageid={own}", own), HELLO)

    assert both.body == error("BadSyntax", "Activity resulted into multiple skype activities")
    assert [wrong_channel.status, wrong_chain.status, right_chain.status] == [404, 404, 200]


async def test_a_blocked_bot_cannot_post(teams: RunningTeams) -> None:
    person = next(iter(teams.teams.tenant.people))
    chat = teams.teams.personal_chat("bridge", person)
    await teams.call(lambda: teams.teams.block("bridge", chat))

    async with as_bot(teams) as rest:
        refused = await rest.post(chat, "hello")

    assert (refused.status, refused.body["error"]["code"]) == (403, "MessageWritesBlocked")


async def test_a_bot_can_read_members_and_teams(teams: RunningTeams) -> None:
    team = next(iter(teams.teams.tenant.teams.values()))
    ada = team.people[0]

    async with as_bot(teams) as rest:
        everyone = await rest("GET", conversation(teams.channel, "members"))
        paged = await rest("GET", conversation(f"{teams.channel};messageid=1", "pagedmembers"))
        by_directory_id = await rest("GET", conversation(teams.channel, f"members/{ada.aad_id}"))
        nobody = await rest("GET", conversation(teams.channel, "members/29:nobody"))
        bad_page = await rest("GET", conversation(teams.channel, "pagedmembers?pageSize=x"))
        details = await rest("GET", f"/v3/teams/{team.id}")
        channels = await rest("GET", f"/v3/teams/{team.id}/conversations")
        closed = await rest("GET", f"/v3/teams/{teams.teams.world().apps[0]['not_installed']}")
        unknown = await rest("GET", "/v3/teams/19:none@thread.tacv2")

    assert [person["name"] for person in everyone.body] == [p.name for p in team.people]
    assert paged.body == {"members": everyone.body}
    assert by_directory_id.body == {
        "id": ada.id,
        "name": "Ada Lindqvist",
        "aadObjectId": ada.aad_id,
        "givenName": "Ada",
        "surname": "Lindqvist",
        "email": "ada.lindqvist@lakeside.example",
        "userPrincipalName": "ada.lindqvist@lakeside.example",
        "tenantId": teams.tenant,
        "userRole": "user",
    }
    assert details.body == {
        "id": team.id,
        "name": "Atlas",
        "aadGroupId": team.aad_group_id,
        "tenantId": teams.tenant,
        "type": "standard",
        "channelCount": 3,
        "memberCount": 5,
    }
    assert [c["name"] for c in channels.body["conversations"]] == [None, "Random", "Help"]
    statuses = [nobody.status, bad_page.status, closed.status, unknown.status]
    assert statuses == [404, 400, 403, 404]


async def test_members_are_listed_in_pages_of_at_least_fifty(teams: RunningTeams) -> None:
    team = next(iter(teams.teams.tenant.teams.values()))
    people = team.people * 24  # 120

    async with as_bot(teams) as rest:
        await teams.call(lambda: team.people.extend(people[5:]))
        first = await rest("GET", conversation(teams.channel, "pagedmembers?pageSize=1"))
        token = first.body["continuationToken"]
        path = f"pagedmembers?pageSize=100&continuationToken={token}"
        rest_of_them = await rest("GET", conversation(teams.channel, path))

    assert len(first.body["members"]) == 50
    assert len(rest_of_them.body["members"]) == 70
    assert "continuationToken" not in rest_of_them.body


async def test_unsupported_methods_are_refused(untouched: RunningTeams) -> None:
    async with as_bot(untouched) as rest:
        listed = await rest("GET", "/v3/conversations")
        removed = await rest("DELETE", conversation(untouched.channel, "members/29:1"))

    text = "The requested resource does not support http method '{}'."
    assert (listed.status, listed.body) == (405, {"message": text.format("GET")})
    assert (removed.status, removed.body) == (405, {"message": text.format("DELETE")})


async def test_requests_without_a_valid_token_are_refused(untouched: RunningTeams) -> None:
    denied = {"message": "Authorization has been denied for this request."}
    async with aiohttp.ClientSession() as session:
        good = await bot_token(session, untouched, "bridge")
        graph = await bot_token(session, untouched, "bridge", "https://graph.microsoft.com")
        url = untouched.teams.service_url("bridge")

        tokens = ("", "forged", good[:-2], good + "x", graph)
        answers = [
            await RestClient(session, url, t).post(untouched.channel, "hello") for t in tokens
        ]
        noauth = f"{untouched.base_url}/teams/noauth/{untouched.bot('bridge').app_id}/"
        answers.append(await RestClient(session, noauth, "").post(untouched.channel, "hello"))

    assert [(a.status, a.body) for a in answers] == [(401, denied)] * 6
    assert await untouched.texts() == []


def test_a_token_expires_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = seed(1)
    bot = tenant.bot("bridge")
    assert bot
    login = Login(tenant, Keys())
    form = {
        "grant_type": "client_credentials",
        "client_id": bot.app_id,
        "client_secret": bot.password,
        "scope": "https://api.botframework.com/.default",
    }
    token = login.give(tenant.id, form)["access_token"]
    now = time.time()

    assert login.app_of(token) == bot.app_id
    monkeypatch.setattr(time, "time", lambda: now + TOKEN_SECONDS + 1)
    assert login.app_of(token) is None


@pytest.mark.parametrize(
    ("tenant", "change", "status", "error_name", "code"),
    [
        ("", {"client_secret": "wrong"}, 401, "invalid_client", 7000215),
        ("", {"client_secret": ""}, 401, "invalid_client", 900144),
        ("", {"client_id": "someone"}, 400, "unauthorized_client", 700016),
        ("", {"grant_type": "password"}, 400, "unsupported_grant_type", 70003),
        ("", {"grant_type": ""}, 400, "invalid_request", 900144),
        ("", {"scope": "https://api.botframework.com"}, 400, "invalid_scope", 1002012),
        ("", {"scope": "https://example.com/.default"}, 400, "invalid_resource", 500011),
        ("nowhere", {}, 400, "invalid_request", 90002),
    ],
)
async def test_invalid_token_requests_get_entras_errors(
    untouched: RunningTeams,
    tenant: str,
    change: dict[str, str],
    status: int,
    error_name: str,
    code: int,
) -> None:
    bot = untouched.bot("bridge")
    form = {
        "grant_type": "client_credentials",
        "client_id": bot.app_id,
        "client_secret": bot.password,
        "scope": "https://api.botframework.com/.default",
    }
    url = untouched.token_url.replace(untouched.tenant, tenant) if tenant else untouched.token_url

    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=form | change) as response,
    ):
        body = await response.json()

    assert (response.status, body["error"], body["error_codes"]) == (status, error_name, [code])
    assert body["error_description"].startswith(f"AADSTS{code}: ")


async def test_posts_above_a_conversations_limit_are_throttled(host: Host) -> None:
    with RunningTeams(host, limits=True) as teams:
        other = teams.teams.world().places[2].channel
        async with as_bot(teams) as rest:
            answers = [await rest.post(teams.channel, f"{n}") for n in range(9)]
            elsewhere = await rest.post(other, "free")
            read = await rest("GET", conversation(teams.channel, "members"))
        async with as_bot(teams, "plain") as plain:
            another_bot = await plain.post(teams.channel, "me too")

        refused = answers[7]
        assert [a.status for a in answers] == [201] * 7 + [429] * 2
        assert refused.body == error("Throttled", "Too many requests.")
        assert refused.headers["Retry-After"] == "1"
        assert [elsewhere.status, read.status, another_bot.status] == [201] * 1 + [200, 201]
        assert teams.context.feed.refusals == {"teams:429:activity.post": 2}


async def test_an_app_may_send_fifty_requests_a_second_in_a_tenant(host: Host) -> None:
    with RunningTeams(host, limits=True, channels=10) as teams:
        places = teams.teams.world().places
        async with as_bot(teams) as rest:
            answers = [await rest.post(p.channel, "x") for p in places * 3]

        assert [a.status for a in answers[:50]] == [201] * 50
        assert answers[50].status == 429


async def test_nothing_is_throttled_when_limits_are_off(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        answers = [await rest.post(teams.channel, f"{n}") for n in range(70)]

    assert {a.status for a in answers} == {201}


@pytest.mark.parametrize(
    ("fault", "status", "code", "posted"),
    [
        (Fault(kind="status", status=502, where=POSTS), 502, "ServiceError", False),
        (Fault(kind="status", status=412, where=POSTS), 412, "PreconditionFailed", False),
        (Fault(kind="rate_limited", seconds=30, where=POSTS), 429, "Throttled", False),
        (Fault(kind="hang", seconds=0.05, where=POSTS), 504, "ServiceError", False),
        (Fault(kind="status", where="teams:activity.update:*"), 201, "", True),
        (Fault(kind="status", where="slack:*"), 201, "", True),
    ],
)
async def test_a_requested_fault_breaks_its_operation(
    teams: RunningTeams, fault: Fault, status: int, code: str, posted: bool
) -> None:
    async with as_bot(teams) as rest:
        await teams.fault(fault)
        answer = await rest.post(teams.channel, "hello")
        after = await rest.post(teams.channel, "after")

    assert (answer.status, (answer.body.get("error") or {}).get("code", "")) == (status, code)
    assert after.status == 201
    assert await teams.texts() == (["hello"] if posted else []) + ["after"]


async def test_a_lost_answer_leaves_the_change_in_place(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        await teams.fault(Fault(kind="lose_answer", where="teams:activity.post:*"))
        with pytest.raises(aiohttp.ClientConnectionError):
            await rest.post(teams.channel, "hello")
        after = await rest.post(teams.channel, "after")

    assert after.status == 201
    assert await teams.texts() == ["hello", "after"]


def filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def citing(**changes: Any) -> dict[str, Any]:
    appearance = {"@type": "DigitalDocument", "name": "Page", "abstract": "Nobody may.", **changes}
    claim = {"@type": "Claim", "position": 1, "appearance": appearance}
    entity = {"type": "https://schema.org/Message", "@type": "Message", "citation": [claim]}
    return {**HELLO, "text": "It is forbidden [1]", "entities": [entity]}


@pytest.mark.parametrize(
    ("activity", "status"),
    [
        (citing(), 201),
        (citing(name="x" * 81), 400),
        (citing(abstract=""), 400),
        (citing(abstract="x" * 161), 400),
        (citing(url="javascript:alert(1)"), 400),
        ({**HELLO, "entities": [{"type": "https://schema.org/Message", "citation": [1]}]}, 400),
    ],
)
async def test_malformed_citations_are_refused(
    teams: RunningTeams, activity: dict[str, Any], status: int
) -> None:
    async with as_bot(teams) as rest:
        answer = await rest("POST", activities(teams.channel), activity)

    assert answer.status == status

"""Activities that Teams posts to bots, and their deliveries."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import jwt
import pytest

from bridge.errors import NotFound, Refused
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import Change
from connectors.teams.sandbox import Delivering
from tests.connectors.teams.sandbox.inbox import inbox
from tests.connectors.teams.sandbox.rest import activities, as_bot
from tests.connectors.teams.sandbox.running import RunningTeams

HOUR = 3600.0  # seconds, by the clock of Teams
PATIENT = Delivering(answer_within=10 * HOUR, retries=1, retry_after=0.02)


async def test_a_message_arrives_in_teams_format(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        posted = await teams.say("@Bridge hi <3")
        await teams.settled()

    person = teams.teams.tenant.people[posted.author_id]
    team = next(iter(teams.teams.tenant.teams.values()))
    bridge = teams.bot("bridge")
    tag = {
        "type": "mention",
        "mentioned": {"id": bridge.id, "name": "Bridge"},
        "text": "<at>Bridge</at>",
    }
    html = (
        '<div><div><span itemscope="" itemtype="http://schema.skype.com/Mention" itemid="0">Bridge'
        "</span> hi &lt;3</div>\n</div>"
    )
    assert bot.activities == [
        {
            "type": "message",
            "id": posted.id,
            "timestamp": posted.time,
            "localTimestamp": posted.time.replace("Z", "+00:00"),
            "localTimezone": "Etc/UTC",
            "locale": "en-US",
            "serviceUrl": f"{teams.base_url}/teams/svc/",
            "channelId": "msteams",
            "from": {"id": person.id, "name": "Ada Lindqvist", "aadObjectId": person.aad_id},
            "recipient": {"id": bridge.id, "name": "Bridge"},
            "conversation": {
                "isGroup": True,
                "conversationType": "channel",
                "tenantId": teams.tenant,
                "id": f"{teams.channel};messageid={posted.id}",
            },
            "text": "<at>Bridge</at> hi <3",
            "textFormat": "plain",
            "attachments": [{"contentType": "text/html", "content": html}],
            "entities": [
                tag,
                {
                    "type": "clientInfo",
                    "locale": "en-US",
                    "country": "US",
                    "platform": "Web",
                    "timezone": "Etc/UTC",
                },
            ],
            "channelData": {
                "teamsChannelId": teams.channel,
                "teamsTeamId": team.id,
                "channel": {"id": teams.channel, "name": "Random"},
                "team": {"id": team.id, "name": "Atlas", "aadGroupId": team.aad_group_id},
                "tenant": {"id": teams.tenant},
            },
        }
    ]
    assert bot.headers[0]["x-ms-tenant-id"] == teams.tenant
    assert bot.headers[0]["x-ms-conversation-id"] == teams.channel


async def test_a_reply_has_its_thread_id_and_a_chat_message_has_none(teams: RunningTeams) -> None:
    chat = teams.teams.world().apps[0]["group_chat"]
    person = next(iter(teams.teams.tenant.people))
    personal = teams.teams.personal_chat("bridge", person)

    async with inbox(teams) as bot:
        root = await teams.say("root")
        await teams.settled()
        await teams.say("reply", thread=root.id)
        await teams.settled()
        await teams.say("in a chat", channel=chat)
        await teams.settled()
        await teams.say("to you alone", channel=personal)
        await teams.settled()

    chain = f"{teams.channel};messageid={root.id}"
    where = [(a["conversation"]["id"], a.get("replyToId")) for a in bot.activities]
    assert where == [(chain, None), (chain, root.id), (chat, None), (personal, None)]
    assert bot.activities[3]["conversation"] == {
        "conversationType": "personal",
        "tenantId": teams.tenant,
        "id": personal,
    }
    assert bot.activities[2]["channelData"] == {"tenant": {"id": teams.tenant}}


async def test_a_bot_without_consent_receives_only_mentions(teams: RunningTeams) -> None:
    closed = teams.teams.world().apps[0]["not_installed"]

    async with inbox(teams, "plain") as plain, inbox(teams) as bridge:
        await teams.say("to all")
        await teams.say("@Plain Bot to you")
        await teams.say("@Plain Bot @Bridge in vain", channel=closed)
        async with as_bot(teams) as rest:
            await rest.post(teams.channel, "<at>Plain Bot</at> from a bot")
        await teams.settled()

    assert plain.texts == ["<at>Plain Bot</at> to you"]
    assert bridge.texts == ["to all", "<at>Plain Bot</at> to you"]


async def test_messages_of_a_conversation_are_delivered_one_at_a_time_in_order(
    teams: RunningTeams,
) -> None:
    async with inbox(teams) as bot:
        bot.seconds = 0.002
        for n in range(50):
            await teams.say(f"{n}")
        await teams.settled()

    assert bot.texts == [f"{n}" for n in range(50)]
    ids = [activity["id"] for activity in bot.activities]
    assert ids == sorted(set(ids), key=int)
    assert teams.teams.outbox.handed_over[teams.bot("bridge").app_id] == ids


async def test_a_slow_conversation_delays_no_other(teams: RunningTeams) -> None:
    other = teams.teams.world().places[2].channel

    async with inbox(teams) as bot:
        bot.hold = asyncio.Event()
        for n in range(5):
            await teams.say(f"slow {n}")
        await teams.say("other", channel=other)
        await bot.received(2)
        bot.hold.set()
        await teams.settled()

    assert bot.texts.index("other") <= 1


@pytest.mark.parametrize(
    ("answers", "tries", "reason"),
    [
        ([200], 1, ""),
        ([503, 201], 2, ""),
        ([502, 504], 2, "status 504"),
        ([500], 1, "status 500"),
        ([401], 1, "status 401"),
        ([0, 201], 2, ""),
        ([0, 0], 2, "no answer: ServerDisconnectedError"),
    ],
)
async def test_an_event_is_tried_at_most_twice(
    teams: RunningTeams, answers: list[int], tries: int, reason: str
) -> None:
    teams.teams.outbox.delivering = PATIENT

    async with inbox(teams) as bot:
        bot.answers = list(answers)
        posted = await teams.say("hello")
        await teams.settled()

    outbox = teams.teams.outbox
    assert bot.texts == ["hello"] * tries
    assert [lost.reason for lost in outbox.lost] == ([reason] if reason else [])
    handed_over = outbox.handed_over[teams.bot("bridge").app_id]
    assert handed_over == ([] if reason else [posted.id])


async def test_an_event_is_repeated_once_for_a_bot_that_does_not_answer_in_time(
    teams: RunningTeams,
) -> None:
    teams.teams.outbox.delivering = PATIENT

    async with inbox(teams) as bot:
        bot.hold = asyncio.Event()
        await teams.say("hello")
        for tries in (1, 2):
            await bot.received(tries)
            await teams.pass_time(11 * HOUR)
        await teams.settled()

    assert bot.texts == ["hello", "hello"]
    assert [lost.reason for lost in teams.teams.outbox.lost] == ["no answer: TimeoutError"]


async def test_an_unreachable_endpoint_loses_the_event(teams: RunningTeams) -> None:
    teams.teams.outbox.delivering = PATIENT
    await teams.listen("bridge", "http://127.0.0.1:9/api/messages")

    posted = await teams.say("hello")
    await teams.settled()

    lost = teams.teams.outbox.lost
    assert [(each.activity_id, each.conversation) for each in lost] == [(posted.id, teams.channel)]


async def test_a_disconnected_delivery_is_tried_again(
    teams: RunningTeams,
) -> None:
    teams.teams.outbox.delivering = PATIENT

    async with inbox(teams) as bot:
        bot.hold = asyncio.Event()
        await teams.say("hello")
        await bot.received(1)
        bot.hold = None
        await teams.do(teams.teams.disconnect())
        await teams.settled()

    assert bot.texts == ["hello", "hello"]
    assert teams.teams.outbox.lost == []


@pytest.mark.parametrize(
    ("fault", "received"),
    [
        (Fault(kind="drop"), ["two", "three"]),
        (Fault(kind="duplicate"), ["one", "one", "two", "three"]),
        (Fault(kind="reorder", seconds=HOUR), ["two", "one", "three"]),
        (Fault(kind="delay", seconds=HOUR), ["two", "three", "one"]),
        (Fault(kind="reorder", times=3, seconds=HOUR), ["two", "one", "three"]),
        (Fault(kind="drop", where="teams:event:19:elsewhere"), ["one", "two", "three"]),
    ],
)
async def test_requested_faults_break_event_deliveries(
    teams: RunningTeams, fault: Fault, received: list[str]
) -> None:
    if fault.where == "*":
        fault = fault.model_copy(update={"where": f"teams:event:{teams.channel}"})
    await teams.fault(fault)
    teams.teams.outbox.delivering = PATIENT

    async with inbox(teams) as bot:
        for text in ("one", "two", "three"):
            await teams.say(text)
        await teams.pass_time(HOUR)
        await teams.settled()

    assert bot.texts == received


async def test_an_event_token_is_valid_for_its_bot_and_service(
    teams: RunningTeams,
) -> None:
    async with inbox(teams) as bot:
        await teams.say("hello")
        await teams.settled()

    token = bot.headers[0]["Authorization"].removeprefix("Bearer ")
    key = (await signing_keys(teams))[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(
        token,
        key,
        algorithms=["RS256"],
        audience=teams.bot("bridge").app_id,
        issuer="https://api.botframework.com",
    )
    assert claims["serviceurl"] == bot.activities[0]["serviceUrl"]
    assert claims["exp"] - claims["nbf"] == 300


async def test_after_a_rotation_only_the_new_key_signs_and_is_published(
    teams: RunningTeams,
) -> None:
    async with inbox(teams) as bot:
        await teams.say("hello")
        await teams.settled()
        await control(teams, "rotate_keys", {})
        await teams.say("hello again")
        await teams.settled()

    tokens = [headers["Authorization"].removeprefix("Bearer ") for headers in bot.headers]
    old, new = (jwt.get_unverified_header(token)["kid"] for token in tokens)
    keys = await signing_keys(teams)
    assert old != new
    assert list(keys) == [new]
    jwt.decode(tokens[1], keys[new], algorithms=["RS256"], audience=teams.bot("bridge").app_id)
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(tokens[0], keys[new], algorithms=["RS256"], audience=teams.bot("bridge").app_id)


async def test_bots_receive_install_and_channel_created_events(teams: RunningTeams) -> None:
    closed = teams.teams.world().apps[0]["not_installed"]

    async with inbox(teams) as bot:
        await control(teams, "install", {"app": "bridge", "where": closed})
        await teams.settled()
        created = await control(teams, "channel", {"team": closed, "name": "Wine"})
        await teams.settled()
        await teams.say("hello", channel=created["id"])
        await teams.settled()
        await control(teams, "uninstall", {"app": "bridge", "where": closed})
        await teams.say("nobody hears", channel=closed)
        await teams.settled()

    team = teams.teams.tenant.teams[closed]
    data = {
        "team": {"id": closed, "name": "Cellar", "aadGroupId": team.aad_group_id},
        "tenant": {"id": teams.tenant},
    }
    kinds = [
        (a["type"], a.get("action"), a["channelData"].get("eventType")) for a in bot.activities
    ]
    assert kinds == [
        ("conversationUpdate", None, "teamMemberAdded"),
        ("installationUpdate", "add", None),
        ("conversationUpdate", None, "channelCreated"),
        ("message", None, None),
        ("installationUpdate", "remove", None),
    ]
    assert bot.activities[0]["membersAdded"] == [{"id": teams.bot("bridge").id}]
    assert bot.activities[0]["channelData"] == data | {"eventType": "teamMemberAdded"}
    assert bot.activities[2]["channelData"] == data | {
        "channel": {"id": created["id"], "name": "Wine"},
        "eventType": "channelCreated",
    }


async def test_a_bot_is_installed_for_a_person(teams: RunningTeams) -> None:
    person = list(teams.teams.tenant.people)[-1]

    async with inbox(teams) as bot:
        await control(teams, "install", {"app": "bridge", "where": person})
        chat = (await control(teams, "chat", {"app": "bridge", "person": person}))["id"]
        await teams.say("hello", channel=chat, person=-1)
        await teams.settled()

    assert [a["type"] for a in bot.activities] == [
        "conversationUpdate",
        "installationUpdate",
        "message",
    ]


async def test_the_feed_has_every_visible_change(teams: RunningTeams) -> None:
    changes: list[Change] = []

    async def watch() -> None:
        async for change in teams.context.feed.watch():
            changes.append(change)  # noqa: PERF401 - seen while it still runs

    async def start() -> asyncio.Task[None]:
        watching = asyncio.create_task(watch())
        await asyncio.sleep(0)
        return watching

    watching = await teams.do(start())
    root = await teams.say("@Bridge hi")
    async with as_bot(teams) as rest:
        chain = f"{teams.channel};messageid={root.id}"
        own = (await rest.post(chain, "**Bo**: <at>Ada Lindqvist</at>")).body["id"]
        await rest("PUT", activities(chain, own), {"type": "message", "text": "changed"})
        await rest("DELETE", activities(chain, own))
    await teams.call(watching.cancel)

    bridge = teams.bot("bridge")
    ada = root.author_id
    assert [
        (c.kind, c.message.author, c.message.author_id, c.message.thread, c.message.text)
        for c in changes
    ] == [
        ("posted", "Ada Lindqvist", ada, None, "@Bridge hi"),
        ("posted", "Bridge", bridge.id, root.id, "**Bo**: @Ada Lindqvist"),
        ("edited", "Bridge", bridge.id, root.id, "changed"),
        ("deleted", "Bridge", bridge.id, root.id, "changed"),
    ]
    assert changes[1].message.raw["text"] == "**Bo**: <at>Ada Lindqvist</at>"
    assert {c.message.channel for c in changes} == {teams.channel}


async def test_people_act_only_in_accessible_conversations(teams: RunningTeams) -> None:
    chat = teams.teams.world().apps[0]["group_chat"]

    with pytest.raises(NotFound, match="No channel 'nowhere'"):
        await teams.say("hello", channel="nowhere")
    with pytest.raises(NotFound, match="with a reply chain"):
        await teams.say("hello", thread="17")
    first = await teams.say("hello", channel=chat)
    with pytest.raises(NotFound, match="with a reply chain"):
        await teams.say("hello", channel=chat, thread=first.id)
    with pytest.raises(Refused, match="not a member"):
        await teams.say("hello", channel=chat, person=4)


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("endpoint", b'{"app": "nobody", "url": "http://x"}', 404),
        ("endpoint", b'{"app": "bridge"}', 400),
        ("endpoint", b"{", 400),
        ("endpoint", b"[]", 400),
        ("install", b'{"app": "bridge", "where": "nowhere"}', 404),
    ],
)
async def test_an_invalid_control_request_is_refused_with_a_reason(
    teams: RunningTeams, name: str, body: bytes, status: int
) -> None:
    url = f"{teams.base_url}/teams/_control/{name}"
    headers = {"Content-Type": "application/json"}

    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, data=body) as response,
    ):
        answer = await response.json(content_type=None)

    assert response.status == status
    assert answer["error"]


async def test_deliveries_are_listed_over_http(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        bot.answers = [500]
        lost = await teams.say("one")
        accepted = await teams.say("two")
        await teams.settled()

    url = f"{teams.base_url}/teams/_control/deliveries"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        deliveries = await response.json(content_type=None)

    app_id = teams.bot("bridge").app_id
    assert deliveries == {
        "handed_over": {app_id: [accepted.id]},
        "lost": [
            {
                "app_id": app_id,
                "activity_id": lost.id,
                "conversation": teams.channel,
                "reason": "status 500",
            }
        ],
    }


async def signing_keys(teams: RunningTeams) -> dict[str, Any]:
    """The keys in the OpenID metadata that are endorsed for Teams."""
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{teams.base_url}/teams/keys/openidconfiguration") as response:
            url = (await response.json())["jwks_uri"]
        async with session.get(url) as response:
            keys = (await response.json())["keys"]
    assert all(key["endorsements"] == ["msteams"] for key in keys)
    return {key["kid"]: jwt.PyJWK(key).key for key in keys}


async def control(teams: RunningTeams, name: str, body: dict[str, Any]) -> dict[str, Any]:
    url = f"{teams.base_url}/teams/_control/{name}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        assert response.status == 200
        return await response.json(content_type=None)

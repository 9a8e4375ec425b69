"""Calls against the local Discord: missing objects are created, and refusals give advice."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import orjson
import pytest

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.model import DeleteMessage, Delivery, EditMessage, Receipt
from bridge.ports.abilities.health import Health
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from connectors.discord.connector import DiscordConnector
from connectors.discord.ids import channel_ref
from connectors.discord.rest import ApiAnswer, Rest, read_answer, refusal
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.send import title_of
from tests.connectors.discord.conftest import Local
from tests.connectors.discord.test_encode import delivery
from tests.connectors.discord.test_receive import until
from tests.waiting import pass_time


async def send(connector: DiscordConnector, requested: Delivery) -> list[Receipt]:
    return [await connector.send(call) for call in connector.encode(requested).calls]


def in_channel(local: Local, text: str = "hi", **more: Any) -> Delivery:
    fields: dict[str, Any] = {"channel": local.channel}
    return delivery(text, **(fields | more))


def texts(local: Local) -> list[str]:
    where = local.channel
    return [message.text for message in local.discord.messages(where.workspace, where.channel)]


async def test_the_webhook_is_created_once_and_stored_sealed(local: Local) -> None:
    connector = local.connector()

    await asyncio.gather(*(send(connector, in_channel(local, f"n{n}")) for n in range(5)))

    (webhook,) = local.discord.state.webhooks.values()
    key = f"webhook:{local.channel.channel}"
    assert orjson.loads(local.key_values.values[key]) == [str(webhook.id), webhook.token]
    assert key in local.key_values.sealed


async def test_an_existing_webhook_of_ours_is_found_again(local: Local) -> None:
    await send(local.connector(), in_channel(local, "one"))
    local.key_values.values.clear()

    await send(local.connector(), in_channel(local, "two"))

    assert len(local.discord.state.webhooks) == 1
    assert texts(local) == ["one", "two"]


async def test_a_deleted_webhook_is_created_again(local: Local) -> None:
    connector = local.connector()
    (old,) = await send(connector, in_channel(local, "one"))
    local.discord.state.webhooks.clear()

    (new,) = await send(connector, in_channel(local, "two"))

    assert texts(local) == ["one", "two"]
    with pytest.raises(NotFound, match="10008"):
        await send(connector, in_channel(local, kind=EditMessage, copies=(old,)))
    await send(connector, in_channel(local, kind=DeleteMessage, copies=(old, new)))
    assert texts(local) == []


async def test_a_moved_webhook_is_replaced(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    await send(connector, in_channel(local, "one"))
    (webhook,) = local.discord.state.webhooks.values()
    elsewhere = local.discord.world().places[1]
    rest = connector._rest  # pyright: ignore[reportPrivateUsage]  # as a person would
    await rest.request(
        "PATCH", f"/webhooks/{webhook.id}", bucket="b", doing="moving",
        body={"channel_id": elsewhere.channel},
    )  # fmt: skip
    cached_webhooks = connector._webhooks._by_channel  # pyright: ignore[reportPrivateUsage]  # no public access
    await until(lambda: local.channel.channel not in cached_webhooks)

    await send(connector, in_channel(local, "two"))

    assert texts(local) == ["one", "two"]


async def test_a_thread_starts_with_the_first_reply_and_is_named_after_the_root(
    local: Local,
) -> None:
    root = await local.say("who has " + "very " * 40 + "long keys?")

    (receipt,) = await send(local.connector(), in_channel(local, "I do", thread=root))

    thread = local.discord.state.channels[int(root)]
    assert receipt.thread == root
    assert thread.name is not None
    assert thread.name.startswith("who has very")
    assert len(thread.name) <= 100


async def test_an_edit_unarchives_its_thread(local: Local) -> None:
    connector = local.connector()
    root = await local.say("root")
    copies = tuple(await send(connector, in_channel(local, "tpyo", thread=root)))
    thread = local.discord.state.channels[int(root)].thread
    assert thread is not None
    thread.archived = True

    await send(connector, in_channel(local, "typo", kind=EditMessage, copies=copies))

    assert "typo" in texts(local)


async def test_a_forum_post_has_a_title_and_its_other_parts_in_the_thread(local: Local) -> None:
    guild = local.channel.workspace
    forum = channel_ref(guild, local.app["forums"][guild])
    connector = local.connector()

    receipts = await send(connector, delivery("word " * 900, channel=forum))

    threads = {receipt.thread for receipt in receipts}
    assert len(receipts) == 3
    assert threads == {receipts[0].native_id}
    found_receipt = await required(connector.abilities.deliveries).find(
        connector.encode(delivery("word " * 900, channel=forum)).calls[0], None
    )
    assert found_receipt == receipts[0]


async def test_a_direct_message_is_posted_once_edited_and_deleted(local: Local) -> None:
    posted_message = await local.discord.post_as(
        "@me", local.people[0], local.people[0], "hello bot"
    )
    direct = channel_ref(None, posted_message.channel)
    connector = local.connector()
    posted = in_channel(local, "hi", channel=direct)

    first = await send(connector, posted)
    again = await send(connector, posted)
    assert first == again
    assert (
        await required(connector.abilities.deliveries).find(
            connector.encode(posted).calls[0], posted_message.id
        )
        == first[0]
    )
    await send(connector, in_channel(local, "ho", channel=direct, kind=EditMessage, copies=first))
    standing = local.discord.messages("@me", posted_message.channel)
    assert [message.text for message in standing] == ["hello bot", "**Ann:** ho"]
    await send(connector, in_channel(local, channel=direct, kind=DeleteMessage, copies=first))
    assert len(local.discord.messages("@me", posted_message.channel)) == 1


async def test_a_delivery_lookup_needs_the_same_text_and_name(local: Local) -> None:
    connector = local.connector()
    (before,) = await send(connector, in_channel(local, "before"))
    await send(connector, in_channel(local, "hi", name="Bob"))
    (call,) = connector.encode(in_channel(local, "hi", name="Ann")).calls

    assert await required(connector.abilities.deliveries).find(call, before.native_id) is None
    receipt = await connector.send(call)
    assert await required(connector.abilities.deliveries).find(call, before.native_id) == receipt
    assert await required(connector.abilities.deliveries).find(call, receipt.native_id) is None
    assert await required(connector.abilities.deliveries).find(call, None) == receipt
    assert (
        await required(connector.abilities.deliveries).find(call, None, since=time.time())
        == receipt
    )
    assert (
        await required(connector.abilities.deliveries).find(call, None, since=time.time() + 3600)
        is None
    )
    other = call.model_copy(update={"body": {**call.body, "content": "other words"}})
    assert await required(connector.abilities.deliveries).find(other, before.native_id) is None
    assert (
        await required(connector.abilities.deliveries).find(other, before.native_id, changed=True)
        == receipt
    )


async def test_a_post_for_a_thread_that_never_started_is_not_found(local: Local) -> None:
    root = await local.say("root")
    connector = local.connector()
    (call,) = connector.encode(in_channel(local, thread=root)).calls

    assert await required(connector.abilities.deliveries).find(call, root) is None


async def test_a_sixteenth_webhook_is_refused_with_a_remedy(local: Local) -> None:
    rest = local.connector()._rest  # pyright: ignore[reportPrivateUsage]  # as another app would
    path = f"/channels/{local.channel.channel}/webhooks"
    for number in range(15):
        await rest.request("POST", path, bucket="b", doing="d", body={"name": f"w{number}"})
    for webhook in local.discord.state.webhooks.values():
        webhook.application_id = None

    with pytest.raises(Refused, match="delete one of the channel's 15 webhooks") as caught:
        await send(local.connector(), in_channel(local))

    assert caught.value.code == "30007"


async def test_a_missing_permission_is_named_in_the_error(local: Local) -> None:
    channel = local.discord.state.channels[int(local.channel.channel)]
    assert channel.guild is not None
    for role in channel.guild.roles.values():
        role.permissions &= ~int(Permission.MANAGE_WEBHOOKS) & ~int(Permission.ADMINISTRATOR)

    with pytest.raises(AuthFailed, match="Manage Webhooks"):
        await send(local.connector(), in_channel(local))


async def test_errors_on_unknown_channels_and_wrong_tokens_name_the_remedy(local: Local) -> None:
    connector = local.connector()

    with pytest.raises(NotFound, match="check the channel's id"):
        await send(connector, in_channel(local, channel=channel_ref(local.channel.workspace, "1")))
    stranger = local.connector()
    local.tokens.values = dict.fromkeys(local.tokens.values, "wrong")
    with pytest.raises(AuthFailed, match="reset it in the developer portal"):
        await send(stranger, in_channel(local))


async def test_an_unreachable_server_is_unavailable(local: Local) -> None:
    local.app = dict(local.app)
    connector = local.connector(api_url="http://127.0.0.1:9/discord/api/v10")

    with pytest.raises(Unavailable):
        await send(connector, in_channel(local))


async def test_a_post_without_an_answer_is_unsettled(local: Local) -> None:
    connector = local.connector()
    await send(connector, in_channel(local, "one"))
    hangs = Fault(kind="hang", where="discord:webhook.execute:*", seconds=3600)
    local.context.faults.add(hangs)
    sending = asyncio.create_task(send(connector, in_channel(local, "two")))
    await until(lambda: not local.context.faults._waiting)  # pyright: ignore[reportPrivateUsage]
    pass_time(2 * local.send_deadline)

    with pytest.raises(Unsettled):
        await sending


async def test_a_call_waits_for_an_empty_rate_limit_bucket(local: Local) -> None:
    local.context.limits.on = True
    connector = local.connector()

    began = asyncio.get_running_loop().time()
    for number in range(6):
        await send(connector, in_channel(local, f"n{number}"))

    assert asyncio.get_running_loop().time() - began >= 1.5
    assert not [key for key in local.context.feed.refusals if ":429:" in key]


def answer(status: int, body: Any = None, **headers: str) -> ApiAnswer:
    headers_by_name = {name.replace("_", "-"): value for name, value in headers.items()}
    return ApiAnswer(
        status, headers_by_name, body if isinstance(body, bytes) else orjson.dumps(body or {})
    )


ANSWERS: list[tuple[ApiAnswer, type[PlatformError], str]] = [
    (answer(500), Unsettled, "HTTP 500"),
    (answer(502, b"<html>"), Unsettled, "HTTP 502"),
    (answer(401, {"code": 0}), TokenRefused, "reset it"),
    (answer(401, {"code": 50027, "message": "Invalid Webhook Token"}), Refused, "created again"),
    (answer(403, {"code": 50013, "message": "Missing Permissions"}), AuthFailed, "permission"),
    (answer(403, {"code": 50007, "message": "no"}), Refused, "direct messages"),
    (answer(404, {"code": 10003, "message": "Unknown Channel"}), NotFound, "channel's id"),
    (answer(404, b"nginx"), NotFound, "HTTP 404"),
    (answer(400, {"code": 50006, "message": "Cannot send an empty message"}), Refused, "some text"),
    (answer(413, b""), Refused, "HTTP 413"),
    (answer(302, b""), Refused, "HTTP 302"),
    (
        answer(400, {"code": 50035, "message": "Invalid Form Body", "errors": {
            "embeds": {"0": {"title": {"_errors": [{"code": "X", "message": "Too long."}]}}},
            "content": {"_errors": [{"message": "Must be 2000 or fewer in length."}]},
        }}),
        FormRefused,
        r"embeds\.0\.title: Too long\., content: Must be 2000",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("response", "kind", "words"), ANSWERS)
def test_every_refusal_becomes_an_error_with_advice(
    response: ApiAnswer, kind: type[PlatformError], words: str
) -> None:
    error = refusal(response, "Posting")

    assert type(error) is kind
    with pytest.raises(kind, match=words):
        raise error


def test_a_401_without_the_bots_token_means_an_invalid_webhook() -> None:
    error = refusal(answer(401, {"code": 0, "message": "401: Unauthorized"}), "Posting",
                    authorised=False)  # fmt: skip

    assert (type(error), error.code) == (Refused, "50027")
    assert "the webhook was created again" in str(error)
    assert "bot token" not in str(error)


async def test_a_webhook_with_an_invalid_token_is_found_again(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = local.connector()
    await send(connector, in_channel(local, "one"))
    refused = [answer(401, {"code": 0, "message": "401: Unauthorized"})]
    real = vars(Rest)["_ask"]

    async def ask(rest: Rest, method: str, path: str, *more: Any) -> ApiAnswer:
        if path.startswith("/webhooks/") and refused:
            return refused.pop()
        return await real(rest, method, path, *more)

    monkeypatch.setattr(Rest, "_ask", ask)
    await send(connector, in_channel(local, "two"))

    assert refused == []
    assert texts(local) == ["one", "two"]


async def test_the_health_shows_a_refused_token_until_one_is_accepted(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = local.connector()
    responses = [answer(401, {"code": 50027}), answer(401, {"code": 0}), answer(200, {})]

    async def ask(*_: object) -> ApiAnswer:
        return responses.pop(0)

    monkeypatch.setattr(Rest, "_ask", ask)
    own = vars(connector)
    monkeypatch.setattr(own["_receiver"], "state", Health("connected"))
    rest, states = own["_rest"], list[str]()
    for authorised in (False, True, True):  # the first request uses a webhook
        with contextlib.suppress(Refused):
            await rest.request("GET", "/x", bucket="x", doing="Asking", authorised=authorised)
        states.append(required(connector.abilities.health).current().state)

    assert states == ["connected", "failed", "connected"]


WAITS: list[tuple[ApiAnswer, float, tuple[str, ...]]] = [
    (answer(429, {"retry_after": 1.25, "global": False}), 1.25, ()),
    (answer(429, {"retry_after": 0.5, "global": True}), 0.5, ("global",)),
    (answer(429, b"<html>", Retry_After="64"), 64, ()),
    (answer(429, b"", X_RateLimit_Reset_After="2.5", X_RateLimit_Global="true"), 2.5, ("global",)),
    (answer(429, {"retry_after": "soon"}, Retry_After="nan"), 5, ()),
    (answer(429, {"retry_after": 1e300}), 86_400, ()),
    (answer(429, b'{"retry_after": 1' + b"0" * 30 + b"}"), 86_400, ()),
]


@pytest.mark.parametrize(("response", "wait", "scope"), WAITS)
def test_a_rate_limit_has_its_wait_and_scope(
    response: ApiAnswer, wait: float, scope: tuple[str, ...]
) -> None:
    error = refusal(response, "Posting")

    assert isinstance(error, RateLimited)
    assert (error.retry_after, error.scope) == (wait, scope)


def test_a_success_without_json_is_unsettled() -> None:
    with pytest.raises(Unsettled, match="no JSON"):
        read_answer(answer(200, b"<html>"), "Posting")


@pytest.mark.parametrize("text", ["", "short", "x" * 300, "word " * 60])
def test_every_forum_title_fits_discords_limit(text: str) -> None:
    assert 1 <= len(title_of(text)) <= 100

"""Missed messages are read back, and a post whose answer was lost is found."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from bridge.model import MessagePosted, Raw
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.slack import ids
from connectors.slack.connector import SlackConnector
from connectors.slack.history import History
from connectors.slack.identity import OwnIdentity
from connectors.slack.shares import Shares
from tests.connectors.doubles import MemoryKeyValues
from tests.connectors.slack.conftest import GENERAL, Sandbox
from tests.connectors.slack.payloads import ACCOUNT, OWN_IDENTITY
from tests.connectors.slack.test_encode import post as encoded
from tests.connectors.slack.test_send import FakeClock, answering


def texts_of(connector: SlackConnector, raws: list[Raw]) -> list[str]:
    events = [event for raw in raws for event in connector.decode(raw)]
    return [e.message.content[0].text for e in events if isinstance(e, MessagePosted)]  # type: ignore[union-attr]


async def read_missed(
    connector: SlackConnector, cursor: str, threads: list[str] | None = None
) -> list[str]:
    read = required(connector.abilities.history).read_after(GENERAL, cursor, threads or [])
    return texts_of(connector, [raw async for raw in read if isinstance(raw, Raw)])


async def test_the_cursor_of_an_empty_channel_precedes_every_message(sandbox: Sandbox) -> None:
    connector = sandbox.connector()

    cursor = await required(connector.abilities.history).newest(GENERAL)
    await sandbox.say("first")

    assert await read_missed(connector, cursor) == ["first"]


async def test_catch_up_does_not_read_messages_before_the_cursor(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    root = await sandbox.say("before")
    await sandbox.say("a reply before", root)

    cursor = await required(connector.abilities.history).newest(GENERAL)
    await sandbox.say("after")

    assert await read_missed(connector, cursor, [root]) == ["after"]


async def test_catch_up_merges_posts_and_replies_in_time_order(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    old = [await sandbox.say(f"old {number}") for number in range(6)]
    cursor = await required(connector.abilities.history).newest(GENERAL)
    new = await sandbox.say("new")
    await sandbox.say("in an old thread", old[2])
    await sandbox.say("in the new thread", new)
    await sandbox.say("last")

    assert await read_missed(connector, cursor, old) == [
        "new", "in an old thread", "in the new thread", "last"
    ]  # fmt: skip


async def test_a_long_gap_is_read_page_by_page(sandbox: Sandbox, monkeypatch: Any) -> None:
    monkeypatch.setattr("connectors.slack.history._PAGE", "3")
    connector = sandbox.connector()
    cursor = await required(connector.abilities.history).newest(GENERAL)
    texts = [f"number {number}" for number in range(10)]
    for text in texts:
        await sandbox.say(text)

    assert await read_missed(connector, cursor) == texts


async def test_our_own_posts_are_recognised_in_history(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    cursor = await required(connector.abilities.history).newest(GENERAL)
    (call,) = encoded("ours").calls
    await connector.send(at_general(call))

    read = required(connector.abilities.history).read_after(GENERAL, cursor, [])
    raws = [raw async for raw in read if isinstance(raw, Raw)]

    (event,) = connector.decode(raws[0])
    assert isinstance(event, MessagePosted)
    assert (event.own, event.operation) == (True, "op-1")


async def test_a_deleted_thread_does_not_stop_catch_up(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    cursor = await required(connector.abilities.history).newest(GENERAL)
    await sandbox.say("here")

    assert await read_missed(connector, cursor, ["1600000000.000100"]) == ["here"]


async def test_live_threads_older_than_the_gap_cost_few_requests() -> None:
    requests: list[str] = []
    cursor = "1700000500.000000"
    roots = [f"17000000{number:02d}.000000" for number in range(50)]

    async def answer(request: web.Request) -> web.Response:
        method, form = request.match_info["method"], await request.post()
        requests.append(method)
        messages: list[dict[str, Any]] = []
        if method == "conversations.replies":
            messages = [{"ts": "1700000600.000000", "thread_ts": form["ts"], "text": "news"}]
        elif form["oldest"] != cursor:
            messages = [{"ts": root, "text": "root"} for root in roots]
            messages[7] |= {"thread_ts": roots[7], "latest_reply": "1700000600.000000"}
        return web.json_response({"ok": True, "messages": messages})

    async with answering(answer) as api:
        own_identity, clock = OwnIdentity(api), FakeClock()
        own_identity.cached = OWN_IDENTITY
        shares = Shares(api, None, MemoryKeyValues(), clock)
        history = History(api, clock, ACCOUNT, own_identity, shares)
        key = ids.order_key(cursor)
        raws = [raw async for raw in history.read_after(GENERAL, key, roots)]

    assert requests == ["conversations.history", "conversations.history", "conversations.replies"]
    assert [raw.order_key for raw in raws] == [ids.order_key("1700000600.000000")]


def at_general(call: Any, thread: str | None = None) -> Any:
    body = {**call.body, "channel": GENERAL.channel} | ({"thread_ts": thread} if thread else {})
    return call.model_copy(update={"channel": GENERAL, "body": body, "thread": thread})


async def test_an_unsettled_reply_is_found_in_its_thread(
    sandbox: Sandbox, inbox: ListInbox
) -> None:
    connector = sandbox.connector()
    root = await sandbox.say("root")
    (call,) = encoded("reply").calls
    call = at_general(call, root)

    receipt = await connector.send(call)

    assert receipt.thread == root
    assert await required(connector.abilities.deliveries).find(call, root) == receipt
    assert await required(connector.abilities.deliveries).find(call, receipt.native_id) is None


async def test_a_reply_with_a_deleted_root_is_found_in_the_channel(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    (call,) = encoded("reply").calls
    call = at_general(call, "1600000000.000100")

    receipt = await connector.send(call)

    assert receipt.thread is None
    assert await required(connector.abilities.deliveries).find(call, None) == receipt


async def test_another_slot_of_the_operation_is_a_different_copy(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    (call,) = encoded("one").calls
    await connector.send(at_general(call))

    assert (
        await required(connector.abilities.deliveries).find(
            at_general(call).model_copy(update={"slot": 1}), None
        )
        is None
    )


async def test_history_waits_out_a_rate_limit(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    cursor = await required(connector.abilities.history).newest(GENERAL)
    await sandbox.say("here")
    fault = Fault(kind="rate_limited", where="slack:conversations.history:*", seconds=1)
    sandbox.context.faults.add(fault)

    assert await read_missed(connector, cursor) == ["here"]

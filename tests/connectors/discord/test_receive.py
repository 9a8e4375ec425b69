"""The gateway: sessions, resumes, refusals, malformed frames and a full inbox."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from bridge.errors import AuthFailed, ConfigError, StoreFull
from bridge.model import ChannelRef, ChannelRenamed, Ignored, MessagePosted, Place, Raw
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.discord.capabilities import INTENTS
from connectors.discord.connector import DiscordConnector
from connectors.discord.content import HIDDEN
from connectors.discord.ids import channel_ref
from tests.connectors.discord.conftest import Local
from tests.connectors.discord.test_encode import delivery
from tests.waiting import LONGEST_WAIT


def posts(local: Local, connector: DiscordConnector) -> list[MessagePosted]:
    raws = [raw for raw in local.inbox.raws if raw.kind == "MESSAGE_CREATE"]
    events = [event for raw in raws for event in connector.decode(raw)]
    return [event for event in events if isinstance(event, MessagePosted)]


def texts_of(local: Local, connector: DiscordConnector) -> list[str]:
    return [getattr(p.message.content[0], "text", "") for p in posts(local, connector)]


async def received(local: Local, connector: DiscordConnector, count: int) -> list[str]:
    await local.inbox.until(lambda: len(posts(local, connector)) >= count)
    return texts_of(local, connector)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        while not holds():  # noqa: ASYNC110 - others change it, and tell nobody
            await asyncio.sleep(0.01)


async def test_a_cut_socket_is_resumed_without_loss_or_repeats(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    await local.say("one")
    await received(local, connector, 1)

    await local.discord.disconnect()
    await local.say("two")
    await local.discord.disconnect("reconnect")
    await local.say("three")

    assert await received(local, connector, 3) == ["one", "two", "three"]
    assert len(local.inbox.sessions) == 1


async def test_a_lost_session_starts_catch_up(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(*_args: object, **_more: object) -> None:
        """discord.py waits 5 s before it identifies again."""

    monkeypatch.setattr("connectors.discord.sdk.Client.before_identify_hook", at_once)
    connector = local.connector()
    await local.start(connector)

    await local.discord.disconnect("invalidate")
    await local.inbox.until(lambda: len(local.inbox.sessions) == 2)

    await local.say("back again")
    assert await received(local, connector, 1) == ["back again"]
    assert required(connector.abilities.health).current().state == "connected"


async def test_a_wrong_token_stops_the_connector_with_advice(local: Local) -> None:
    connector = local.connector()
    local.tokens.values = dict.fromkeys(local.tokens.values, "wrong")

    with pytest.raises(AuthFailed, match="reset it in the developer portal"):
        await connector.run(local.inbox)

    assert required(connector.abilities.health).current().state == "failed"


async def test_a_missing_intent_stops_the_connector_with_advice(local: Local) -> None:
    connector = local.connector()
    for app in local.discord.state.apps.values():
        app.granted &= ~INTENTS["MESSAGE_CONTENT"]

    with pytest.raises(AuthFailed, match="MESSAGE CONTENT"):
        await connector.run(local.inbox)


async def test_a_full_inbox_delays_posts_in_order_and_is_reported(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    local.inbox.fail_with = StoreFull("no room left on the disk")

    await local.say("one")
    await local.say("two")
    await until(lambda: "the inbox fails" in required(connector.abilities.health).current().note)
    local.inbox.fail_with = None

    assert await received(local, connector, 2) == ["one", "two"]
    await until(lambda: required(connector.abilities.health).current().note == "")


class _HeldInbox(ListInbox):
    """Keeps nothing of one channel before `go_on` is set."""

    def __init__(self, held: ChannelRef) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.asked: list[str] = []
        self._held = held

    async def accept(self, raw: Raw) -> bool:
        self.asked.append(raw.kind)
        if raw.channel == self._held:
            await self.go_on.wait()
        return await super().accept(raw)


async def test_a_channel_that_waits_holds_up_itself_alone(local: Local) -> None:
    local.inbox = inbox = _HeldInbox(local.channel)
    connector = local.connector()
    await local.start(connector)

    for text in ("one", "two", "three"):
        await local.say(text)
    await local.discord.post_as("@me", local.people[0], local.people[0], "psst")

    assert await received(local, connector, 1) == ["psst"]
    assert inbox.asked.count("MESSAGE_CREATE") == 2  # "psst", and "one" of the three
    inbox.go_on.set()
    assert await received(local, connector, 4) == ["psst", "one", "two", "three"]


async def test_a_connection_that_ends_keeps_no_row_any_more(local: Local) -> None:
    local.inbox = inbox = _HeldInbox(local.channel)
    connector = local.connector()
    await local.start(connector)
    await local.say("one")
    await until(lambda: "MESSAGE_CREATE" in inbox.asked)

    await local.stop()
    inbox.go_on.set()

    assert not [task for task in asyncio.all_tasks() if task.get_name() == "discord row"]
    assert not texts_of(local, connector)


async def test_frames_beyond_the_queue_are_read_back_by_catch_up(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.discord.receive._MAX_FRAMES", 3)
    monkeypatch.setattr("connectors.discord.receive._MOST_AT_A_TIME", 1)
    connector = local.connector()
    await local.start(connector)
    receiver = connector._receiver  # pyright: ignore[reportPrivateUsage]  # how much it missed
    local.inbox.fail_with = StoreFull("no room left on the disk")

    for number in range(12):
        await local.say(f"n{number}")
    await until(lambda: "the inbox fails" in required(connector.abilities.health).current().note)
    await until(lambda: receiver._missed >= 12 - 3 - 1)  # pyright: ignore[reportPrivateUsage]
    before = len(local.inbox.sessions)
    local.inbox.fail_with = None

    await local.inbox.until(lambda: len(local.inbox.sessions) == before + 1)


async def test_malformed_frames_end_neither_the_session_nor_the_order(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    receiver = connector._receiver  # pyright: ignore[reportPrivateUsage]  # frames by hand
    hear = receiver._queue_frame  # pyright: ignore[reportPrivateUsage]

    for frame in ("", "{", "[]", "3", '{"op":0}', '{"op":0,"t":"MESSAGE_CREATE","d":[]}',
                  '{"op":0,"t":"MESSAGE_CREATE","d":{}}', '{"op":0,"t":3,"d":{}}',
                  '{"op":0,"t":"GUILD_CREATE","d":{"channels":[3,{"id":4}],"threads":{}}}',
                  '{"op":0,"t":"MESSAGE_DELETE_BULK","d":{"channel_id":"1","ids":3}}'):  # fmt: skip
        hear(frame)
    await local.say("still here")

    assert await received(local, connector, 1) == ["still here"]


async def test_an_unknown_thread_is_looked_up(local: Local) -> None:
    root = await local.say("root")
    await local.say("before we came", root)
    connector = local.connector()
    await local.start(connector)
    places = connector._places  # pyright: ignore[reportPrivateUsage]  # as after a lost frame
    await until(lambda: places.is_thread_of(root, local.channel))
    places._parents.clear()  # pyright: ignore[reportPrivateUsage]

    await local.say("in the thread", root)

    await received(local, connector, 1)
    assert posts(local, connector)[0].place == Place(channel=local.channel, thread=root)
    assert local.key_values.values[f"thread:{root}"] == local.channel.channel


async def test_direct_messages_have_their_own_place(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)

    posted_message = await local.discord.post_as("@me", local.people[0], local.people[0], "psst")
    await received(local, connector, 1)

    (event,) = posts(local, connector)
    assert event.place == Place(channel=channel_ref(None, posted_message.channel))
    assert event.addresses_us


async def test_edits_and_deletions_by_people_are_received(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    native = await local.say("tpyo")

    where = (local.channel.workspace, local.channel.channel, local.people[0])
    await local.discord.edit_as(*where, native, "typo")
    await local.discord.delete_as(*where, native)
    await local.inbox.until(lambda: len(local.inbox.raws) == 3)

    events = [event for raw in local.inbox.raws for event in connector.decode(raw)]
    assert [event.type for event in events] == [
        "message_posted", "message_edited", "message_deleted",
    ]  # fmt: skip
    keys = [raw.order_key for raw in local.inbox.raws]
    assert keys == sorted(keys)


async def test_channel_updates_without_changes_and_repeated_poll_ends_are_dropped(
    local: Local,
) -> None:
    connector = local.connector()
    await local.start(connector)
    guild, channel, owner = local.channel.workspace, local.channel.channel, local.people[0]
    place = local.discord.state.channels[int(channel)]

    poll = await local.discord.poll_as(guild, channel, owner, "Lunch?", ["Soup", "Pizza"])
    place.position = 7
    local.discord._changes.change_channel(place)  # pyright: ignore[reportPrivateUsage]  # no deed does that
    await local.discord.set_topic_as(guild, channel, owner, "Plans")
    thread = await local.discord.start_thread_as(guild, channel, owner, "One", poll.id)
    await local.discord.rename_as(guild, thread, owner, "Two")
    await local.discord.close_thread_as(guild, channel, owner, thread)
    await local.discord.end_poll_as(guild, channel, owner, poll.id)
    await local.say("last")
    await received(local, connector, 2)

    events = [event for raw in local.inbox.raws for event in connector.decode(raw)]
    events_kept = [event for event in events if not isinstance(event, Ignored)]
    assert [event.type for event in events_kept] == [
        "message_posted", "topic_changed", "thread_started", "channel_renamed", "poll_ended",
        "message_posted",
    ]  # fmt: skip
    renamed = events_kept[3]
    assert isinstance(renamed, ChannelRenamed)
    assert (renamed.name, renamed.place.thread) == ("Two", thread)


async def test_a_foreign_webhook_is_not_marked_as_our_own(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)

    for call in connector.encode(delivery("from us", channel=local.channel)).calls:
        await connector.send(call)
    await received(local, connector, 1)
    for webhook in local.discord.state.webhooks.values():
        webhook.application_id = None
        webhook.id += 1  # as if another program had made it

    assert [event.own for event in posts(local, connector)] == [True]


async def test_cancelling_at_any_moment_leaves_nothing_running(local: Local) -> None:
    threads = threading.active_count()
    tasks = len(asyncio.all_tasks())
    for moment in (0, 0.001, 0.005, 0.01, 0.02, 0.04, 0.08):
        connector = local.connector()
        running = asyncio.create_task(connector.run(local.inbox))
        await asyncio.sleep(moment)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await connector.close()

    await until(lambda: threading.active_count() <= threads)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_two_accounts_run_side_by_side(local: Local) -> None:
    first_connector, second_connector = local.connector(), local.connector()
    await local.start(first_connector)
    second = asyncio.create_task(second_connector.run(local.inbox))
    try:
        await local.inbox.until(lambda: len(local.inbox.sessions) == 2)
        assert {
            required(first_connector.abilities.health).current().state,
            required(second_connector.abilities.health).current().state,
        } == {"connected"}
    finally:
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)


async def test_accounts_of_one_process_share_their_api_urls(local: Local) -> None:
    connector = local.connector()

    with pytest.raises(ConfigError, match="must share both"):
        local.connector(api_url="http://127.0.0.1:1/api/v10")

    await connector.close()
    local.connector(api_url="http://127.0.0.1:1/api/v10")


async def test_an_unavailable_gateway_is_retried(local: Local) -> None:
    connector = local.connector(gateway_url="ws://127.0.0.1:9/")
    local.running = asyncio.create_task(connector.run(local.inbox))

    await until(lambda: required(connector.abilities.health).current().note != "")

    assert required(connector.abilities.health).current().state == "connecting"


async def test_a_missing_intent_is_reported_in_the_health(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(INTENTS, "MESSAGE_CONTENT")
    connector = local.connector()
    await local.start(connector)

    await local.say("what nobody may read")

    assert await received(local, connector, 1) == [HIDDEN]
    await until(
        lambda: "Message Content Intent" in required(connector.abilities.health).current().note
    )

"""Messages are read back in time order, despite messages that Discord cannot deliver."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.errors import PlatformError, Unsettled
from bridge.model import MessagePosted, Raw
from bridge.ports.abilities.platform_history import Unreadable
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from connectors.discord.connector import DiscordConnector
from connectors.discord.ids import channel_ref, order_key, time_of
from connectors.discord.rest import Rest
from tests.connectors.discord.conftest import Local
from tests.connectors.discord.test_encode import delivery


async def read(connector: DiscordConnector, local: Local, cursor: str, *threads: str) -> list[str]:
    items = [
        raw
        async for raw in required(connector.abilities.history).read_after(
            local.channel, cursor, threads
        )
    ]
    raws = [raw for raw in items if isinstance(raw, Raw)]
    assert [raw.order_key for raw in raws] == sorted(raw.order_key for raw in raws)
    events = [event for raw in raws for event in connector.decode(raw)]
    return [
        getattr(event.message.content[0], "text", "")
        for event in events
        if isinstance(event, MessagePosted)
    ]


async def test_catch_up_merges_channel_and_threads_in_time_order(local: Local) -> None:
    connector = local.connector()
    start = order_key(await local.say("start"))
    first_root = await local.say("root one")
    await local.say("a1", first_root)
    two = await local.say("root two")
    await local.say("b1", two)
    await local.say("a2", first_root)
    archived = local.discord.state.channels[int(two)].thread
    assert archived is not None
    archived.archived = True

    assert await read(connector, local, start) == ["root one", "a1", "root two", "b1", "a2"]
    assert await required(connector.abilities.history).newest(local.channel) == max(
        order_key(str(message.id))
        for message in local.discord.messages(local.channel.workspace, local.channel.channel)
    )


async def test_catch_up_reads_more_than_one_page(local: Local) -> None:
    connector = local.connector()
    start = order_key(await local.say("start"))
    texts = [f"n{number}" for number in range(230)]
    for text in texts:
        await local.say(text)

    assert await read(connector, local, start) == texts


async def test_catch_up_reads_no_thread_that_the_list_shows_without_news(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = local.connector()
    quiet, busy = await local.say("quiet"), await local.say("busy")
    await local.say("q1", quiet)
    await local.say("b1", busy)
    start = order_key(await local.say("start"))
    await local.say("b2", busy)
    request, read_places = Rest.request, list[str]()

    async def counting(rest: Rest, method: str, path: str, **options: Any) -> Any:
        if path.endswith("/messages"):
            read_places.append(path.split("/")[2])
        return await request(rest, method, path, **options)

    monkeypatch.setattr(Rest, "request", counting)

    assert await read(connector, local, start, quiet, busy) == ["b2"]
    assert sorted(set(read_places)) == sorted([local.channel.channel, busy])


async def test_the_cursor_of_an_empty_channel_precedes_every_message(local: Local) -> None:
    connector = local.connector()

    newest = await required(connector.abilities.history).newest(local.channel)
    await local.say("first")

    assert newest < order_key("1")
    assert await read(connector, local, newest) == ["first"]


async def test_our_own_posts_are_recognised_in_history(local: Local) -> None:
    connector = local.connector()
    start = await required(connector.abilities.history).newest(local.channel)
    for call in connector.encode(delivery("ours", channel=local.channel)).calls:
        await connector.send(call)

    read = required(connector.abilities.history).read_after(local.channel, start, ())
    raws = [raw async for raw in read if isinstance(raw, Raw)]

    (event,) = connector.decode(raws[0])
    assert isinstance(event, MessagePosted)
    assert event.own


async def test_history_covers_direct_messages_and_forums(local: Local) -> None:
    connector = local.connector()
    posted_message = await local.discord.post_as("@me", local.people[0], local.people[0], "psst")
    direct = channel_ref(None, posted_message.channel)
    guild = local.channel.workspace
    forum = channel_ref(guild, local.app["forums"][guild])
    for call in connector.encode(delivery("a post", channel=forum)).calls:
        await connector.send(call)

    assert await required(connector.abilities.history).newest(direct) == order_key(
        posted_message.id
    )
    for channel in (direct, forum):
        read = required(connector.abilities.history).read_after(channel, order_key("0"), ())
        raws = [raw async for raw in read if isinstance(raw, Raw)]
        assert len(raws) == 1
        assert raws[0].channel == channel


class _Poisoned:
    """Answers 500 for each page with one of these messages (discord-api-docs #8611)."""

    def __init__(self, poisoned: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.poisoned = poisoned
        self._request = Rest.request
        monkeypatch.setattr(Rest, "request", self._poisoned_request())

    def _poisoned_request(self) -> Any:
        whole = self._request

        async def request(rest: Rest, method: str, path: str, **more: Any) -> Any:
            answer = await whole(rest, method, path, **more)
            if path.endswith("/messages") and any(m["id"] in self.poisoned for m in answer):
                raise Unsettled("Discord is in trouble (HTTP 500)", code="500")
            return answer

        return request


@pytest.mark.parametrize("which", [(3,), (0,), (7,), (2, 3), (0, 7)])
async def test_an_unreadable_message_does_not_hide_the_others(
    local: Local, monkeypatch: pytest.MonkeyPatch, which: tuple[int, ...]
) -> None:
    connector = local.connector()
    start = order_key(await local.say("start"))
    posted: list[tuple[str, str]] = []
    for number in range(8):
        await asyncio.sleep(0.002)  # people are not faster than a millisecond
        posted.append((f"n{number}", await local.say(f"n{number}")))
    _Poisoned({posted[number][1] for number in which}, monkeypatch)

    messages = await read(connector, local, start)

    assert messages == [text for number, (text, _) in enumerate(posted) if number not in which]


async def test_a_message_that_cannot_be_read_is_reported_as_unreadable(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = local.connector()
    start = order_key(await local.say("start"))
    broken = await local.say("broken")
    _Poisoned({broken}, monkeypatch)

    gaps = [
        item
        async for item in required(connector.abilities.history).read_after(local.channel, start, ())
    ]

    (gap,) = gaps
    assert isinstance(gap, Unreadable)
    assert gap.since <= time_of(broken).timestamp() <= gap.until


async def test_a_delivery_lookup_fails_when_history_is_unreadable(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = local.connector()
    before = await local.say("before")
    _Poisoned({await local.say("poison")}, monkeypatch)
    (call,) = connector.encode(delivery("hi", channel=local.channel)).calls

    with pytest.raises(PlatformError):
        await required(connector.abilities.deliveries).find(call, before)


async def test_history_retries_a_server_error_with_a_smaller_page(local: Local) -> None:
    connector = local.connector()
    start = order_key(await local.say("start"))
    await local.say("one")
    local.context.faults.add(Fault(kind="status", where="discord:message.list:*", status=500))

    assert await read(connector, local, start) == ["one"]

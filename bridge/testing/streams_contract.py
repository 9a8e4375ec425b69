"""The contract of connectors with native streams: provide `rig` and `growing`, and inherit it.

class TestSlackStreams(StreamsContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]: ...

    @pytest.fixture
    async def growing(self, rig: ConnectorRig) -> StreamRig: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from bridge.model import Call, ChannelRef, Delivery, Receipt
from bridge.ports.abilities.streams import Streams
from bridge.ports.connector import Connector
from bridge.sandbox.feed import Shown
from bridge.testing.abilities import required
from bridge.testing.connector_contract import ConnectorRig, edit_of, message_of

FIRST = "It **begins** with"
MORE = "It **begins** with a word, and goes on to [a page](https://a.exam"
WHOLE = "It **begins** with a word, and goes on to [a page](https://a.example/x)."


@dataclass
class StreamRig:
    """What a test of streams needs beside the connector.

    `post` is a delivery to a place where streams are possible, `standing` returns the messages that
    a person sees there, `restarted` is the same account in a new process without knowledge of open
    streams.
    """

    post: Delivery
    standing: Callable[[], Sequence[Shown]]
    restarted: Connector


class StreamsContract:
    """Tests of the promises of native streams; each runs against the local platform."""

    @pytest.fixture
    async def rig(self) -> ConnectorRig:
        raise NotImplementedError

    @pytest.fixture
    async def growing(self, rig: ConnectorRig) -> StreamRig:
        raise NotImplementedError

    async def test_a_post_begins_grows_and_ends_as_the_exact_message(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        first = shown_text(growing, copy)
        for call in more_of(rig.connector, growing.post, MORE, copy) or ():
            await rig.connector.send(call)
        later = shown_text(growing, copy)
        for call in end_of(rig.connector, growing.post, WHOLE, copy):
            await rig.connector.send(call)

        assert "begins" in first
        assert "word" not in first
        assert "word" in later
        assert "exam" not in later
        assert "https://a.example/x" in str(standing(growing, copy).raw)
        assert len([message for message in growing.standing() if "begins" in message.text]) == 1

    async def test_where_no_stream_is_open_there_is_nothing_to_grow_or_end(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        (call,) = rig.connector.encode(growing.post).calls
        copy = await rig.connector.send(call)

        assert more_of(rig.connector, growing.post, MORE, copy) is None
        assert end_of(rig.connector, growing.post, WHOLE, copy, ordinary=False) == []

    async def test_an_edit_ends_a_stream_that_a_crash_left_open(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        _, edit = _edit(rig.connector, growing.post, WHOLE, copy)
        await growing.restarted.send(edit)

        assert "https://a.example/x" in str(standing(growing, copy).raw)
        assert len([message for message in growing.standing() if "begins" in message.text]) == 1

    async def test_an_opening_can_be_an_ordinary_post(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        streams = _streams(rig.connector)
        (call,) = rig.connector.encode(growing.post).calls
        opening = streams.opening(growing.post, call)

        assert opening is not None
        assert streams.unstreamed(growing.post, opening) == call
        assert streams.unstreamed(growing.post, call) is None

    async def test_no_stream_where_there_can_be_none(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        nowhere = ChannelRef(platform="nowhere", workspace="w", channel="c")
        operation = growing.post.operation.model_copy(update={"channel": nowhere, "asker": None})
        elsewhere = growing.post.model_copy(update={"operation": operation, "thread": None})
        (call,) = rig.connector.encode(elsewhere).calls

        assert _streams(rig.connector).opening(elsewhere, call) is None

    async def test_the_budgets_of_its_calls_are_known(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        calls = [*(more_of(rig.connector, growing.post, MORE, copy) or ())]
        calls += end_of(rig.connector, growing.post, WHOLE, copy)

        limits = rig.connector.capabilities.rate_limits
        assert {key.rule for call in calls for key in call.rate_limits} <= set(limits)


def stream_post(rig: ConnectorRig, post: Delivery, asker: str, thread: str | None) -> Delivery:
    """The post as an answer that begins with FIRST and grows."""
    operation = post.operation.model_copy(update={"stream": True, "asker": asker})
    message = message_of(FIRST).model_copy(update={"message_id": post.message.message_id})
    return post.model_copy(update={"operation": operation, "message": message, "thread": thread})


async def begin(connector: Connector, post: Delivery) -> Receipt:
    (call,) = connector.encode(post).calls
    opening = _streams(connector).opening(post, call)
    assert opening is not None
    assert (opening.kind, opening.slot) == ("post", call.slot)
    return await connector.send(opening)


def _edit(connector: Connector, post: Delivery, text: str, copy: Receipt) -> tuple[Delivery, Call]:
    delivery = edit_of(post, text, [copy])
    (call,) = connector.encode(delivery).calls
    return delivery, call


def more_of(
    connector: Connector, post: Delivery, text: str, copy: Receipt
) -> Sequence[Call] | None:
    return _streams(connector).growing(*_edit(connector, post, text, copy), ())


def end_of(
    connector: Connector, post: Delivery, text: str, copy: Receipt, *, ordinary: bool = True
) -> list[Call]:
    delivery, call = _edit(connector, post, text, copy)
    calls = [*_streams(connector).ending(delivery, call)]
    return calls or ([call] if ordinary else [])


def _streams(connector: Connector) -> Streams:
    return required(connector.abilities.streams)


def standing(growing: StreamRig, copy: Receipt) -> Shown:
    return next(message for message in growing.standing() if message.id == copy.native_id)


def shown_text(growing: StreamRig, copy: Receipt) -> str:
    return standing(growing, copy).text

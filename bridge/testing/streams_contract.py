"""Contract suite for connectors with native streams: inherit `StreamsContract`.

Provide its fixtures `rig` and `growing`:

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
from bridge.sandbox.feed import LocalMessage
from bridge.testing.abilities import required
from bridge.testing.connector_contract import ConnectorRig, edit_of, message_of

FIRST = "It **begins** with"
MORE = "It **begins** with a word, and goes on to [a page](https://a.exam"
WHOLE = "It **begins** with a word, and goes on to [a page](https://a.example/x)."


@dataclass
class StreamRig:
    """Everything but the connector that a test of streams needs.

    - `post`: a delivery to a place that supports streams.
    - `standing()`: returns the messages that a person sees there.
    - `restarted`: a connector of the same account that knows no open streams, as after a restart.
    """

    post: Delivery
    standing: Callable[[], Sequence[LocalMessage]]
    restarted: Connector


class StreamsContract:
    """Tests of the promises of native streams; each runs against the local platform."""

    @pytest.fixture
    async def rig(self) -> ConnectorRig:
        """The connector and its local platform.

        Raises:
            NotImplementedError: the suite of a connector does not override it.
        """
        raise NotImplementedError

    @pytest.fixture
    async def growing(self, rig: ConnectorRig) -> StreamRig:
        """A delivery that can be streamed.

        Raises:
            NotImplementedError: the suite of a connector does not override it.
        """
        raise NotImplementedError

    async def test_a_streamed_post_ends_as_the_exact_message(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        first = shown_text(growing, copy)
        for call in growing_calls(rig.connector, growing.post, MORE, copy) or ():
            await rig.connector.send(call)
        later = shown_text(growing, copy)
        for call in ending_calls(rig.connector, growing.post, WHOLE, copy):
            await rig.connector.send(call)

        assert "begins" in first
        assert "word" not in first
        assert "word" in later
        assert "exam" not in later
        assert "https://a.example/x" in str(standing(growing, copy).raw)
        assert len([message for message in growing.standing() if "begins" in message.text]) == 1

    async def test_an_ordinary_post_cannot_be_grown_or_ended_as_a_stream(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        (call,) = rig.connector.encode(growing.post).calls
        copy = await rig.connector.send(call)

        assert growing_calls(rig.connector, growing.post, MORE, copy) is None
        assert ending_calls(rig.connector, growing.post, WHOLE, copy, ordinary=False) == []

    async def test_an_edit_ends_a_stream_that_a_crash_left_open(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        _, edit = _edit(rig.connector, growing.post, WHOLE, copy)
        await growing.restarted.send(edit)

        assert "https://a.example/x" in str(standing(growing, copy).raw)
        assert len([message for message in growing.standing() if "begins" in message.text]) == 1

    async def test_an_opening_can_be_sent_as_an_ordinary_post_instead(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        streams = _streams(rig.connector)
        (call,) = rig.connector.encode(growing.post).calls
        opening = streams.opening(growing.post, call)

        assert opening is not None
        assert streams.unstreamed(growing.post, opening) == call
        assert streams.unstreamed(growing.post, call) is None

    async def test_a_place_without_streams_has_no_opening(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        nowhere = ChannelRef(platform="nowhere", workspace="w", channel="c")
        operation = growing.post.operation.model_copy(update={"channel": nowhere, "asker": None})
        elsewhere = growing.post.model_copy(update={"operation": operation, "thread": None})
        (call,) = rig.connector.encode(elsewhere).calls

        assert _streams(rig.connector).opening(elsewhere, call) is None

    async def test_the_rate_limits_of_all_stream_calls_are_in_the_capabilities(
        self, rig: ConnectorRig, growing: StreamRig
    ) -> None:
        copy = await begin(rig.connector, growing.post)
        calls = [*(growing_calls(rig.connector, growing.post, MORE, copy) or ())]
        calls += ending_calls(rig.connector, growing.post, WHOLE, copy)

        limits = rig.connector.capabilities.rate_limits
        assert {key.rule for call in calls for key in call.rate_limits} <= set(limits)


def stream_post(rig: ConnectorRig, post: Delivery, asker: str, thread: str | None) -> Delivery:
    """Return the post as a streamed answer whose first text is FIRST."""
    operation = post.operation.model_copy(update={"stream": True, "asker": asker})
    message = message_of(FIRST).model_copy(update={"message_id": post.message.message_id})
    return post.model_copy(update={"operation": operation, "message": message, "thread": thread})


async def begin(connector: Connector, post: Delivery) -> Receipt:
    """Send the opening of the stream and return its receipt."""
    (call,) = connector.encode(post).calls
    opening = _streams(connector).opening(post, call)
    assert opening is not None
    assert (opening.kind, opening.slot) == ("post", call.slot)
    return await connector.send(opening)


def _edit(connector: Connector, post: Delivery, text: str, copy: Receipt) -> tuple[Delivery, Call]:
    delivery = edit_of(post, text, [copy])
    (call,) = connector.encode(delivery).calls
    return delivery, call


def growing_calls(
    connector: Connector, post: Delivery, text: str, copy: Receipt
) -> Sequence[Call] | None:
    """Return the calls that extend the stream to `text`; None when no stream is open."""
    return _streams(connector).growing(*_edit(connector, post, text, copy), ())


def ending_calls(
    connector: Connector, post: Delivery, text: str, copy: Receipt, *, ordinary: bool = True
) -> list[Call]:
    """Return the calls that end the stream with `text`.

    When no stream is open, returns the call of the ordinary edit, or nothing if not `ordinary`.
    """
    delivery, call = _edit(connector, post, text, copy)
    calls = [*_streams(connector).ending(delivery, call)]
    return calls or ([call] if ordinary else [])


def _streams(connector: Connector) -> Streams:
    return required(connector.abilities.streams)


def standing(growing: StreamRig, copy: Receipt) -> LocalMessage:
    """Return the message that this copy is."""
    return next(message for message in growing.standing() if message.id == copy.native_id)


def shown_text(growing: StreamRig, copy: Receipt) -> str:
    """Return the text that a person sees for this copy."""
    return standing(growing, copy).text

"""Contract suite for connectors: inherit `ConnectorContract` and provide its `rig` fixture.

class TestSlackContract(ConnectorContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]: ...
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.errors import PlatformError, RateLimited, Unavailable, UndecodableEvent, Unsettled
from bridge.model import (
    Byline,
    Call,
    ChannelRef,
    DeleteMessage,
    Delivery,
    EditMessage,
    MessagePosted,
    OperationId,
    PostMessage,
    Raw,
    Receipt,
    RoomId,
    message_id_of,
)
from bridge.model.refs import MessageId
from bridge.ports.connector import Connector
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.testing.inbox import ListInbox
from bridge.uacs import Actor, Message, TextPart

_numbers = itertools.count(1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)  # what orjson writes
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@dataclass
class ConnectorRig:
    """A connector that runs (`connector.run` is a task) against its local platform.

    - `say(text, thread)`: posts as a person; returns the platform's id of the message.
    - `standing()`: returns the messages that a person sees in the channel, in order.
    - `fault(fault)`: injects a fault into the local platform. `post_route` is the glob of the API
      call that a post makes, `event_route` that of events in `channel`.
    - `forge()`: sends an event with an invalid signature and returns the HTTP status; None where
      events arrive over a socket that the connector opened.
    - `sdk_errors`: an instance of each exception type of the SDK and the HTTP client; `translate`
      makes the context manager that translates them.
    - `kinds`: every `Raw.kind` that the decoder reads.
    - `stop()`: cancels `run` and closes the connector; afterwards none of its tasks may run.
    """

    connector: Connector
    channel: ChannelRef
    inbox: ListInbox
    say: Callable[[str, str | None], Awaitable[str]]
    standing: Callable[[], Sequence[LocalMessage]]
    fault: Callable[[Fault], None]
    post_route: str
    event_route: str
    stop: Callable[[], Awaitable[None]]
    translate: Callable[[], Any]
    sdk_errors: Sequence[BaseException]
    kinds: Sequence[str]
    forge: Callable[[], Awaitable[int]] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


def message_of(text: str, *, name: str = "Ann") -> Message:
    """Return a canonical message of a person on a platform that does not exist."""
    return Message(
        message_id=f"elsewhere:w:c:{next(_numbers)}",
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        actor=Actor(id="elsewhere:w:ann", role="human", name=name),
        content=(TextPart(text=text),),
    )


def post_of(rig: ConnectorRig, text: str, *, name: str = "Ann", **extra: Any) -> Delivery:
    """Return a delivery that posts `text` into the rig's channel."""
    message = message_of(text, name=name)
    operation = PostMessage(
        id=OperationId(f"contract-{next(_numbers)}"),
        account=rig.connector.account,
        channel=rig.channel,
        room=RoomId("contract"),
        message=MessageId(message.message_id),
        byline=Byline(name=name),
    )
    return Delivery(operation=operation, message=message, **extra)


def edit_of(post: Delivery, text: str, copies: Sequence[Receipt]) -> Delivery:
    """Return a delivery that changes the copies of `post` to `text`."""
    before = post.operation
    assert isinstance(before, PostMessage)
    operation = EditMessage(
        id=OperationId(f"contract-{next(_numbers)}"),
        account=before.account,
        channel=before.channel,
        room=before.room,
        message=before.message,
        byline=before.byline,
    )
    message = message_of(text).model_copy(update={"message_id": post.message.message_id})
    return Delivery(operation=operation, message=message, thread=post.thread, copies=tuple(copies))


def delete_of(post: Delivery, copies: Sequence[Receipt]) -> Delivery:
    """Return a delivery that deletes the copies of `post`."""
    before = post.operation
    operation = DeleteMessage(
        id=OperationId(f"contract-{next(_numbers)}"),
        account=before.account,
        channel=before.channel,
        room=before.room,
        message=before.message,
    )
    return Delivery(
        operation=operation, message=post.message, thread=post.thread, copies=tuple(copies)
    )


async def send_all(rig: ConnectorRig, delivery: Delivery) -> list[Receipt]:
    """Encode the delivery and send its calls in order, as a lane does."""
    return [await rig.connector.send(call) for call in rig.connector.encode(delivery).calls]


def posted_messages(rig: ConnectorRig) -> list[MessagePosted]:
    """Decode the received payloads and return their posts in order."""
    events = [event for raw in rig.inbox.raws for event in rig.connector.decode(raw)]
    return [event for event in events if isinstance(event, MessagePosted)]


def text_of(event: MessagePosted) -> str:
    """Return the text parts of the posted message, joined by line breaks."""
    return "\n".join(part.text for part in event.message.content if isinstance(part, TextPart))


class ConnectorContract:
    """Tests of the promises that every connector keeps."""

    async def test_a_persons_post_is_decoded_with_its_place_author_and_time(
        self, rig: ConnectorRig
    ) -> None:
        native_id = await rig.say("good morning", None)
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 1)

        (event,) = posted_messages(rig)

        assert event.native_id == native_id
        assert event.message.message_id == message_id_of(rig.channel, native_id)
        assert (event.place.channel, event.place.thread) == (rig.channel, None)
        assert text_of(event) == "good morning"
        assert event.author.id == event.message.actor.id
        assert not event.own
        assert abs((datetime.now(UTC) - event.time).total_seconds()) < 60

    async def test_an_answer_in_a_thread_names_the_thread(self, rig: ConnectorRig) -> None:
        root = await rig.say("who has the keys?", None)
        await rig.say("I do", root)
        await rig.inbox.until(
            lambda: any(text_of(event) == "I do" for event in posted_messages(rig))
        )

        answer = next(event for event in posted_messages(rig) if text_of(event) == "I do")

        assert answer.place.channel == rig.channel
        assert answer.place.thread == root

    async def test_posts_of_one_channel_are_received_in_their_order(
        self, rig: ConnectorRig
    ) -> None:
        texts = [f"number {n}" for n in range(20)]
        for text in texts:
            await rig.say(text, None)
        await rig.inbox.until(lambda: len(posted_messages(rig)) == len(texts))

        assert [text_of(event) for event in posted_messages(rig)] == texts
        keys = [raw.order_key for raw in rig.inbox.raws if rig.connector.decode(raw)]
        assert keys == sorted(keys)

    async def test_a_post_is_shown_under_its_authors_name(self, rig: ConnectorRig) -> None:
        (receipt,) = await send_all(rig, post_of(rig, "hello from elsewhere", name="Ann"))

        message = rig.standing()[-1]

        assert message.id == receipt.native_id
        assert "hello from elsewhere" in message.text
        assert "Ann" in message.author + message.text

    async def test_a_post_into_a_thread_is_shown_in_that_thread(self, rig: ConnectorRig) -> None:
        root = await rig.say("lunch?", None)

        (receipt,) = await send_all(rig, post_of(rig, "yes please", thread=root))

        message = next(
            candidate for candidate in rig.standing() if candidate.id == receipt.native_id
        )
        assert message.thread == root

    async def test_the_echo_of_a_post_has_the_id_of_its_receipt(self, rig: ConnectorRig) -> None:
        if not rig.connector.capabilities.echo:
            pytest.skip("this platform does not send our own posts back")

        (receipt,) = await send_all(rig, post_of(rig, "there and back"))
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 1)

        (echo,) = posted_messages(rig)
        assert echo.native_id == receipt.native_id
        assert echo.message.message_id == message_id_of(rig.channel, receipt.native_id)

    async def test_the_echo_of_our_post_is_marked_as_our_own(self, rig: ConnectorRig) -> None:
        if not rig.connector.capabilities.echo:
            pytest.skip("this platform does not send our own posts back")

        await send_all(rig, post_of(rig, "mirror, mirror"))
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 1)

        assert posted_messages(rig)[0].own

    async def test_an_event_that_is_delivered_twice_is_kept_once(self, rig: ConnectorRig) -> None:
        rig.fault(Fault(kind="duplicate", where=rig.event_route))

        await rig.say("only once", None)
        await rig.say("afterwards", None)
        await rig.inbox.until(lambda: any(text_of(e) == "afterwards" for e in posted_messages(rig)))

        ids = [event.native_id for event in posted_messages(rig)]
        assert len(ids) == len(set(ids)) == 2

    async def test_an_event_with_an_invalid_signature_is_refused_and_not_kept(
        self, rig: ConnectorRig
    ) -> None:
        if rig.forge is None:
            pytest.skip("events come over a socket that we opened ourselves")

        status = await rig.forge()

        assert status == 401
        assert rig.inbox.raws == []

    async def test_a_long_text_is_split_in_order_without_loss(self, rig: ConnectorRig) -> None:
        words = [f"word{n}" for n in range(rig.connector.capabilities.text_limit // 4)]
        delivery = post_of(rig, " ".join(words))

        encoded = rig.connector.encode(delivery)
        receipts = [await rig.connector.send(call) for call in encoded.calls]

        assert len(receipts) > 1
        assert [receipt.slot for receipt in receipts] == list(range(len(receipts)))
        texts = {message.id: message.text for message in rig.standing()}
        text = " ".join(texts[receipt.native_id] for receipt in receipts)
        assert [word for word in text.split() if word.startswith("word")] == words

    async def test_a_partly_sent_post_continues_after_its_last_copy(
        self, rig: ConnectorRig
    ) -> None:
        delivery = post_of(rig, "long " * rig.connector.capabilities.text_limit)
        calls = rig.connector.encode(delivery).calls
        first = await rig.connector.send(calls[0])

        resumed = delivery.model_copy(update={"copies": (first,)})

        assert rig.connector.encode(resumed).calls == calls[1:]

    async def test_encoding_twice_gives_the_same_calls(self, rig: ConnectorRig) -> None:
        delivery = post_of(rig, "**bold** and [a link](https://example.com/) and `code`")

        assert rig.connector.encode(delivery) == rig.connector.encode(delivery)

    async def test_the_bodies_of_calls_are_json(self, rig: ConnectorRig) -> None:
        for call in rig.connector.encode(post_of(rig, "**hello**, [you](https://e.org)")).calls:
            assert orjson.loads(orjson.dumps(call.body)) == call.body

    async def test_an_edit_changes_the_copy(self, rig: ConnectorRig) -> None:
        post = post_of(rig, "tpyo")
        receipts = await send_all(rig, post)

        await send_all(rig, edit_of(post, "typo", receipts))

        message = next(
            candidate for candidate in rig.standing() if candidate.id == receipts[0].native_id
        )
        assert "typo" in message.text
        assert "tpyo" not in message.text

    async def test_a_longer_edit_adds_copies_and_a_shorter_one_deletes_them(
        self, rig: ConnectorRig
    ) -> None:
        post = post_of(rig, "short")
        first = await send_all(rig, post)
        long = "many words " * (rig.connector.capabilities.text_limit // 8)

        more = await send_all(rig, edit_of(post, long, first))
        count_when_long = len(rig.standing())
        copies = {receipt.slot: receipt for receipt in [*first, *more]}
        await send_all(rig, edit_of(post, "short again", [copies[slot] for slot in sorted(copies)]))

        assert count_when_long > 1
        assert len(rig.standing()) == 1
        assert "short again" in rig.standing()[0].text

    async def test_a_deletion_deletes_every_copy(self, rig: ConnectorRig) -> None:
        post = post_of(rig, "gone " * rig.connector.capabilities.text_limit)
        receipts = await send_all(rig, post)

        await send_all(rig, delete_of(post, receipts))

        assert rig.standing() == []

    async def test_a_429_answer_raises_rate_limited_with_its_waiting_time(
        self, rig: ConnectorRig
    ) -> None:
        rig.fault(Fault(kind="rate_limited", where=rig.post_route, seconds=7))

        with pytest.raises(RateLimited) as caught:
            await send_all(rig, post_of(rig, "too fast"))

        assert caught.value.retry_after >= 7
        assert rig.standing() == []

    async def test_a_lost_answer_raises_unsettled(self, rig: ConnectorRig) -> None:
        rig.fault(Fault(kind="lose_answer", where=rig.post_route))

        with pytest.raises(Unsettled):
            await send_all(rig, post_of(rig, "did you hear me?"))

        assert len(rig.standing()) == 1

    async def test_a_server_error_raises_an_error_that_allows_a_retry(
        self, rig: ConnectorRig
    ) -> None:
        rig.fault(Fault(kind="status", where=rig.post_route, status=503))

        with pytest.raises((Unavailable, Unsettled)):
            await send_all(rig, post_of(rig, "not now"))

    async def test_an_unsettled_post_is_found_in_the_history_once_it_was_sent(
        self, rig: ConnectorRig
    ) -> None:
        deliveries = rig.connector.abilities.deliveries
        if deliveries is None:
            pytest.skip("this platform's history cannot be read")
        before = (await send_all(rig, post_of(rig, "the one before")))[0]
        (call,) = rig.connector.encode(post_of(rig, "did it arrive?")).calls
        assert await deliveries.find(call, before.native_id) is None

        receipt = await rig.connector.send(call)

        assert await deliveries.find(call, before.native_id) == receipt

    async def test_catch_up_returns_missed_posts_with_the_ids_of_live_events(
        self, rig: ConnectorRig
    ) -> None:
        history = rig.connector.abilities.history
        if history is None:
            pytest.skip("this platform's history cannot be read")
        await rig.say("seen", None)
        root = await rig.say("root", None)
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 2)
        cursor = rig.inbox.raws[0].order_key
        await rig.say("reply", root)
        await rig.say("last", None)
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 4)

        read = history.read_after(rig.channel, cursor, [root])
        raws = [raw async for raw in read if isinstance(raw, Raw)]

        missed = [event for raw in raws for event in rig.connector.decode(raw)]
        posts = [event for event in missed if isinstance(event, MessagePosted)]
        live = {event.native_id: event for event in posted_messages(rig)}
        assert sorted(map(text_of, posts)) == ["last", "reply", "root"]
        assert {raw.dedupe_key for raw in raws} <= {raw.dedupe_key for raw in rig.inbox.raws}
        for post in posts:
            assert post.message.message_id == live[post.native_id].message.message_id
            assert post.place == live[post.native_id].place

    async def test_stopping_leaves_no_task_running(self, rig: ConnectorRig) -> None:
        await rig.say("still there?", None)
        await rig.inbox.until(lambda: len(posted_messages(rig)) == 1)

        await rig.stop()

        names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]  # type: ignore[union-attr]
        leftover = [name for name in names if name.split(".")[0] in _tasks_of(rig)]
        assert leftover == []

    async def test_every_error_of_the_sdk_is_translated(self, rig: ConnectorRig) -> None:
        untranslated: list[str] = []
        for error in rig.sdk_errors:
            try:
                with rig.translate():
                    raise error
            except PlatformError as translated:
                assert str(translated)
            except BaseException as foreign:  # noqa: BLE001 - the point of the test
                untranslated.append(f"{type(error).__name__} -> {type(foreign).__name__}")

        assert untranslated == []

    async def test_any_payload_is_decoded_or_raises_undecodable_event(
        self, rig: ConnectorRig
    ) -> None:
        @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.sampled_from(list(rig.kinds)), JSON)
        def check(kind: str, payload: object) -> None:
            _decode_quietly(rig, kind, orjson.dumps(payload, option=orjson.OPT_NON_STR_KEYS))

        check()
        for broken in (b"", b"{", b"\xff\xfe", b"[" * 5000, b'"' + b"x" * 100_000):
            for kind in rig.kinds:
                _decode_quietly(rig, kind, broken)

    async def test_text_that_looks_like_a_mention_notifies_nobody(self, rig: ConnectorRig) -> None:
        nasty = "@everyone @here @channel <!channel> <!here> <@U0ANN> <@123> <at>Ann</at> <@&5>"
        delivery = post_of(rig, nasty, name="@everyone <!channel>")

        for call in rig.connector.encode(delivery).calls:
            assert not self.pings(call), call.body

    def pings(self, call: Call) -> bool:
        """Tell whether the platform would notify somebody because of this call.

        Raises:
            NotImplementedError: the suite of a connector does not override it.
        """
        raise NotImplementedError


def _decode_quietly(rig: ConnectorRig, kind: str, payload: bytes) -> None:
    raw = Raw(
        account=rig.connector.account, kind=kind, dedupe_key="d", order_key="o",
        channel=rig.channel, payload=payload,
    )  # fmt: skip
    try:
        rig.connector.decode(raw)
    except UndecodableEvent as error:
        assert str(error)


def _tasks_of(rig: ConnectorRig) -> set[str]:
    """Return the first part of the names of coroutines that only this connector starts."""
    return set(rig.fields.get("tasks", ()))

"""One message passes few files, in one direction: a reader who follows it never goes back.

The lists of files are those of docs/one-message.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bridge.model.turns import AgentEvent, TextDelta
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_attachments import Gallery
from tests.router.outbound.test_retries import channel_of
from tests.router.turns.test_answer import Scripted, plaza
from tests.router.ways import EVENT, ROW, SEND, TURN, Way, enters

MOST = 10  # files of one way


def steps_of(way: tuple[str, Sequence[tuple[str, str]]]) -> list[str]:
    return [file for file, _ in way[1]]


def sending(lane: str) -> Way:
    begins = enters("bridge/router/outbound/lane.py", "run")
    return Way(("Lanes._run",), begins, enters("tests/", "send"), f"lane {lane}")


def receiving() -> Way:
    tasks = ("FakeConnector.say", "Intake._take", "InboundQueues._run")
    return Way(
        tasks,
        enters("bridge/router/inbox.py", "accept"),
        enters("bridge/store/", "admit", "receive"),
    )


def answering(end: str) -> Way:
    """Until the store takes the answer; typing signs and volatile edits are no part of the way."""
    tasks = ("TurnQueue._run", "AgentListener._read_events", "AnswerPresenter._open")
    begins = enters("bridge/router/turns/queue.py", "_run")
    return Way(tasks, begins, enters("bridge/store/", end))


@pytest.mark.parametrize("way", [SEND, EVENT, ROW, TURN], ids=["send", "event", "row", "turn"])
def test_no_way_passes_more_than_ten_files(way: tuple[str, Sequence[tuple[str, str]]]) -> None:
    assert len(steps_of(way)) <= MOST


async def test_a_send_passes_its_files_once_each(clock: FakeClock) -> None:
    rig, sales, billing = channel_of(clock)
    way = sending(billing.channel("b").lane)
    text = f"see [#s](uacs:channel/{sales.channel('s').key})"

    async with rig.run():
        with way.traced():
            await sales.say("s", text)
            await clock.advance(5)

    assert billing.texts("b") == [text]
    assert way.is_over
    assert way.steps == steps_of(SEND)
    assert (way.returns, way.backwards) == ([], set())


async def test_an_event_passes_its_files_once_each(clock: FakeClock) -> None:
    rig, sales = plaza(clock, Scripted("robin", clock, lambda _: []))
    way = receiving()

    async with rig.run():
        with way.traced():
            await asyncio.create_task(sales.say("s", "one"))
            await clock.advance(5)

    assert way.is_over
    assert way.steps == steps_of(EVENT)
    assert (way.returns, way.backwards) == (["inbound/processor.py"], set())


async def test_the_files_of_a_message_are_fetched_behind_all_other_steps(clock: FakeClock) -> None:
    gallery, way = Gallery(clock), receiving()

    async with gallery.rig.run():
        with way.traced():
            await asyncio.create_task(gallery.sales.say("s", "look"))
            await clock.advance(5)

    assert way.is_over
    assert way.steps == steps_of(ROW)
    assert (way.returns, way.backwards) == ([], set())


async def test_an_answer_passes_its_files_once_each(clock: FakeClock) -> None:
    rig, sales = plaza(clock, Scripted("robin", clock, lambda _: [TextDelta(text="hello")]))
    way = answering("admit")

    async with rig.run():
        with way.traced():
            await sales.say("s", "@robin one")
            await clock.advance(5)

    assert sales.texts("s") == ["@robin one", "hello"]
    assert way.is_over
    assert way.steps == [file for file in steps_of(TURN) if file != "outbound/streams.py"]
    assert (set(way.returns), way.backwards) == ({"turns/runner.py"}, set())


async def test_an_answer_that_grows_is_published_twice_and_goes_back_to_no_other_file(
    clock: FakeClock,
) -> None:
    script: list[AgentEvent | float] = [TextDelta(text="hello"), 2.0, TextDelta(text=" you"), 3.0]
    rig, sales = plaza(clock, Scripted("robin", clock, lambda _: script))
    way = answering("change_message")

    async with rig.run():
        with way.traced():
            await sales.say("s", "@robin one")
            await clock.advance(15)

    assert way.is_over
    assert sorted(way.steps) == sorted(steps_of(TURN))
    assert set(way.returns) == {"turns/runner.py", "turns/publisher.py"}
    assert way.backwards == set()

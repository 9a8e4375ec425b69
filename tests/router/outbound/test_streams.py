"""Answers that grow: in parts, healed, in the platform's own streams, and whole in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from bridge.content.text.patterns import Replacement, pattern_of
from bridge.errors import Refused, StreamStopped
from bridge.model import Call, Delivery, Level, Rate, Receipt
from bridge.model.turns import AgentEvent, PlanStep, TextDelta, Turn, TurnDone
from bridge.ports.abilities import Abilities
from bridge.router import AgentMembership
from bridge.router.rooms.options import MemberOptions
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.turns.test_queue import Script, Scripted

LONG = "".join(f"sentence number {n} of this answer. " for n in range(12)).strip()


class FakeStreams(FakeConnector):
    """A fake connector with native streams: "open", then an "append" for each delta, then "end"."""

    pace = 0.5
    shows_steps = False

    def __init__(
        self, account: str, clock: FakeClock, rate_limits: dict[str, tuple[Rate, ...]] | None = None
    ) -> None:
        super().__init__(account, clock, rate_limits=rate_limits)
        self.open: dict[str, str] = {}
        self.methods: list[str] = []
        self.steps: list[str] = []
        self.refuses: dict[str, Exception] = {}

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), streams=self)

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        return call.model_copy(update={"method": "open"})

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        if (sent := self.open.get(call.native_id or "")) is None:
            return None
        self.steps = [step.title for step in steps]
        if not str(call.body["text"]).startswith(sent) or call.body["text"] == sent:
            return ()
        return (call.model_copy(update={"method": "append"}),)

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        if (call.native_id or "") not in self.open:
            return ()
        return (call.model_copy(update={"method": "end"}), call)

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        return call.model_copy(update={"method": "write"}) if call.method == "open" else None

    async def send(self, call: Call) -> Receipt:
        self.methods.append(call.method)
        if error := self.refuses.pop(call.method, None):
            raise error
        if call.method == "write" and (call.native_id or "") in self.open:
            raise Refused("a stream is open there")
        receipt = await super().send(call)
        if call.method == "end":
            del self.open[receipt.native_id]
        elif call.method in ("open", "append"):
            self.open[receipt.native_id] = str(call.body["text"])
        return receipt


def rig_of(clock: FakeClock, script: Script, *connectors: FakeConnector) -> RouterRig:
    rig = RouterRig(clock, SqliteStore.in_memory(clock), connectors)
    rig.agents = {"helper": Scripted("helper", script)}
    rig.memberships = (AgentMembership("helper", "mentions"),)
    rig.room("all", *((connector, connector.account[0], "both") for connector in connectors))
    return rig


def script_of(clock: FakeClock, *pieces: str, pause: float = 1.0) -> Script:
    async def script(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        for piece in pieces:
            yield TextDelta(text=piece)
            await clock.sleep(pause)
        yield TurnDone()

    return script


def in_words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


async def test_a_long_answer_rolls_over_to_further_posts_while_it_grows(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = rig_of(clock, script_of(clock, *in_words(LONG), pause=0.2), sales, billing)

    async with rig.run():
        await sales.say("s", "@helper tell me all")
        await clock.advance(9)
        halfway = billing.texts("b")[1:]
        await clock.advance(20)

    assert len(halfway) > 2
    assert LONG.startswith("".join(halfway))
    assert "".join(billing.texts("b")[1:]) == "".join(sales.texts("s")[1:]) == LONG


async def test_where_an_edit_is_another_message_an_answer_is_said_once_when_it_is_whole(
    clock: FakeClock,
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    features = {**billing.capabilities.features, "edit": Level.PARTIAL}
    billing.capabilities = billing.capabilities.model_copy(update={"features": features})
    rig = rig_of(clock, script_of(clock, *in_words(LONG), pause=0.2), sales, billing)

    async with rig.run():
        await sales.say("s", "@helper tell me all")
        await clock.advance(9)
        halfway = billing.texts("b")[1:]
        await clock.advance(20)

    assert halfway == []
    assert "".join(sales.texts("s")[1:]) == "".join(billing.texts("b")[1:]) == LONG


async def test_an_account_that_is_taken_away_while_an_answer_grows_hurts_no_other(
    clock: FakeClock,
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = rig_of(clock, script_of(clock, *in_words(LONG), pause=0.2), sales, billing)

    async with rig.run():
        await sales.say("s", "@helper tell me all")
        await clock.advance(3)
        del rig.connectors[billing.account]
        await clock.advance(60)

    assert "".join(sales.texts("s")[1:]) == LONG
    whole = await rig.store.resolve(sales.channel("s"), sales.channels["s"][-1].id)
    assert whole is not None
    stored = await rig.store.message(whole)
    assert stored is not None
    assert stored.state == "complete"


async def test_parts_that_are_whole_are_not_edited_again(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    rig = rig_of(clock, script_of(clock, *in_words(LONG), pause=0.2), sales)

    async with rig.run():
        await sales.say("s", "@helper tell me all")
        await clock.advance(60)

    times = Counter(text for _, _, text in sales.sent)
    assert [times[part] for part in sales.texts("s")[1:-1]] == [1] * (len(sales.texts("s")) - 2)


async def test_unfinished_markup_is_not_shown_while_an_answer_grows(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    pieces = ("See **the ", "docs** at [our", " page](https://a.exam", "ple/start) and ", "more.")
    rig = rig_of(clock, script_of(clock, *pieces), sales)

    async with rig.run():
        await sales.say("s", "@helper where?")
        await clock.advance(20)

    assert [text for _, _, text in sales.sent] == [
        "See **the**",
        "See **the docs** at",
        "See **the docs** at our page (<https://a.example/start>) and",
        "See **the docs** at our page (<https://a.example/start>) and more.",
    ]


async def test_what_a_channel_replaces_is_never_shown_half_written(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeStreams("billing", clock)
    pieces = ("We call it Fal", "con, and ", "the falcons", " fly over ", "falcon", " house.")
    rig = rig_of(clock, script_of(clock, *pieces), sales, billing)
    falcon = Replacement(pattern_of(r"(?i)\bfalcon\b"), "project")
    options = MemberOptions(replace=(falcon,))
    members = tuple(replace(member, options=options) for member in rig.rooms[0].members)
    rig.rooms = [replace(rig.rooms[0], members=members)]

    async with rig.run():
        await sales.say("s", "@helper what is it?")
        await clock.advance(20)

    final = "We call it project, and the falcons fly over project house."
    for fake in (sales, billing):
        growing = [text for _, _, text in fake.sent if text.startswith("We")]
        assert all(final.startswith(text) for text in growing), growing
        assert fake.texts(fake.account[0])[-1] == final
    assert billing.methods.count("append") > 1


async def test_an_answer_grows_in_the_platforms_own_stream_and_ends_as_a_message(
    clock: FakeClock,
) -> None:
    sales = FakeStreams("sales", clock)
    rig = rig_of(clock, script_of(clock, "one ", "two ", "three"), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(20)

    assert sales.methods == ["open", "append", "append", "end", "write"]
    assert sales.texts("s")[1:] == ["one two three"]
    assert not sales.open


async def test_each_part_has_a_stream_of_its_own(clock: FakeClock) -> None:
    sales = FakeStreams("sales", clock)
    rig = rig_of(clock, script_of(clock, *in_words(LONG), pause=0.2), sales)

    async with rig.run():
        await sales.say("s", "@helper tell me all")
        await clock.advance(60)

    parts = sales.texts("s")[1:]
    assert "".join(parts) == LONG
    assert sales.methods.count("open") == sales.methods.count("end") == len(parts)
    assert not sales.open


async def test_a_stream_that_is_refused_is_a_post_that_is_edited(clock: FakeClock) -> None:
    sales = FakeStreams("sales", clock)
    sales.refuses = {"open": Refused("not in this channel")}
    rig = rig_of(clock, script_of(clock, "one ", "two ", "three"), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(20)

    assert sales.methods[:2] == ["open", "write"]
    assert sales.texts("s")[1:] == ["one two three"]


async def test_a_step_that_is_refused_does_not_hurt_the_answer(clock: FakeClock) -> None:
    sales = FakeStreams("sales", clock)
    sales.refuses = {"append": Refused("expired")}
    rig = rig_of(clock, script_of(clock, "one ", "two ", "three"), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(20)

    assert sales.texts("s")[1:] == ["one two three"]


async def test_the_platforms_own_stop_button_stops_the_agent(clock: FakeClock) -> None:
    sales = FakeStreams("sales", clock)
    sales.refuses = {"append": StreamStopped("somebody pressed stop")}
    rig = rig_of(clock, script_of(clock, *["word "] * 50), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(20)

    (answer,) = sales.texts("s")[1:]
    assert answer.endswith("⏹️ stopped")
    assert answer.count("word") < 10


async def test_the_steps_of_a_plan_come_with_the_text(clock: FakeClock) -> None:
    async def plans(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        yield PlanStep(id="1", title="look", status="in_progress")
        for piece in ("I ", "have ", "looked"):
            yield TextDelta(text=piece)
            await clock.sleep(1)
        yield TurnDone()

    sales = FakeStreams("sales", clock)
    rig = rig_of(clock, plans, sales)

    async with rig.run():
        await sales.say("s", "@helper look")
        await clock.advance(20)

    assert sales.steps == ["look"]


async def test_an_answer_that_was_whole_before_its_post_went_out_is_no_stream(
    clock: FakeClock,
) -> None:
    sales = FakeStreams("sales", clock, rate_limits={"channel": (Rate(count=1, seconds=30),)})
    other = FakeConnector("other", clock)
    rig = rig_of(clock, script_of(clock, "one ", "two ", "**three"), sales, other)

    async with rig.run():
        await other.say("o", "busy")
        await clock.advance(1)
        await other.say("o", "@helper count")
        await clock.advance(100)

    assert "open" not in sales.methods
    assert sales.texts("s")[-1] == "one two **three"


async def test_an_answer_leaves_room_for_its_end(clock: FakeClock) -> None:
    rate_limits = {"channel": (Rate(count=6, seconds=60),)}
    sales = FakeConnector("sales", clock, rate_limits=rate_limits)
    rig = rig_of(clock, script_of(clock, *["word "] * 12), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(13)
        await clock.advance(1)

    assert sales.texts("s")[1:] == [" ".join(["word"] * 12)]


async def test_a_stream_that_a_crash_left_open_ends_as_one_message(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    rig = rig_of(clock, script_of(clock, *["word "] * 12), sales)

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(4)
    async with rig.run():
        await clock.advance(30)

    assert sales.texts("s")[1:] == [" ".join(["word"] * 12)]

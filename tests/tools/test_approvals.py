"""Calls that somebody must allow: who may, what holds, and what a restart does to them."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import JsonValue

from bridge.agents.turn.history import readable_window
from bridge.model import actor_id_of
from bridge.uacs import ToolResultPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.tools.bench import ALLOW, REFUSE, Asker, Bench, Caller, bench_rig, request_of


def fake(rig: RouterRig, account: str) -> FakeConnector:
    return next(value for name, value in rig.connectors.items() if name == account)


NOT_MADE = "This call was not made: it is not wanted any more."
NOBODY_KNOWS = "This call was interrupted; nobody knows whether it was made."


def results_read_by(agent: Caller) -> dict[str, JsonValue]:
    """What the agent's model reads, in its latest turn, of the calls of its turns before."""
    messages = readable_window(agent.turns[-1].conversation, "helper", 100_000).messages
    parts = [part for message in messages for part in message.content]
    return {one.tool_call_id: one.content for one in parts if isinstance(one, ToolResultPart)}


async def ask_for_removal(rig: RouterRig, author: str = "ann") -> None:
    await fake(rig, "sales").say("s", "remove the lunch", author=author)
    await rig.clock.advance(2)


async def state(rig: RouterRig) -> str:
    (turn,) = await rig.store.open_turns()
    return turn.state


async def test_an_allowed_call_is_made_and_every_copy_names_the_approver(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        assert await state(rig) == "waiting"
        assert bench.made == []
        before = request.shown()
        await request.press("billing", ALLOW, "ann")
        await clock.advance(2)
        assert fake(rig, "billing").texts("b")[-1].endswith("may decide this.")
        await request.press("sales", ALLOW, "ann")
        await clock.advance(5)

    assert all("asks for leave to call **cal: remove**" in text for text in before)
    assert all('"title": "Lunch"' in text for text in before)
    assert bench.made == ["remove"]
    assert agent.results == [{"done": "remove"}]
    assert all("✅ allowed by Ann of sales at " in text for text in request.shown())
    assert not any("Refuse" in text for text in request.shown())
    (approval,) = await rig.store.approvals()
    decisions = [(each.actor, each.allowed, each.place) for each in approval.decisions]
    ann = actor_id_of("fake", "sales", "ann")
    assert (approval.state, decisions) == ("allowed", [(ann, True, "fake:sales:s")])


async def test_a_refused_call_is_not_made_and_the_agent_gets_the_refusal(clock: FakeClock) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
        await (await request_of(rig)).press("sales", REFUSE)
        await clock.advance(5)

    assert bench.made == []
    assert agent.results == [
        "A person refused this call. Do not make it again unless you are asked to."
    ]
    assert fake(rig, "billing").texts("b")[-1].endswith("That is all.")


async def test_the_first_of_two_simultaneous_presses_decides_on_all_platforms(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)
    rig.admins = ["fake:billing:*"]

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        await asyncio.gather(
            request.press("sales", ALLOW, "ann"), request.press("billing", REFUSE, "bob")
        )
        await clock.advance(5)

    (known,) = await rig.store.approvals()
    assert len(known.decisions) == 1
    assert known.state in ("allowed", "refused")
    assert bench.made == (["remove"] if known.state == "allowed" else [])
    assert len(agent.results) == 1
    decision = "allowed by Ann" if known.state == "allowed" else "refused by bob"
    assert all(decision in text for text in request.shown())
    notices = fake(rig, "billing").texts("b") + fake(rig, "sales").texts("s")
    assert len([text for text in notices if "It is too late: it was" in text]) == 1


async def test_a_press_of_a_person_who_may_not_decide_changes_nothing(clock: FakeClock) -> None:
    rig, bench = bench_rig(clock, Caller("cal__remove"))

    async with rig.run():
        await ask_for_removal(rig)
        await (await request_of(rig)).press("sales", ALLOW, "eve")
        await clock.advance(2)

        assert await state(rig) == "waiting"
        notices = fake(rig, "sales").texts("s")[-1]
        assert notices == "**eve**: Only who asked or an admin may decide this."
        assert notices not in fake(rig, "billing").texts("b")

    assert bench.made == []
    (known,) = await rig.store.approvals()
    assert known.decisions == ()


async def test_the_plain_id_of_a_button_does_not_count_as_a_press(clock: FakeClock) -> None:
    """It is the same on every request; only the token of this request's own button counts."""
    rig, bench = bench_rig(clock, Caller("cal__remove"))

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        for text in ("allow", "refuse", "Allow", "", request.message):
            await request.press("sales", text, "ann")
            await clock.advance(2)
            assert await state(rig) == "waiting"
        (known,) = await rig.store.approvals()

    assert known.decisions == ()
    assert bench.made == []


async def test_a_linked_account_of_the_asker_may_decide(clock: FakeClock) -> None:
    rig, bench = bench_rig(clock, Caller("cal__remove"))
    ann, anna = actor_id_of("fake", "sales", "ann"), actor_id_of("fake", "billing", "anna")
    await rig.store.link_people(ann, anna, "command")

    async with rig.run():
        await ask_for_removal(rig)
        await (await request_of(rig)).press("billing", ALLOW, "anna")
        await clock.advance(5)

    assert bench.made == ["remove"]


async def test_an_undecided_request_expires_and_a_late_press_gets_a_notice(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        await clock.advance(601)
        await request.press("sales", ALLOW)
        await clock.advance(5)

    assert bench.made == []
    assert "Nobody allowed this call in time" in str(agent.results)
    assert all("nobody decided in time" in text for text in request.shown())
    assert "It is too late: nobody decided in time." in fake(rig, "sales").texts("s")[-1]


async def test_a_quorum_of_two_needs_two_people(clock: FakeClock) -> None:
    rig, bench = bench_rig(clock, Caller("cal__two"))

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        await request.press("sales", ALLOW, "ann")
        await clock.advance(2)
        half = request.shown()
        await request.press("sales", ALLOW, "ann")
        await clock.advance(2)
        assert bench.made == []
        assert (
            "You have said so already; 1 more must allow it." in fake(rig, "sales").texts("s")[-1]
        )
        await request.press("billing", ALLOW, "bob")
        await clock.advance(5)

    assert all("allowed by Ann of sales" in text for text in half)
    assert bench.made == ["two"]
    assert all("allowed by bob at" in text for text in request.shown())


async def test_a_request_survives_a_restart_and_may_be_decided_meanwhile(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
    assert await state(rig) == "waiting"
    async with rig.run():
        await clock.advance(2)
        request = await request_of(rig)
        assert len(await rig.store.approvals()) == 1
        await request.press("sales", ALLOW)
        await clock.advance(5)

    assert len(agent.turns) == 2
    assert bench.made == ["remove"]
    assert len(request.copies) == 2
    asking = [t for t in fake(rig, "billing").texts("b") if "leave to call" in t]
    assert len(asking) == 1
    assert await rig.store.open_turns() == []


async def test_a_call_that_had_begun_is_not_made_again_after_a_restart(clock: FakeClock) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        await (await request_of(rig)).press("sales", ALLOW)
        await clock.advance(2)
        assert bench.made == ["remove"]
    async with rig.run():
        await clock.advance(5)

    assert len(agent.turns) == 1
    assert bench.made == ["remove"]
    assert "interrupted by a restart" in "".join(fake(rig, "billing").texts("b")[-3:])


async def test_a_press_after_its_turn_was_stopped_makes_no_call(clock: FakeClock) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        await fake(rig, "sales").say("s", "@helper stop")
        await clock.advance(5)
        await request.press("sales", ALLOW)
        await clock.advance(2)
        await fake(rig, "sales").say("s", "and now?")
        await clock.advance(5)

    assert bench.made == []
    assert all("not wanted any more" in text for text in request.shown())
    assert results_read_by(agent) == {"c0.1": NOT_MADE}


async def test_a_call_that_had_begun_when_its_turn_was_stopped_may_have_been_made(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__read", "cal__remove")
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        await fake(rig, "sales").say("s", "@helper stop")
        await clock.advance(5)
        await fake(rig, "sales").say("s", "and now?")
        await clock.advance(5)

    assert bench.made == ["read", "read"]
    assert results_read_by(agent) == {"c0.1": NOBODY_KNOWS, "c1.1": NOT_MADE}


async def test_a_failed_turn_names_the_calls_that_were_not_made(clock: FakeClock) -> None:
    agent = Caller("cal__read", "cal__remove")
    agent.breaks = asyncio.Event()
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        agent.breaks.set()
        await clock.advance(5)
        await fake(rig, "sales").say("s", "and now?")
        await clock.advance(5)

    assert results_read_by(agent) == {"c0.1": NOBODY_KNOWS, "c1.1": NOT_MADE}


async def test_a_turn_interrupted_by_a_restart_names_the_calls_that_were_not_made(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__read", "cal__remove")
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        assert bench.made == ["read"]
    async with rig.run():
        await clock.advance(5)
        await fake(rig, "sales").say("s", "and now?")
        await clock.advance(5)

    assert results_read_by(agent) == {"c0.1": NOBODY_KNOWS, "c1.1": NOT_MADE}


async def test_a_turn_abandoned_after_restarts_makes_no_call_without_approval(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__remove")
    rig, bench = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
    (turn,) = await rig.store.open_turns()
    for state in ("running", "waiting", "running"):  # killed before it waited again
        await rig.store.set_turn(turn.id, state)
    async with rig.run():
        await clock.advance(5)
        await fake(rig, "sales").say("s", "and now?")
        await clock.advance(5)

    assert bench.made == []
    assert results_read_by(agent) == {"c0.1": NOT_MADE}


async def test_calls_run_in_parallel_and_appear_in_the_conversation(
    clock: FakeClock,
) -> None:
    agent = Caller("cal__read", "cal__read")
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        assert bench.made == ["read", "read"]
        bench.hold.set()
        await clock.advance(5)

    tools = (agent.turns[0].conversation.metadata or {})["tools"]
    assert tools[0] == {  # type: ignore[index]
        "name": "cal__read", "description": "Reads.", "parameters": {"type": "object"},
    }  # fmt: skip
    answer = (await rig.store.conversation(rig.rooms[0].conversation)).messages[-1]
    results = [part for part in answer.content if isinstance(part, ToolResultPart)]
    assert [part.content for part in results] == [{"done": "read"}] * 2


async def test_an_agent_that_runs_its_own_tools_uses_the_same_approvals(clock: FakeClock) -> None:
    agent = Asker()
    rig, _ = bench_rig(clock, agent)

    async with rig.run():
        await ask_for_removal(rig)
        request = await request_of(rig)
        shown_text = request.shown()
        await request.press("sales", ALLOW)
        await clock.advance(5)

    assert all("It is Friday." in text for text in shown_text)
    (given,) = agent.given
    assert (given.tool_call_id, given.allowed) == ("own", True)
    assert given.by == actor_id_of("fake", "sales", "ann")


async def test_a_long_tool_call_does_not_count_as_silence_of_the_agent(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Deadlines of agents go by the clock of the loop.
    monkeypatch.setattr(asyncio.get_running_loop(), "time", clock.monotonic)
    agent = Caller("cal__read")
    rig, bench = bench_rig(clock, agent)
    bench.hold = asyncio.Event()

    async with rig.run():
        await ask_for_removal(rig)
        await clock.advance(2 * rig.timeouts.turn_total)
        bench.hold.set()
        await clock.advance(5)

    assert agent.results == [{"done": "read"}]
    assert fake(rig, "billing").texts("b")[-1].endswith("That is all.")


def test_the_fake_tool_bench_implements_the_port() -> None:
    assert Bench().made == []

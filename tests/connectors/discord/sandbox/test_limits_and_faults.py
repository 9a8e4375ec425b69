"""Rate limits with Discord's headers, and requested faults."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import discord
import pytest

from bridge.sandbox.faults import Fault
from connectors.discord.sandbox.api import GLOBAL
from tests.connectors.discord.sandbox.running import Running, a_client, running_discord, until
from tests.connectors.discord.sandbox.test_plain_programs import Recorder, text_channel
from tests.router.fake_clock import FakeClock
from tests.waiting import pass_time


@pytest.fixture
async def limited() -> AsyncGenerator[Running, None]:
    async with running_discord(limits=True) as running:
        yield running


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of the rate limits."""
    clock = FakeClock()
    monkeypatch.setattr("connectors.discord.sandbox.api.time", clock)
    return clock


async def make_webhook(local: Running, channel: str = "") -> str:
    where = channel or local.channel
    _, webhook, _ = await local.ask("POST", f"/channels/{where}/webhooks", {"name": "relay"})
    return f"/webhooks/{webhook['id']}/{webhook['token']}"


async def test_a_program_that_posts_fast_waits_and_is_never_refused(limited: Running) -> None:
    async with limited.program(bot := a_client()):
        webhook = await text_channel(bot, limited.channel).create_webhook(name="relay")
        began = time.monotonic()
        for number in range(7):
            await webhook.send(str(number))
        took = time.monotonic() - began

    assert limited.texts() == [str(n) for n in range(7)]
    assert took > 1.9
    assert limited.context.feed.refusals == {}


async def test_the_sixth_post_in_two_seconds_is_refused_with_a_retry_time(
    limited: Running, clock: FakeClock
) -> None:
    path = await make_webhook(limited)
    await clock.advance(10)
    answers = [await limited.ask("POST", path, {"content": "x"}, app=None) for _ in range(6)]

    assert [status for status, _, _ in answers] == [204] * 5 + [429]
    assert [h["X-RateLimit-Remaining"] for _, _, h in answers] == ["4", "3", "2", "1", "0", "0"]
    _, body, headers = answers[-1]
    assert body == {
        "message": "You are being rate limited.",
        "retry_after": body["retry_after"],
        "global": False,
    }
    assert 1 < body["retry_after"] <= 2
    assert (headers["Retry-After"], headers["X-RateLimit-Scope"]) == ("2", "user")
    assert headers["X-RateLimit-Limit"] == "5"
    assert float(headers["X-RateLimit-Reset-After"]) == pytest.approx(body["retry_after"], abs=0.01)
    assert limited.context.feed.refusals == {"discord:429:webhook.execute": 1}


async def test_a_client_that_waits_is_accepted_and_other_buckets_do_not_wait(
    limited: Running, clock: FakeClock
) -> None:
    path, other = await make_webhook(limited), await make_webhook(limited, limited.other_channel)
    for _ in range(5):
        await limited.ask("POST", path, {"content": "x"}, app=None)
    _, refused, _ = await limited.ask("POST", path, {"content": "x"}, app=None)

    free, _, _ = await limited.ask("POST", other, {"content": "x"}, app=None)
    await clock.advance(refused["retry_after"])
    late, _, _ = await limited.ask("POST", path, {"content": "x"}, app=None)

    assert (free, late) == (204, 204)


async def test_more_than_fifty_requests_a_second_are_too_many_for_a_bot(
    limited: Running, clock: FakeClock
) -> None:
    everywhere = f"discord:global:{limited.app()['application_id']}"
    for _ in range(50):
        assert limited.context.limits.retry_after(clock.now, (everywhere, (GLOBAL,))) is None

    status, body, headers = await limited.ask("GET", "/users/@me")

    assert (status, body["global"]) == (429, True)
    assert (headers["X-RateLimit-Global"], headers["X-RateLimit-Scope"]) == ("true", "global")
    assert (await limited.ask("GET", "/users/@me", app="plain"))[0] == 200


async def test_without_limits_no_request_is_refused_and_no_header_is_sent(local: Running) -> None:
    path = await make_webhook(local)
    answers = [await local.ask("POST", path, {"content": "x"}, app=None) for _ in range(60)]

    assert {status for status, _, _ in answers} == {204}
    assert not any(key.startswith("X-RateLimit") for _, _, h in answers for key in h)


@pytest.mark.parametrize(
    ("fault", "status", "posted"),
    [
        (Fault(kind="status", status=503), 503, 0),
        (Fault(kind="rate_limited", seconds=0.5), 429, 0),
        (Fault(kind="hang", seconds=0.1), 504, 0),
        (Fault(kind="status", where="discord:message.list:*"), 204, 1),
        (Fault(kind="status", where="discord:webhook.execute:CHANNEL"), 500, 0),
    ],
)
async def test_a_requested_fault_breaks_a_call(
    local: Running, fault: Fault, status: int, posted: int
) -> None:
    path = await make_webhook(local)
    where = fault.where.replace("CHANNEL", local.channel)
    local.context.faults.add(fault.model_copy(update={"where": where}))

    assert (await local.ask("POST", path, {"content": "x"}, app=None))[0] == status
    assert len(local.texts()) == posted


async def test_a_lost_answer_leaves_the_change_in_place(local: Running) -> None:
    path = await make_webhook(local)
    local.context.faults.add(Fault(kind="lose_answer", where="discord:webhook.execute:*"))

    with pytest.raises(aiohttp.ClientConnectionError):
        await local.ask("POST", path + "?wait=true", {"content": "done"}, app=None)

    assert local.texts() == ["done"]


async def test_a_program_waits_out_a_rate_limit_and_continues(local: Running) -> None:
    async with local.program(bot := a_client()):
        where = "discord:message.create:*"
        local.context.faults.add(Fault(kind="rate_limited", where=where, seconds=0.2))
        await text_channel(bot, local.channel).send("patient")

    assert local.texts() == ["patient"]
    assert local.context.feed.refusals == {"discord:429:message.create": 1}


@pytest.mark.parametrize(
    ("fault", "expected_texts"),
    [
        ({"kind": "drop"}, ["two", "three"]),
        ({"kind": "duplicate"}, ["one", "one", "two", "three"]),
        ({"kind": "reorder", "seconds": 30}, ["two", "one", "three"]),
        ({"kind": "delay", "seconds": 30}, ["two", "three", "one"]),
        ({"kind": "disconnect"}, ["one", "two", "three"]),
    ],
)
async def test_a_requested_fault_breaks_an_event(
    local: Running, fault: dict[str, Any], expected_texts: list[str]
) -> None:
    async with local.program(bot := Recorder()):
        where = f"discord:event:{local.channel}"
        local.context.faults.add(Fault.model_validate(fault | {"where": where}))
        for text in ("one", "two", "three"):
            await local.say(text)
        pass_time(fault.get("seconds", 0.0))
        await until(lambda: len(bot.messages) == len(expected_texts))
        await local.say("last")
        await until(lambda: bot.messages[-1].content == "last")

        assert [m.content for m in bot.messages] == [*expected_texts, "last"]


async def test_a_reordered_event_without_a_successor_arrives_later(local: Running) -> None:
    async with local.program(bot := Recorder()):
        local.context.faults.add(Fault(kind="reorder", where="discord:event:*", seconds=0.1))
        await local.say("alone")
        await until(lambda: bot.messages)

        assert bot.messages[0].content == "alone"


async def test_a_thread_shares_the_faults_of_its_channel(local: Running) -> None:
    root = await local.say("root")
    async with local.program(bot := Recorder()):
        await local.say("first", thread=root.id)
        await until(lambda: len(bot.messages) == 2)
        local.context.faults.add(Fault(kind="drop", where=f"discord:event:{local.channel}"))
        await local.say("dropped", thread=root.id)
        await local.say("second", thread=root.id)
        await until(lambda: len(bot.messages) == 3)

    spoken = [m.content for m in bot.messages if m.type is discord.MessageType.default]
    assert spoken == ["first", "second"]

"""Requests that read keep to the published limit of their method, before Slack has to say so."""

from __future__ import annotations

import pytest
from aiohttp import web

from bridge.errors import RateLimited
from tests.connectors.slack.test_send import FakeClock, answering


async def test_a_list_waits_its_turn_and_one_look_up_is_told_how_long_it_would_take() -> None:
    asked: list[float] = []
    clock = FakeClock()

    async def answer(_: web.Request) -> web.Response:
        asked.append(clock.monotonic())
        return web.json_response({"ok": True, "messages": []})

    async with answering(answer, clock) as api:
        for _ in range(50):
            await api.read("conversations.history", channel="C1", limit="1")
        with pytest.raises(RateLimited) as caught:
            await api.read("conversations.history", channel="C1", limit="1")
        await api.read("conversations.replies", channel="C1", ts="1.000001")
        async for _page in api.pages("conversations.history", channel="C1"):
            pass

    assert caught.value.retry_after == pytest.approx(61.0)
    assert asked == [0.0] * 51 + [pytest.approx(61.0)]

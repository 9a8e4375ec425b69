"""Every fault of every API: nothing said is lost or said twice, and people are told why."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model.turns import TurnDone, TurnFailed
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import answer, text_of, tools
from tests.agents.vendors import JSON, KEY, VENDORS, Vendor

pytestmark = pytest.mark.parametrize("vendor", VENDORS.values(), ids=VENDORS)
LONG = "Here is a long answer."


def failure_of(events: list[Any]) -> TurnFailed:
    failure = events[-1]
    assert isinstance(failure, TurnFailed), events
    assert "sk-" not in failure.reason
    assert KEY not in str(events)
    return failure


async def test_an_answer_is_streamed_word_by_word_and_once(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says(LONG))) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == LONG
    assert isinstance(events[-1], TurnDone)
    assert len(events) > 4
    assert len(api.requests) == 1


async def test_a_request_to_a_busy_api_is_retried_after_the_requested_pause(vendor: Vendor) -> None:
    busy = vendor.refusal(429, "rate_limit_error", "retry-after: 7")
    agent_tools = tools()
    async with model_server(busy, vendor.stream(vendor.says(LONG))) as api:
        events = await answer(vendor, api.url, agent_tools=agent_tools)

    assert text_of(events) == LONG
    assert agent_tools.clock.pauses == [7.0]


async def test_requests_to_an_api_that_stays_busy_end_in_failure(vendor: Vendor) -> None:
    async with model_server(vendor.refusal(429, "rate_limit_error", "retry-after: 7")) as api:
        failure = failure_of(await answer(vendor, api.url))

    assert len(api.requests) == 3
    assert failure.reason == "its model's rate limit is reached; it asks for a pause of 7 s"
    assert failure.retry


async def test_a_request_is_not_retried_after_a_pause_of_minutes(vendor: Vendor) -> None:
    async with model_server(vendor.refusal(429, "rate_limit_error", "retry-after: 600")) as api:
        failure = failure_of(await answer(vendor, api.url))

    assert len(api.requests) == 1
    assert "600 s" in failure.reason


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_a_request_is_retried_after_a_server_error(vendor: Vendor, status: int) -> None:
    broken = Answer([b"<html>oops</html>"], status, "text/html")
    async with model_server(broken, vendor.stream(vendor.says(LONG))) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == LONG
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize(("status", "kind", "words"), [
    (401, "authentication_error", "refused the key"),
    (403, "permission_error", "refused the key"),
    (404, "not_found_error", "does not know the model"),
    (400, "invalid_request_error", "refused the request (invalid_request_error)"),
    (413, "request_too_large", "too long"),
    (429, "insufficient_quota", "is used up"),
])  # fmt: skip
async def test_a_permanent_error_is_not_retried(
    vendor: Vendor, status: int, kind: str, words: str
) -> None:
    async with model_server(vendor.refusal(status, kind)) as api:
        failure = failure_of(await answer(vendor, api.url))

    assert len(api.requests) == 1
    assert words in failure.reason
    assert not failure.retry


async def test_a_stream_cut_in_the_middle_keeps_the_text_so_far(vendor: Vendor) -> None:
    whole = sse(*vendor.says(LONG))
    async with model_server(Answer(whole[: len(whole) // 2], then="cut")) as api:
        events = await answer(vendor, api.url)

    assert LONG.startswith(text_of(events))
    assert text_of(events)
    assert failure_of(events).reason == "the connection to its model broke"
    assert len(api.requests) == 1


async def test_a_stream_cut_before_the_first_word_is_retried(vendor: Vendor) -> None:
    whole = vendor.stream(vendor.says(LONG))
    async with model_server(Answer((), then="cut"), whole) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == LONG
    assert len(api.requests) == 2


async def test_a_stream_that_ends_too_early_is_not_complete(vendor: Vendor) -> None:
    whole = sse(*vendor.says(LONG))
    async with model_server(Answer(whole[: len(whole) // 2])) as api:
        events = await answer(vendor, api.url)

    assert text_of(events)
    assert failure_of(events).reason == "the stream ended before the answer did"


@pytest.mark.parametrize("event", [[], {}, 7, None, "x", {"type": 3}, {"choices": [7]},
                                   {"choices": {}, "candidates": "x", "type": "ping"}])  # fmt: skip
async def test_unknown_events_of_a_stream_are_ignored(vendor: Vendor, event: Any) -> None:
    whole = vendor.says(LONG)
    async with model_server(vendor.stream([whole[0], event, *whole[1:]])) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == LONG
    assert isinstance(events[-1], TurnDone)


async def test_a_request_to_an_api_that_hangs_times_out(vendor: Vendor) -> None:
    async with model_server(Answer((), then="hang")) as api:
        events = await answer(vendor, api.url, idle_seconds=0.5, retries=1)

    assert failure_of(events).reason == "its model does not answer at the moment"
    assert len(api.requests) == 2


async def test_an_answer_that_takes_too_long_is_ended(vendor: Vendor) -> None:
    whole = sse(*vendor.says(LONG))
    async with model_server(Answer(whole[:4], then="hang")) as api:
        events = await answer(vendor, api.url, total_seconds=0.3)

    assert LONG.startswith(text_of(events))
    assert failure_of(events).reason == "its answer took longer than 0.3 s"


async def test_an_answer_that_is_not_json_is_a_failed_turn(vendor: Vendor) -> None:
    async with model_server(Answer([b"<html>"], 200, JSON)) as api:
        assert "not JSON" in failure_of(await answer(vendor, api.url)).reason


async def test_json_of_another_shape_is_a_failed_turn(vendor: Vendor) -> None:
    async with model_server(Answer([b'{"hello": ["world"]}'], 200, JSON)) as api:
        events = await answer(vendor, api.url)

    assert not text_of(events)
    failure_of(events)


async def test_an_error_event_in_a_stream_is_reported(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.fails())) as api:
        failure = failure_of(await answer(vendor, api.url))

    assert failure.reason == "its model does not answer at the moment"
    assert len(api.requests) == 3


async def test_a_refusal_of_the_model_is_emitted_once(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.refuses("I would rather not."))) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) in ("I would rather not.", "")
    assert failure_of(events).reason == "its model refused to answer this"
    assert len(api.requests) == 1


async def test_an_answer_that_reaches_its_token_limit_is_reported(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.cut_at_limit("Once upon"))) as api:
        events = await answer(vendor, api.url, max_tokens=20)

    assert text_of(events) == "Once upon"
    assert failure_of(events).reason == "it reached the limit of 20 tokens of its model's answers"


async def test_an_unreachable_server_is_a_failed_turn(vendor: Vendor) -> None:
    events = await answer(vendor, "http://127.0.0.1:1", retries=0)

    assert failure_of(events).reason == "its model does not answer at the moment"


async def test_a_redirect_is_not_followed(vendor: Vendor) -> None:
    moved = Answer((), 302, "text/html", ("location: http://127.0.0.1:1/",))
    async with model_server(moved) as api:
        failure = failure_of(await answer(vendor, api.url))

    assert failure.reason == "its model's API refused the request (moved)"

"""Slack's refusals of reactions and pins: which count as success, and which become words."""

from __future__ import annotations

import pytest
from aiohttp import web

from bridge.errors import FormRefused, NotFound, PlatformError
from bridge.model import Receipt
from connectors.slack.send import send_call
from tests.connectors.slack.test_send import answering, call


async def sent(code: str) -> Receipt:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"ok": not code, **({"error": code} if code else {})})

    async with answering(answer) as api:
        return await send_call(api, call("other", "reactions.add"))


@pytest.mark.parametrize(
    "code",
    ["", "already_reacted", "no_reaction", "already_pinned", "no_pin", "message_not_found"],
)
async def test_a_repeated_reaction_or_pin_succeeds(code: str) -> None:
    assert await sent(code) == Receipt(slot=0, native_id="1.000002")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("too_many_emoji", FormRefused),
        ("invalid_name", FormRefused),
        ("missing_scope", FormRefused),
        ("not_in_channel", NotFound),
    ],
)
async def test_a_refused_reaction_or_pin_raises_its_error(
    code: str, error: type[PlatformError]
) -> None:
    with pytest.raises(error, match=code):
        await sent(code)

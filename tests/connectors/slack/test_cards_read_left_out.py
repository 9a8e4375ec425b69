"""The losses of a Slack message that a card cannot represent completely."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given

from bridge.content.cards.codec import ReportsUnreadContent
from bridge.content.cards.rendering import Payload
from bridge.model import Loss
from connectors.slack import cards
from connectors.slack.cards import left_out, payloads
from connectors.slack.cards.schemas import BLOCKS
from tests.connectors.slack.card_payloads import EVERY_BLOCK, VIDEO
from tests.connectors.slack.test_cards_read_total import JSON


def losses(*blocks: Any) -> tuple[Loss, ...]:
    native: Any = {"blocks": list(blocks)}
    (payload,) = payloads(native)
    return left_out(payload)


def test_a_button_visible_to_some_users_is_reported_with_its_audience() -> None:
    button = {"type": "button", "visible_to_user_ids": ["U1", "U2"], "agent_prompt": "Go on"}

    assert losses({"type": "actions", "elements": [button]}) == (
        Loss(path="/blocks/0/elements/0/visible_to_user_ids", kind="audience", what="U1 U2"),
        Loss(path="/blocks/0/elements/0/agent_prompt", kind="prompt_of_button", what="Go on"),
    )


def test_urls_that_are_no_web_links_are_reported_as_losses() -> None:
    image = {"type": "image", "image_url": "data:image/png;base64,AA==", "alt_text": "A"}
    link = {"type": "link", "url": "slack://open", "text": "Open"}
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [link]}]}

    assert losses(image, rich) == (
        Loss(path="/blocks/0/image_url", kind="address", what="data:image/png;base64,AA=="),
        Loss(path="/blocks/1/elements/0/elements/0/url", kind="address", what="slack://open"),
    )


def test_most_messages_lose_nothing() -> None:
    assert losses(*(block for block in EVERY_BLOCK if block is not VIDEO)) == ()
    assert losses(VIDEO) == (
        Loss(path="/blocks/0/provider_icon_url", kind="icon", what="https://example.com/tube.png"),
    )


@given(JSON)
def test_any_json_has_a_list_of_losses(data: Any) -> None:
    assert isinstance(left_out(Payload(BLOCKS, data, "/x")), tuple)


def test_deep_and_wide_json_is_walked_once() -> None:
    value: Any = [{"url": "x:y"}] * 100_000
    for _ in range(900):
        value = {"a": value}

    begun = time.process_time()
    found_losses = left_out(Payload(BLOCKS, value))

    assert len(found_losses) == 100
    assert time.process_time() - begun < 5


def test_the_codec_reports_unread_content() -> None:
    assert isinstance(cards, ReportsUnreadContent)

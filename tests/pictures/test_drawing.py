"""The renderers of the demo and of the pictures draw native payloads as the platforms do."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app.demo import showing
from tests.pictures.__main__ import FOLDERS, spread
from tests.pictures.cards import CARDS
from tests.pictures.drawing import draw, drawing_page, show


@pytest.fixture(scope="module")
def page() -> Generator[Page]:
    if showing.CHROMIUM is None:
        pytest.skip("no Chromium found: install Debian's `chromium` to draw cards")
    with showing.browser() as browser:
        yield drawing_page(browser)


def drawn(page: Page, platform: str, message: Any) -> Locator:
    show(page, [{"title": "one", "platform": platform, "messages": [message]}])
    return page.locator(f".pane.{platform} .text")


@pytest.mark.parametrize("name", CARDS)
def test_every_node_of_a_card_is_drawn_on_each_platform(page: Page, name: str) -> None:
    draw(page, "card", CARDS[name])

    assert page.locator(".unknown").all_inner_texts() == []
    expect(page.locator("section.pane .text")).not_to_have_count(0)


def test_corpus_payloads_are_drawn_without_a_failure(page: Page) -> None:
    corpus = os.environ.get("UACS_CORPUS")
    if not corpus:
        pytest.skip("UACS_CORPUS names no corpus")
    for source, folders in FOLDERS.items():
        for folder in folders:
            for name, _, payload in spread(Path(corpus) / folder, source, 12):
                draw(page, source, payload)
                failures = page.locator(".unknown", has_text="the renderer failed")
                assert failures.all_inner_texts() == [], name


def test_verbatim_mrkdwn_makes_no_links_of_bare_addresses(page: Page) -> None:
    def section(verbatim: bool) -> dict[str, Any]:
        text = {"type": "mrkdwn", "text": "see https://a.example", "verbatim": verbatim}
        return {"blocks": [{"type": "section", "text": text}]}

    expect(drawn(page, "slack", section(verbatim=False)).locator("a")).to_have_count(1)
    expect(drawn(page, "slack", section(verbatim=True)).locator("a")).to_have_count(0)


def test_the_button_of_a_section_is_drawn_beside_its_text(page: Page) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "go"}
    text = {"type": "mrkdwn", "text": "*Ready?*"}
    picture = drawn(
        page, "slack", {"blocks": [{"type": "section", "text": text, "accessory": button}]}
    )

    words, control = (
        picture.locator("strong").bounding_box(),
        picture.locator("button").bounding_box(),
    )
    assert words is not None
    assert control is not None
    assert control["x"] > words["x"] + words["width"]
    assert control["y"] < words["y"] + words["height"]


def test_tables_and_carousels_are_drawn_as_such(page: Page) -> None:
    cell = {"type": "raw_text", "text": "a"}
    card = {"type": "card", "title": {"type": "plain_text", "text": "One"}}
    picture = drawn(
        page,
        "slack",
        {
            "blocks": [
                {"type": "table", "rows": [[cell, cell], [cell, cell]]},
                {"type": "carousel", "elements": [card, card]},
            ]
        },
    )

    expect(picture.locator("table tr")).to_have_count(2)
    expect(picture.locator(".carousel > .card")).to_have_count(2)


def test_emoji_are_drawn_from_their_names(page: Page) -> None:
    expect(drawn(page, "slack", {"text": "well done :tada: :nobody_knows:"})).to_contain_text(
        "well done 🎉 :nobody_knows:"
    )


def test_slack_dates_keep_the_text_before_and_after(page: Page) -> None:
    text = "<!date^1700000000^Posted {date_num} at {time}|posted>"
    picture = drawn(page, "slack", {"text": text})

    expect(picture).to_contain_text("Posted ")
    expect(picture).to_contain_text(" at ")
    expect(picture).not_to_contain_text("{")


def test_a_hidden_element_of_a_card_is_shown_by_its_button(page: Page) -> None:
    card = {
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": [{"type": "TextBlock", "id": "more", "text": "the details", "isVisible": False}],
        "actions": [
            {"type": "Action.ToggleVisibility", "title": "More", "targetElements": ["more"]}
        ],
    }
    picture = drawn(page, "teams", card)
    expect(picture.get_by_text("the details")).to_be_hidden()

    picture.get_by_role("button", name="More").click()

    expect(picture.get_by_text("the details")).to_be_visible()

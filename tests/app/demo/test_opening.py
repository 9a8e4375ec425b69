"""What stands on the demo's page when it is opened: a short conversation in all three panes."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.app.demo import showing
from tests.app.demo.conftest import watched

PLATFORMS = ("slack", "discord", "teams")


def test_the_page_begins_with_four_posts_in_each_pane_and_replies_in_their_thread(
    chromium: Browser,
) -> None:
    with showing.running() as address, watched(chromium, address) as page:
        for platform in PLATFORMS:
            pane = page.locator(f".pane.{platform}")
            expect(pane.locator(".post")).to_have_count(4)
            expect(pane.locator(".post:not(.reply)")).to_have_count(2)
            thread = pane.locator(".post:not(.reply)", has_text="release notes").locator(".reply")
            expect(thread).to_have_count(2)
            expect(thread.first).to_contain_text("Which fixes are in?")
            expect(thread.last).to_contain_text("The login one and the export one.")

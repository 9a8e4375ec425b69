"""The demo's page opens with a short conversation in all panes."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from bridge.app.demo.world import demo_types
from tests.app.demo import showing
from tests.app.demo.conftest import watched

SIDES = {name: local.demo for name, local in demo_types().items() if local.demo}
POSTS = [line for side in SIDES.values() for line in side.scenes.get("opening", ())]
REPLIES = [line for line in POSTS if line.thread is not None]


def test_the_page_begins_with_the_opening_in_each_pane_and_replies_in_their_thread(
    chromium: Browser,
) -> None:
    with showing.running() as address, watched(chromium, address) as page:
        for platform, side in SIDES.items():
            pane = page.locator(f".pane.{platform}")
            expect(pane.locator(".post")).to_have_count(len(POSTS))
            if not side.threads:
                continue
            expect(pane.locator(".post:not(.reply)")).to_have_count(len(POSTS) - len(REPLIES))
            thread = pane.locator(".post:not(.reply)", has_text="release notes").locator(".reply")
            expect(thread).to_have_count(2)
            expect(thread.first).to_contain_text("Which fixes are in?")
            expect(thread.last).to_contain_text("The login one and the export one.")

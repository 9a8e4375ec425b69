"""Takes the README's picture: `python -m tests.app.demo.picture docs/images/demo.png`."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.app.demo import showing

_LINES = (
    ("slack", 0, None, "Morning! The *release notes* are ready: two fixes and `v1.4.0`."),
    ("discord", 2, "release notes", "**Great!** Which fixes made it in?"),
)
_PATIENCE = 60_000


def take(path: Path, width: int = 1440, height: int = 900) -> None:
    """Take the picture: people talk, a person reacts, and an agent posts its form."""
    with showing.running("--quiet-room") as url, showing.browser() as browser:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(url)
        page.wait_for_selector("body.live")
        for platform, person, thread, text in _LINES:
            _say(page, platform, person, thread, text)
        _react(page)
        page.locator("#card").click()
        for pane in page.locator(".pane").all():
            form = pane.locator(".post", has_text="Book a room")
            expect(form).to_be_visible(timeout=_PATIENCE)
        page.wait_for_timeout(2500)  # until new messages are not highlighted any more
        page.mouse.move(5, 5)
        page.screenshot(path=path)


def _say(page: Page, platform: str, person: int, thread: str | None, text: str) -> None:
    pane = page.locator(f".pane.{platform}")
    pane.locator("select[name=person]").select_option(index=person)
    if thread:
        root = pane.locator(".post:not(.reply)", has_text=thread).first
        root.locator("article").first.hover()
        root.locator(".answer").locator("visible=true").first.click()
    count = page.locator(".pane .post").count() + page.locator(".pane").count()
    box = pane.locator("textarea[name=text]")
    box.fill(text)
    box.press("Enter")
    expect(page.locator(".pane .post")).to_have_count(count, timeout=_PATIENCE)


def _react(page: Page) -> None:
    root = page.locator(".pane.discord .post:not(.reply)", has_text="release notes").first
    root.locator("article").first.hover()
    root.locator(".acts .react").first.click()
    page.get_by_role("option", name="tada", exact=True).click()
    expect(page.locator(".pane.slack .reaction")).to_be_visible(timeout=_PATIENCE)


if __name__ == "__main__":
    take(Path(sys.argv[1]), *map(int, sys.argv[2:]))

"""Takes the README's picture of the demo: `python -m tests.demo.picture docs/images/demo.png`."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Page

from tests.demo import showing

_LINES = (
    ("slack", 0, None, "Morning! The *release notes* are ready: two fixes and `v1.4.0`."),
    ("discord", 2, "release notes", "**Great!** Which fixes made it in?"),
    ("slack", 1, "release notes", "The _login_ one and the _export_ one."),
    ("teams", 4, None, "I tell the customers on Thursday, then."),
    ("slack", 0, None, "@echo what did you hear?"),
)


def take(path: Path, width: int = 1440, height: int = 900, lines: int = len(_LINES)) -> None:
    """People talk in all panes; the picture is taken while the agent answers."""
    with showing.running("--quiet-room") as url, showing.browser() as browser:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(url)
        page.wait_for_selector("body.live")
        for platform, person, thread, text in _LINES[:lines]:
            _say(page, platform, person, thread, text)
            page.wait_for_timeout(1300)
        page.wait_for_timeout(2300)
        page.mouse.move(5, 5)
        page.screenshot(path=path)


def _say(page: Page, platform: str, person: int, thread: str | None, text: str) -> None:
    pane = page.locator(f".pane.{platform}")
    pane.locator("select").select_option(index=person)
    if thread:
        root = pane.locator(".post:not(.reply)", has_text=thread).first
        root.locator("article").first.hover()
        root.locator(".answer").locator("visible=true").first.click()
    box = pane.locator("textarea")
    box.fill(text)
    box.press("Enter")


if __name__ == "__main__":
    take(Path(sys.argv[1]), *map(int, sys.argv[2:]))

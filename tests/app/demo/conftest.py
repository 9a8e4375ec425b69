"""What the tests of the demo's page share: a demo, a browser, and a page that is watched."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.app.demo import showing

# No test is decided by time: this only ends one that waits for what never comes.
PATIENCE = 60_000  # milliseconds
expect.set_options(timeout=PATIENCE)

# Notes what the page's policy forbids.
_WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with showing.running("--quiet-room") as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    if showing.CHROMIUM is None:
        pytest.skip("no Chromium found: install Debian's `chromium` to test the demo's page")
    with showing.browser() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, address: str) -> Generator[Page]:
    """The page, watched: no error in its console, nothing that its policy forbids."""
    with watched(chromium, address) as page:
        yield page


@contextmanager
def watched(chromium: Browser, address: str) -> Generator[Page]:
    """The demo's page; at its end nothing was wrong with it."""
    complaints: list[str] = []
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(_WATCH)
    page.on("console", lambda message: complaints.extend(_troubles(message)))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.goto(address)
    page.wait_for_selector("body.live")
    yield page
    assert page.evaluate("violations") == []
    assert complaints == []
    page.close()


def _troubles(message: ConsoleMessage) -> list[str]:
    """Browsers note every refused request, and some tests have requests refused."""
    refused = ("status of 400", "status of 403")
    if message.type == "log" or any(status in message.text for status in refused):
        return []
    return [f"{message.text} {message.location}"]

"""Fixtures of the tests of the demo's page: a demo, a browser, and a page whose errors are
collected."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.app.demo import showing

# Ends a test that would wait for ever; no result depends on it.
PATIENCE = 60_000  # milliseconds
expect.set_options(timeout=PATIENCE)

# Records violations of the page's policy.
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
    """The page; fails the test for an error in its console or a violation of its policy."""
    with watched(chromium, address) as page:
        yield page


@contextmanager
def watched(chromium: Browser, address: str) -> Generator[Page]:
    """The demo's page; fails at its end if there were errors."""
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
    """Errors in the console, without refused requests, which some tests cause."""
    refused = ("status of 400", "status of 403")
    if message.type == "log" or any(status in message.text for status in refused):
        return []
    return [f"{message.text} {message.location}"]

"""A real browser installs the app: its policy, cookies and redirects let it through."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from tests.app.demo.showing import CHROMIUM
from tests.e2e.installing import installing
from tests.e2e.local_sandbox import local_sandbox

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found: install Debian's `chromium`"),
]


@pytest.mark.parametrize("choice", ["Allow", "Cancel"])
async def test_a_person_installs_the_app_in_a_browser(tmp_path: Path, choice: str) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        installing(local, tmp_path, slack={}) as here,
        async_playwright() as playwright,
    ):
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await opened.new_page(viewport={"width": 360, "height": 640})
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        await page.goto(f"{here.browser.url}/oauth")
        await page.get_by_role("link", name="Slack").click()
        await page.get_by_role("button", name="Add to Slack").press("Enter")
        await page.get_by_role("button", name=choice).click()
        heading = await page.get_by_role("heading", level=1).inner_text()
        address = page.url
        is_wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        await opened.close()

    expected = {"Allow": "Added to Acme on Slack", "Cancel": "Not installed"}
    assert heading == expected[choice]
    assert "code=" not in address
    assert not is_wide
    assert not any("Content Security Policy" in text for text in problems)

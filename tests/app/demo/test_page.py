"""The demo's page in a real browser: messages appear live in all panes, safely."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from bridge.app.demo.world import demo_types
from bridge.uacs import Conversation
from tests.app.demo import showing

SIDES = {name: local.demo for name, local in demo_types().items() if local.demo}
PLATFORMS = tuple(SIDES)
THREADED = [name for name, side in SIDES.items() if side.threads]
STREAMING = [name for name, side in SIDES.items() if side.streams]
QUOTING = ("slack", "discord", "teams")  # platforms whose clients show quotes separately
pytestmark = pytest.mark.skipif(
    showing.CHROMIUM is None,
    reason="no Chromium found: install Debian's `chromium` to test the demo's page",
)

# Writes a text and waits until the other panes show it.
_SAY = """
async ([platform, person, text, token]) => {
  const pane = document.querySelector(`.pane.${platform}`);
  const others = [...document.querySelectorAll(".pane")].filter((one) => one !== pane);
  const box = pane.querySelector("form");
  if (person) box.elements.person.selectedIndex = person;
  box.elements.text.value = text;
  const seen = others.map((other) => new Promise((resolve, reject) => {
    const list = other.querySelector(".messages");
    const watcher = new MutationObserver(() => {
      if (!list.textContent.includes(token)) return;
      watcher.disconnect();
      resolve();
    });
    watcher.observe(list, { childList: true, subtree: true, characterData: true });
    setTimeout(() => reject(new Error(`${token} did not come to ${other.className}`)), 60000);
  }));
  box.requestSubmit();
  return Promise.all(seen);
}
"""


def pane(page: Page, platform: str) -> Locator:
    return page.locator(f".pane.{platform}")


def say(page: Page, platform: str, text: str, token: str = "", person: int = 0) -> None:
    """Write in a pane as people do, and wait until each other pane shows it."""
    page.evaluate(_SAY, [platform, person, text, token or text])


def posts(page: Page, platform: str, token: str) -> Locator:
    return pane(page, platform).locator(".post", has_text=token)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_message_written_in_one_pane_appears_in_the_others(page: Page, platform: str) -> None:
    say(page, platform, f"hello from {platform}", person=1)

    for other in PLATFORMS:
        expect(posts(page, other, f"hello from {platform}")).to_have_count(1)
    author = pane(page, platform).locator("option:checked").inner_text()
    for other in PLATFORMS:
        text = posts(page, other, f"hello from {platform}").inner_text()
        assert author in text.replace("\u200b", "")  # a name may have a gap that nobody sees
    expect(page.locator("#crossing")).to_contain_text(" ms")


def test_each_platform_shows_its_own_markup(page: Page) -> None:
    say(page, "discord", "**bold1** *lean1* ~~gone1~~ `code1`\n> quote1", "quote1")

    for platform in PLATFORMS:
        text = posts(page, platform, "bold1").locator(".text")
        expect(text.locator("strong", has_text="bold1")).to_have_count(1)
        expect(text.locator("em", has_text="lean1")).to_have_count(1)
        expect(text.locator("s", has_text="gone1")).to_have_count(1)
        expect(text.locator("code", has_text="code1")).to_have_count(1)
        expect(text).to_contain_text("quote1")
    for platform in QUOTING:
        text = posts(page, platform, "bold1").locator(".text")
        expect(text.locator("blockquote", has_text="quote1")).to_have_count(1)


def test_an_answer_is_in_the_thread_on_every_platform(page: Page) -> None:
    say(page, "teams", "shall we begin?")
    root = posts(page, "discord", "shall we begin?").first
    root.locator("article").first.hover()
    root.get_by_role("button", name="Reply in thread").click()
    box = pane(page, "discord").locator("textarea")
    box.fill("we shall")
    box.press("Enter")

    for platform in THREADED:
        thread = posts(page, platform, "shall we begin?").first.locator(".thread")
        expect(thread.locator(".reply", has_text="we shall")).to_have_count(1)
        expect(thread.locator(".count")).to_contain_text("1")


def test_the_agent_answers_in_all_panes_while_it_writes(page: Page) -> None:
    page.evaluate(
        """() => {
          window.lengths = {};
          for (const pane of document.querySelectorAll(".pane")) {
            const seen = (window.lengths[pane.dataset.platform] = []);
            new MutationObserver(() => {
              const answer = [...pane.querySelectorAll(".post")].findLast((post) =>
                post.textContent.includes("this is what reached me"));
              const length = answer?.querySelector(".text").textContent.length ?? 0;
              if (length && length !== seen.at(-1)) seen.push(length);
            }).observe(pane, { childList: true, subtree: true, characterData: true });
          }
        }"""
    )
    say(page, "slack", "@echo are you there?")

    for platform in PLATFORMS:
        answer = posts(page, platform, "this is what reached me").last
        expect(answer).to_contain_text("my answer is shown on")
    lengths: dict[str, list[int]] = page.evaluate("lengths")
    for platform in PLATFORMS:
        assert len(lengths[platform]) >= (3 if platform in STREAMING else 1), lengths
        assert lengths[platform] == sorted(lengths[platform])


_ATTACKS = (
    "<img src=x onerror=alert(1)> a1",
    "<script>alert(1)</script> a2",
    '"><svg onload=alert(1)> a3',
    "[a4](javascript:alert(1))",
    "<a href='javascript:alert(1)'>a5</a>",
    "&lt;img src=x onerror=alert(1)&gt; a6",
    "``` \n<iframe src=//evil.example></iframe> a7",
    "<style>*{display:none}</style> a8",
)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_text_becomes_markup_of_the_page(page: Page, platform: str) -> None:
    """All in one message, because platforms limit how fast a person may write."""
    mark = f"attack on {platform}"
    say(page, platform, "\n".join((*_ATTACKS, mark)), mark)

    for other in PLATFORMS:
        text = posts(page, other, mark).locator(".text")
        expect(text.locator("img, script, svg, iframe, style, object")).to_have_count(0)
        expect(text.locator("a[href^='javascript' i]")).to_have_count(0)
        expect(text).to_contain_text("onerror=alert(1)")
        expect(text).to_contain_text("<script>alert(1)</script> a2")


def test_a_refused_text_is_given_back_with_the_reason(page: Page) -> None:
    box = pane(page, "discord").locator("textarea")
    box.fill("x" * 2001)
    with page.expect_response("**/posts") as answer:
        box.press("Enter")

    expect(pane(page, "discord").get_by_role("alert")).to_contain_text("2000 characters")
    expect(box).to_have_value("x" * 2001)
    assert answer.value.status == 400


def test_rooms_are_separate(page: Page) -> None:
    pane(page, "discord").get_by_role("button", name="random").click()
    expect(pane(page, "slack").locator(".title")).to_have_text("random")
    say(page, "slack", "only at random")

    for platform in PLATFORMS:
        pane(page, platform).locator(".channel", has_text="eneral").click()
        expect(posts(page, platform, "only at random")).to_have_count(0)


def test_a_clicked_message_shows_its_steps(page: Page) -> None:
    say(page, "teams", "how did I get here?")
    posts(page, "slack", "how did I get here?").locator(".text").click()

    drawer = page.get_by_role("complementary", name="How this message got here")
    for step in ("Received and kept", "Posted on Slack #general", "Posted on Discord #general"):
        expect(drawer).to_contain_text(step)
    expect(drawer.locator(".json").first).to_contain_text('"role": "human"')
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_the_archive_grows_while_people_write(page: Page, address: str) -> None:
    page.get_by_role("button", name="Archive").click()
    archive = page.locator("#drawer .json")
    expect(archive).to_contain_text("conversation_id")
    say(page, "discord", "kept for ever")

    expect(archive).to_contain_text("kept for ever")
    with urllib.request.urlopen(f"{address}/archive/general", timeout=60) as answer:
        conversation = Conversation.model_validate_json(answer.read())
    assert "kept for ever" in str(conversation.messages[-1].content)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800), (1024, 900)])
def test_the_panes_fit_beside_one_another(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})

    assert page.evaluate("document.documentElement.scrollWidth") == width
    for platform in PLATFORMS:
        box = pane(page, platform).locator("form").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height


def test_everything_that_can_be_used_has_a_name(page: Page) -> None:
    nameless: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("button, a, select, textarea")]
          .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.title))
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def _answer(address: str, path: str, **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(f"{address}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null") if error.code != 400 else None


def test_foreign_host_names_and_forms_of_other_sites_are_refused(address: str) -> None:
    assert _answer(address, "/", Host="evil.example")[0] == 421
    form = urllib.request.Request(
        f"{address}/people/slack/posts",
        b"workspace=x",
        {"Content-Type": "application/x-www-form-urlencoded"},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(form, timeout=60)
    assert refused.value.code == 415
    refused.value.close()


@pytest.mark.parametrize(
    "path", ["/archive/nowhere", "/explain?platform=x", "/explain?platform=slack&channel=C&id=1"]
)
def test_missing_pages_are_problems(address: str, path: str) -> None:
    code, body = _answer(address, path)

    assert code == 404
    assert body["error"]

"""Actions of people on the demo's page in a real browser, and their effect in the other panes."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FilePayload, Locator, Page, expect

from bridge.app.demo.world import demo_types

PLATFORMS = tuple(demo_types())
RICH = (
    "slack",
    "discord",
    "teams",
)  # platforms on which people edit messages, share files and press buttons
MOST_IN_A_MESSAGE = (
    10  # elements of one message that Tab reaches: its buttons and those of its thread
)
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def pane(page: Page, platform: str) -> Locator:
    return page.locator(f".pane.{platform}")


def post(page: Page, platform: str, text: str) -> Locator:
    return pane(page, platform).locator(".post", has_text=text).last


def say(page: Page, platform: str, text: str) -> None:
    box = pane(page, platform).locator("textarea[name=text]")
    box.fill(text)
    box.press("Enter")
    for other in PLATFORMS:
        expect(post(page, other, text)).to_be_visible()


def tool(page: Page, platform: str, text: str, name: str) -> None:
    found = post(page, platform, text)
    found.locator("article").first.hover()
    found.locator(f".acts .{name}").first.click()


@pytest.mark.parametrize("platform", RICH)
def test_an_edit_and_a_deletion_reach_the_other_panes(page: Page, platform: str) -> None:
    text = f"first words on {platform}"
    say(page, platform, text)

    tool(page, platform, text, "edit")
    box = pane(page, platform).locator("textarea.editing")
    expect(box).to_have_value(text)
    box.fill(f"better words on {platform}")
    box.press("Enter")

    for other in RICH:
        expect(post(page, other, f"better words on {platform}")).to_be_visible()
    tool(page, platform, f"better words on {platform}", "delete")
    for other in RICH:
        gone = pane(page, other).locator(".post", has_text=f"better words on {platform}")
        expect(gone).to_have_count(0)


def test_a_reaction_from_the_picker_is_seen_and_taken_back(page: Page) -> None:
    say(page, "slack", "who likes this?")

    tool(page, "discord", "who likes this?", "react")
    picker = page.get_by_role("dialog", name="Choose an emoji")
    picker.get_by_role("searchbox").fill("rocket")
    picker.get_by_role("option", name="rocket", exact=True).click()

    own = post(page, "discord", "who likes this?").locator(".reaction", has_text="🚀")
    expect(own).to_have_attribute("aria-pressed", "true")
    expect(post(page, "slack", "who likes this?").locator(".reaction")).to_contain_text("🚀")
    own.click()
    for platform in ("discord", "slack"):
        gone = post(page, platform, "who likes this?").locator(".reaction")
        expect(gone).to_have_count(0)


@pytest.mark.parametrize("platform", RICH)
def test_an_uploaded_picture_is_drawn_in_every_pane(page: Page, platform: str) -> None:
    picture = FilePayload(name=f"{platform}.png", mimeType="image/png", buffer=_PIXEL)
    pane(page, platform).locator("input[type=file]").set_input_files(picture)
    say(page, platform, f"a picture from {platform}")

    for other in RICH:
        image = post(page, other, f"a picture from {platform}").locator("img.picture")
        expect(image).to_have_count(1)
        expect(image).to_have_js_property("naturalWidth", 1)


@pytest.mark.parametrize("platform", ["slack", "discord"])
def test_the_answer_of_a_command_is_seen_by_its_writer_alone(page: Page, platform: str) -> None:
    before = {other: pane(page, other).locator(".whisper, .told").count() for other in RICH}
    box = pane(page, platform).locator("textarea[name=text]")
    box.fill("/bridge status")
    box.press("Enter")

    alone = pane(page, platform).locator(".whisper, .told")
    expect(alone).to_have_count(before[platform] + 1)
    expect(alone.last).to_contain_text("Only you can see this")
    for other in RICH:
        if other != platform:
            expect(pane(page, other).locator(".whisper, .told")).to_have_count(before[other])


def test_the_bot_of_teams_answers_a_command_in_its_channel(page: Page) -> None:
    box = pane(page, "teams").locator("textarea[name=text]")
    box.fill("/bridge status")
    box.press("Enter")

    expect(post(page, "teams", "status")).to_be_visible()


def _fill(form: Locator, day: str) -> None:
    form.locator("select").first.select_option(index=2)
    form.locator("input[type=date]").fill(day)
    form.get_by_label("What for?").fill("Release party")
    form.locator("input[type=checkbox]").check()


@pytest.mark.parametrize("platform", RICH)
def test_the_example_card_is_on_every_platform_and_its_form_is_answered(
    page: Page, platform: str
) -> None:
    before = {other: _booked(page, other).count() for other in RICH}
    page.wait_for_function("!document.getElementById('card').disabled")
    page.locator("#card").click()
    for other in RICH:
        card = pane(page, other).locator(".post", has_text="Book a room").last
        expect(card.get_by_role("button", name="Book", exact=True)).to_be_visible()

    card = pane(page, platform).locator(".post", has_text="Book a room").last
    if platform == "discord":  # a message has no inputs there: they are asked for in a modal
        card.get_by_role("button", name="Book", exact=True).click()
        form = page.locator("dialog.form-window.discord")
        expect(form).to_be_visible()
        _fill_modal(form)
        form.get_by_role("button", name="Submit").click()
    else:
        _fill(card, "2027-03-05")
        card.get_by_role("button", name="Book", exact=True).click()

    for other in RICH:
        expect(_booked(page, other)).to_have_count(before[other] + 1)
        expect(_booked(page, other).last).to_contain_text("Release party")
        expect(_booked(page, other).last).to_contain_text("2027-03-05")


def _fill_modal(form: Locator) -> None:
    for row in form.locator(".field").all():
        label: str = row.locator(".label").first.inner_text()
        if row.locator("select").count():
            row.locator("select").select_option(index=2)
        elif row.locator("input[type=radio]").count():
            row.locator("input[type=radio]").nth(1).check()
        elif row.locator("input[type=checkbox]").count():
            row.locator("input[type=checkbox]").first.check()
        elif "Day" in label:
            row.locator("input").fill("2027-03-05")
        else:
            row.locator("input, textarea").fill("Release party")


def _booked(page: Page, platform: str) -> Locator:
    return pane(page, platform).locator(".post", has_text="Room booked")


def test_a_missing_required_input_shows_its_error_beside_it(page: Page) -> None:
    _show_card(page)
    card = pane(page, "teams").locator(".post", has_text="Book a room").last

    card.get_by_role("button", name="Book", exact=True).click()

    expect(card.locator(".field .complaint").first).to_be_visible()


def test_the_keyboard_goes_through_messages_and_tab_leaves_the_list(page: Page) -> None:
    for number in range(3):
        say(page, "slack", f"line {number} for the keyboard")
    messages = pane(page, "slack").locator(".messages")

    stops = messages.locator("article[tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    expect(stops).to_contain_text("line 2 for the keyboard")
    page.keyboard.press("ArrowUp")
    focused: Any = page.evaluate("document.activeElement.textContent")
    assert "line 1 for the keyboard" in focused
    expect(messages.locator("article[tabindex='0']")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    for _ in range(MOST_IN_A_MESSAGE):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.slack textarea[name=text]')"):
            break
    expect(pane(page, "slack").locator("textarea[name=text]")).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_is_remembered(page: Page, theme: str) -> None:
    root = page.locator("html")
    page.evaluate("localStorage.removeItem('theme')")
    if root.get_attribute("data-theme") != theme:
        page.locator("#theme").click()
    else:
        page.locator("#theme").click()
        page.locator("#theme").click()

    page.reload()
    page.wait_for_selector("body.live")

    assert root.get_attribute("data-theme") == theme


@pytest.mark.parametrize("width", [390, 1024])
def test_small_screens_show_a_whole_pane_and_everything_can_be_reached(
    page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for platform in PLATFORMS:
        pane(page, platform).locator("form.box").scroll_into_view_if_needed()
        box = pane(page, platform).locator("form.box").bounding_box()
        assert box is not None
        assert box["x"] >= -1
        assert box["x"] + box["width"] <= width + 1
    for name in ("#card", "#scene", "#archive", "#theme"):
        found = page.locator(name).bounding_box()
        assert found is not None
        assert found["x"] >= 0
        assert found["x"] + found["width"] <= width


def _serious(page: Page) -> list[str]:
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def _build(page: Page, name: str) -> None:
    """A page with everything on it: markup, a thread, a reaction, a picture, a whisper, a form."""
    box = pane(page, "discord").locator("textarea[name=text]")
    box.fill(f"**bold** *lean* ~~gone~~ `code` {name} mark\n> quoted")
    box.press("Enter")
    for platform in PLATFORMS:
        expect(post(page, platform, f"{name} mark")).to_be_visible()
    tool(page, "slack", f"{name} mark", "react")
    picker = page.get_by_role("dialog", name="Choose an emoji")
    picker.get_by_role("option", name="tada", exact=True).click()
    expect(post(page, "discord", f"{name} mark").locator(".reaction")).to_be_visible()
    tool(page, "discord", f"{name} mark", "answer")
    say(page, "discord", f"{name} answer in the thread")
    picture = FilePayload(name="dot.png", mimeType="image/png", buffer=_PIXEL)
    pane(page, "teams").locator("input[type=file]").set_input_files(picture)
    say(page, "teams", f"{name} picture for everybody")
    box = pane(page, "slack").locator("textarea[name=text]")
    box.fill("/bridge status")
    box.press("Enter")
    expect(pane(page, "slack").locator(".whisper, .told").last).to_be_visible()
    _show_card(page)


def _show_card(page: Page) -> None:
    before = {
        platform: pane(page, platform).locator(".post", has_text="Book a room").count()
        for platform in RICH
    }
    page.wait_for_function("!document.getElementById('card').disabled")
    page.locator("#card").click()
    for platform in RICH:
        cards = pane(page, platform).locator(".post", has_text="Book a room")
        expect(cards.nth(before[platform])).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_whatever_is_open(page: Page, theme: str) -> None:
    page.emulate_media(reduced_motion="reduce")  # a message that fades in has too little contrast
    page.evaluate("name => { document.documentElement.dataset.theme = name }", theme)
    _build(page, theme)

    assert _serious(page) == []
    pane(page, "teams").locator(".emoji-button").click()
    expect(page.get_by_role("dialog", name="Choose an emoji")).to_be_visible()
    assert _serious(page) == []
    page.keyboard.press("Escape")
    card = pane(page, "discord").locator(".post", has_text="Book a room").last
    card.get_by_role("button", name="Book", exact=True).click()
    expect(page.locator("dialog.form-window.discord")).to_be_visible()
    assert _serious(page) == []
    page.keyboard.press("Escape")
    post(page, "slack", f"{theme} picture for everybody").locator(".text").first.click()
    expect(page.locator("#drawer .steps")).to_be_visible()
    assert _serious(page) == []
    page.locator("#archive").click()
    expect(page.locator("#drawer .json")).to_be_visible()
    assert _serious(page) == []
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    assert _serious(page) == []


def test_the_bar_keeps_its_place_when_it_shows_the_delay_of_a_message(page: Page) -> None:
    heights = {
        (width, text): page.evaluate(_BAR, text)
        for width in (1920, 1440, 1280, 1024, 800)
        for text in ("live", "Discord → Slack 1240 ms · Teams 1039 ms")
        if page.set_viewport_size({"width": width, "height": 900}) is None
    }

    for (width, _), height in heights.items():
        assert height == heights[width, "live"], heights


_BAR = """(text) => {
  document.getElementById("crossing").textContent = text;
  return document.querySelector(".bar").offsetHeight;
}"""


def test_messages_from_elsewhere_show_the_bridges_milliseconds(page: Page) -> None:
    answers: list[Any] = []
    page.on("response", lambda entry: answers.append(entry) if "/explain" in entry.url else None)

    _show_card(page)

    expect(page.locator("#crossing")).to_contain_text("Slack → ")
    posted = [
        entry for entry in answers[-1].json()["operations"] if entry["type"] == "post_message"
    ]
    took = " · ".join(
        f"{entry['label']} {max(1, _rounded(entry['whole_ms']))} ms" for entry in posted
    )
    expect(page.locator("#crossing")).to_have_text(f"Slack → {took}")


def _rounded(number: float) -> int:
    """Round as JavaScript does: halves up."""
    return int(number + 0.5)


def test_inputs_are_marked_as_each_platform_marks_them(page: Page) -> None:
    _show_card(page)

    slack, teams = (
        pane(page, platform).locator(".post", has_text="Book a room").last
        for platform in ("slack", "teams")
    )
    expect(slack.locator(".needed")).to_have_count(0)
    labels = slack.locator(".field .label").all_inner_texts()
    assert labels == ["Room", "Day (optional)", "What for? (optional)", "Coffee (optional)"]
    expect(teams.locator(".needed")).to_have_count(1)
    assert "(optional)" not in teams.inner_text()

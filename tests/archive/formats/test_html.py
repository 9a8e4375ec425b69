"""The web site shows and finds messages from the disk, and runs nothing that people wrote."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pydantic import JsonValue

from bridge.app.archive.formats import all_cards
from bridge.archive.formats.html import Html
from bridge.archive.formats.html.search_index import shard_of, words_of
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    ExportedReaction,
)
from bridge.ports.exports import WriteOptions
from bridge.testing.export_contract import archived, write_all
from bridge.uacs import ContentPart, ImagePart, MediaSource, StructuredDataPart
from tests.app.demo import showing
from tests.archive.conversation import ANN, BOB, DEN, HOME, a_conversation, exported

FILE = "blob:sha256-" + "ab" * 32
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
    "[click](javascript:alert(1)) [data](data:text/html,x) \u202egnp.exe \x00 </title></script>"
)


def said(number: int, *parts: ContentPart, text: str = "", **values: object) -> ArchivedMessage:
    item = exported(number, ANN if number % 2 else BOB, text=text)
    if parts:
        message = item.posted.message.model_copy(update={"content": parts})
        item = replace(item, posted=item.posted.model_copy(update={"message": message}))
    return replace(archived(item, "tin"), **values)  # pyright: ignore[reportArgumentType]


def write(folder: Path, *messages: ArchivedMessage) -> Path:
    files = {FILE: b"\x89PNG"}
    options = WriteOptions(
        files=lambda file_id: BytesIO(files[file_id]) if file_id in files else None,
        cards=all_cards(),
    )
    writer = Html().writer(folder / "site", options)
    writer.person(ExportedPerson(ANN))
    writer.channel(ExportedChannel(HOME, "general <b>", topic="all & <i>more</i>"))
    for message in messages:
        writer.message(message)
    writer.channel(ExportedChannel(DEN, "empty"))
    writer.finish()
    return folder / "site"


def test_each_channel_has_pages_months_and_a_place_on_the_start_page(tmp_path: Path) -> None:
    write_all(Html(), a_conversation(), tmp_path / "site", "tin")

    site = tmp_path / "site"
    assert {path.name for path in site.iterdir()} == {
        "index.html", "search.html", "assets", "search", "c0", "c1", "t",
    }  # fmt: skip
    assert "8 messages in 2 channels" in (site / "index.html").read_text("utf-8")
    assert 'href="1.html">2024-03</a>' in (site / "c0" / "months.html").read_text("utf-8")


def test_long_channels_are_divided_into_pages_that_link_to_one_another(tmp_path: Path) -> None:
    site = write(tmp_path, *(said(number, text=f"message {number}") for number in range(1, 702)))

    pages = sorted(path.name for path in (site / "c0").iterdir())
    assert pages == ["1.html", "2.html", "3.html", "months.html"]
    second = (site / "c0" / "2.html").read_text("utf-8")
    assert 'rel="prev" href="1.html"' in second
    assert 'rel="next" href="3.html"' in second
    assert second.count("<article") == 300
    assert 'rel="next"' not in (site / "c0" / "3.html").read_text("utf-8")


def test_a_thread_has_a_page_with_its_root(tmp_path: Path) -> None:
    root = said(1, text="the root")
    root_id = root.message.message_id
    site = write(
        tmp_path, root, said(2, text="between"), said(3, text="a reply", root=root_id),
        said(4, text="another", root=root_id, reply_to=root_id),
    )  # fmt: skip

    (thread,) = (site / "t").iterdir()
    text = thread.read_text("utf-8")
    assert [word in text for word in ("the root", "a reply", "another", "between")] == [
        True, True, True, False,
    ]  # fmt: skip
    page = (site / "c0" / "1.html").read_text("utf-8")
    assert page.count(f"../t/{thread.name}") == 2
    assert "Ann: the root" in page


def test_nothing_that_people_wrote_is_markup(tmp_path: Path) -> None:
    name = BOB.model_copy(update={"name": '"><script>x</script>'})
    message = said(2, text=HOSTILE)
    message = replace(message, author_body=name.model_dump_json().encode())
    reactions = (ExportedReaction("<b>", ANN.id),)
    site = write(tmp_path, replace(message, reactions=reactions))

    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        assert "<script>document" not in text
        assert "<img src=x" not in text
        assert not re.search(r"""(href|src)=["'](javascript|data):""", text)
        assert "<b>" not in text.replace("<b>Ann</b>", "").replace("<header><b>", "")
    assert b"</script>" not in (site / "search" / "d0.js").read_bytes().lower()


def test_stored_pictures_are_copied_and_others_are_links(tmp_path: Path) -> None:
    stored = ImagePart(source=MediaSource(file_id=FILE), media_type="image/png")
    remote = ImagePart(
        source=MediaSource(url="https://pictures.test/a.png"), media_type="image/png"
    )
    site = write(tmp_path, said(1, stored), said(2, remote))

    (picture,) = (site / "files").iterdir()
    page = (site / "c0" / "1.html").read_text("utf-8")
    assert f'<img class="full" src="../files/{picture.name}"' in page
    assert 'href="https://pictures.test/a.png"' in page
    assert 'src="https://' not in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Déploiement NAÏVE größer", {"deploiement", "naive", "grosser"}),
        ("don't stop-now", {"don", "t", "stop", "now"}),
        ("東京の天気", {"東", "京", "の", "天", "気"}),
        ("한국", {"한", "국"}),
        ("ﬁne ½", {"fine", "1", "2"}),
        ("", set()),
    ],
)
def test_words_are_found_without_case_and_accents(text: str, words: set[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("word", "shard"),
    [("deploy", "de"), ("d", "d_"), ("привет", "u63"), ("@ann", "at-an"), ("42", "42")],
)
def test_a_shard_is_known_from_the_word(word: str, shard: str) -> None:
    assert shard_of(word) == shard


# --- in a browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    if showing.CHROMIUM is None:
        pytest.skip("no Chromium found: install Debian's `chromium` to test the web site")
    with showing.browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    section: JsonValue = {"type": "section", "text": {"type": "mrkdwn", "text": "*card* words"}}
    card = StructuredDataPart(
        schema_id="application/vnd.slack.blocks+json", data={"blocks": [section]}
    )
    root = said(1, text="# Title\n\n**bold** `code`\n\n- [x] done\n\n> quoted\n\n||secret||")
    return write(
        tmp_path_factory.mktemp("html"),
        root,
        said(2, text="größer als naïve Grüße", root=root.message.message_id),
        said(3, card),
        said(4, text=HOSTILE),
        said(5, text="東京の天気は晴れ"),
        said(6, text="went wrong"),
        said(7, text="wrong went"),
    )


@pytest.fixture
def page(chromium: Browser) -> Generator[Page]:
    """Fails the test for an error or a warning in the console and for any request beyond the disk.

    Chromium also tells there that a field took no focus by itself because the test was quicker.
    """
    context = chromium.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type in (
        "error", "warning") else None)  # fmt: skip
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else errors.append(
        request.url))  # fmt: skip
    yield page
    context.close()
    assert errors == []


def test_pages_open_from_the_disk_and_run_nothing_of_people(page: Page, site: Path) -> None:
    page.goto((site / "c0" / "1.html").as_uri())

    expect(page).to_have_title("general <b>, page 1")
    expect(page.locator("article")).to_have_count(7)
    expect(page.locator("#channels li")).to_have_text(["general <b>", "empty"])
    assert page.locator("article img").count() == 0
    assert [a.get_attribute("href") for a in page.locator("article .body a").all()] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("grosser", 1),
        ("GRÜSSE", 1),
        ("wro", 2),
        ('"went wrong"', 1),
        ("天気", 1),
        ("気天", 0),
        ("from:ann wrong", 1),
        ("from:bob wrong", 1),
        ("card", 1),
        ("owned", 1),
        ("nobodysaidthis", 0),
        ("constructor", 0),
        ("__proto__", 0),
    ],
)
def test_the_search_finds_words_phrases_prefixes_and_authors(
    page: Page, site: Path, query: str, found: int
) -> None:
    page.goto((site / "search.html").as_uri())
    page.locator("#q").fill(query)

    expect(page.locator("#state")).to_have_text(f"{found} found" if found else "Nothing found")
    expect(page.locator("#results li")).to_have_count(found)


def test_a_result_leads_to_its_message(page: Page, site: Path) -> None:
    page.goto((site / "search.html").as_uri())
    page.locator("#q").fill("wrong went")
    page.locator("#results a").first.click()

    expect(page.locator("article:target")).to_contain_text("wrong went")


def test_keys_lead_from_message_to_message_and_to_the_search(page: Page, site: Path) -> None:
    page.goto((site / "c0" / "1.html").as_uri())
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("article").nth(1)).to_be_focused()
    page.keyboard.press("/")
    expect(page).to_have_title("Search")


@pytest.mark.parametrize("name", ["index.html", "search.html", "c0/1.html", "c0/months.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(chromium: Browser, site: Path, name: str, scheme: str) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True)  # pyright: ignore
    page = context.new_page()
    page.goto((site / name).as_uri())
    violations = Axe().run(page).response["violations"]
    context.close()

    assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in violations
            if v["impact"] in ("serious", "critical")] == []  # fmt: skip

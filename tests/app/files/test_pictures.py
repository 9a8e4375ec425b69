"""Pictures of authors: agents' files, drawn initials, and URLs elsewhere without a public URL."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bridge.app.checks.examine import picture_findings
from bridge.app.files.pictures import AgentPicture, AuthorPictures, agent_picture
from bridge.app.settings.file import read_settings
from bridge.content.media.initials import COLORS, SIDE, color_of, draw_initials, initials
from bridge.errors import ConfigError
from bridge.model import ActorId, Person
from bridge.router.rooms.bylines import Bylines

ANN = ActorId("teams:T1:29%3Aann")
BASE = "https://bridge.example"
PNG = draw_initials("X", 1)


def pictures(**agents: AgentPicture) -> AuthorPictures:
    return AuthorPictures(b"k" * 32, BASE, agents)


async def fetched(given: AuthorPictures, url: str | None) -> httpx.Response:
    transport = httpx.ASGITransport(Starlette(routes=given.routes()))
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        return await client.get(url or "")


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ann Meyer", "AM"), ("ann", "A"), ("Émile Zola (Slack)", "EZ"), ("Ann B. Cole", "AC"),
        ("[bot]", "B"), ("7 Of Nine", "7N"), ("李雷", ""), ("🙂", ""), ("", ""),
    ],
)  # fmt: skip
def test_initials_come_from_the_first_and_the_last_word(name: str, letters: str) -> None:
    assert initials(name) == letters


@pytest.mark.parametrize("letters", ["", "A", "QW", "08"])
def test_initials_are_a_png_with_white_on_the_colour(letters: str) -> None:
    png = draw_initials(letters, 2)

    assert png == draw_initials(letters, 2)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (width, height, depth, kind) == (SIDE, SIDE, 8, 2)
    start = png.index(b"IDAT")
    size = struct.unpack(">I", png[start - 4 : start])[0]
    rows = zlib.decompress(png[start + 4 : start + 4 + size])
    assert len(rows) == SIDE * (1 + 3 * SIDE)
    assert rows[1:4] == bytes(COLORS[2])
    assert b"\xff\xff\xff" in rows


def test_white_letters_have_enough_contrast_on_every_colour() -> None:
    def light(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    for color in COLORS:
        red, green, blue = map(light, color)
        assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5, color


async def test_an_author_without_a_picture_gets_initials_at_a_signed_address() -> None:
    given = pictures()
    byline = Bylines(given).of_person(Person(id=ANN, name="Ann Meyer"), "Ann Meyer (Teams)")

    answer = await fetched(given, byline.picture)

    assert byline.picture == given.drawn(ANN, "Ann Meyer")
    assert answer.content == draw_initials("AM", color_of(ANN))
    assert answer.headers["content-type"] == "image/png"
    assert "immutable" in answer.headers["cache-control"]


async def test_initials_are_drawn_only_at_signed_addresses() -> None:
    given = pictures()
    url = given.drawn(ANN, "Ann Meyer") or ""
    head, _, token = url.rpartition("/")

    for other in ("A" + token[1:], token[:-8] + "AAAA.png", "x", "." * 200, "%00"):
        assert (await fetched(given, f"{head}/{other}")).status_code == 404
    other_key = AuthorPictures(b"o" * 32, BASE, {})
    assert (await fetched(other_key, url)).status_code == 404


async def test_an_agent_has_the_picture_that_is_configured(tmp_path: Path) -> None:
    file = tmp_path / "helper.png"
    file.write_bytes(PNG)
    given = pictures(
        helper=agent_picture(str(file)), far=agent_picture("https://x.example/far.png")
    )
    bylines = Bylines(given)

    assert bylines.of_agent("far").picture == "https://x.example/far.png"
    ours = bylines.of_agent("helper").picture
    assert (await fetched(given, ours)).content == PNG
    given.change({})
    assert (await fetched(given, ours)).content == PNG
    drawn = [bylines.of_agent(name).picture for name in ("helper", "other")]
    assert len({*drawn, ours}) == 3


def test_people_and_agents_have_colours_without_a_public_address() -> None:
    far = agent_picture("https://x.example/far.png")
    bylines = Bylines(AuthorPictures(b"k" * 32, None, {"far": far}))

    ann = bylines.of_person(Person(id=ANN, name="Ann"), "Ann")
    assert (ann.picture, ann.color) == (None, color_of(ANN))
    assert bylines.of_agent("far").picture == "https://x.example/far.png"
    assert len({bylines.of_agent(f"agent-{n}").color for n in range(40)}) == len(COLORS)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "cannot be read"), (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg"),
        (b"hello", "text/plain"), (PNG + b"0" * 1_000_000, "larger than"),
    ],
)  # fmt: skip
def test_a_picture_that_no_platform_accepts_is_refused(
    tmp_path: Path, content: bytes | None, expected: str
) -> None:
    file = tmp_path / "picture"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError, match=expected):
        agent_picture(str(file))
    with pytest.raises(ConfigError, match="no https address"):
        agent_picture("http://x.example/a.png")


def test_a_file_is_relative_to_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("agents:\n  echo: {kind: echo, picture: me.png}\n")

    assert read_settings(config).agents["echo"].picture == str(tmp_path / "me.png")


def test_check_reports_an_invalid_picture(tmp_path: Path) -> None:
    file = tmp_path / "me.png"
    missing, far = (
        picture_findings(str(file), BASE),
        picture_findings("https://x.example/a.png", None),
    )
    file.write_bytes(PNG)
    there, unreachable = picture_findings(str(file), BASE), picture_findings(str(file), None)

    assert [finding.level for finding in (*missing, *far, *there, *unreachable)] == [
        "error", "ok", "ok", "warning",
    ]  # fmt: skip
    assert missing[0].todo == "give an https address or a PNG file"
    assert picture_findings(None, None) == []

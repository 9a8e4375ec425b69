"""Embeds -> panels."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.tree import (
    Asset,
    Card,
    Container,
    Context,
    Credit,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Native,
    Node,
    Player,
    Poll,
    PollAnswer,
    Prose,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Emphasis, Paragraph, Text
from connectors.discord.cards import read_message
from connectors.discord.cards.schemas import EMBEDS
from tests.connectors.discord.card_words import bold, card, line, link, picture, prose, small


def read(*embeds: Any) -> Card:
    return read_message({"embeds": list(embeds)})


def panel(*nodes: Node, **attributes: Any) -> Container:
    return Container(nodes, form="panel", **attributes)


def fields(*items: LabelledValue) -> Fields:
    return Fields(items)


def value(label: str, value_text: str, *, short: bool) -> LabelledValue:
    return LabelledValue(line(label), (Paragraph(line(value_text)),), short)


def test_every_field_of_an_embed_is_in_its_panel() -> None:
    embed: dict[str, Any] = {
        "type": "rich",
        "title": "Build *42*",
        "url": "https://ci.example/42",
        "description": "It **failed**.",
        "color": 0x123456,
        "timestamp": "2026-11-21T12:00:00.123000+00:00",
        "author": {
            "name": "Ann", "url": "https://ann.example", "icon_url": "https://ann.example/i.png",
        },
        "footer": {"text": "CI", "icon_url": "https://ci.example/i.png"},
        "thumbnail": {"url": "https://ci.example/t.png", "width": 8, "height": 9},
        "image": {"url": "https://ci.example/g.png", "description": "a graph"},
        "fields": [
            {"name": "Branch", "value": "main", "inline": True},
            {"name": "Log", "value": "none", "inline": False},
            {"name": "Run", "value": "7"},
        ],
    }  # fmt: skip

    assert read(embed) == card(
        panel(
            Prose((Paragraph((Text("It "), bold("failed"), Text("."))),)),
            fields(
                value("Branch", "main", short=True),
                value("Log", "none", short=False),
                value("Run", "7", short=False),
            ),
            picture("https://ci.example/g.png", alt="a graph"),
            title=(Text("Build "), Emphasis(line("42"))),
            link="https://ci.example/42",
            color=0x123456,
            author=Credit(
                line("Ann"), Asset(url="https://ann.example/i.png"), "https://ann.example"
            ),
            footer=Credit(line("CI"), Asset(url="https://ci.example/i.png")),
            thumbnail=Image(Asset(url="https://ci.example/t.png", width=8, height=9), size="small"),
            time=1795262400,
        )
    )


def test_every_node_of_an_embed_has_its_json_pointer() -> None:
    embed: dict[str, Any] = {
        "description": "d",
        "fields": [{"name": "n", "value": "v"}],
        "image": {"url": "https://x.example/i.png"},
        "thumbnail": {"url": "https://x.example/t.png"},
        "footer": {"text": "f"},
    }

    nodes = list(walk(read({"title": "first"}, embed).nodes))

    assert [node.at for node in nodes] == [
        "/embeds/0",
        "/embeds/1",
        "/embeds/1/thumbnail",
        "/embeds/1/description",
        "/embeds/1/fields",
        "/embeds/1/image",
    ]
    assert isinstance(nodes[1], Container)
    assert nodes[1].footer
    assert nodes[1].footer.at == "/embeds/1/footer"


@pytest.mark.parametrize(
    ("color", "style"),
    [
        (0x36C5F0, "accent"), (0x2EB67D, "good"), (0xECB22E, "warning"), (0xE01E5A, "attention"),
        (0x99AAB5, "emphasis"),
    ],
)  # fmt: skip
def test_embed_colours_of_known_styles_become_styles(color: int, style: str) -> None:
    assert read({"title": "t", "color": color}) == card(panel(title=line("t"), style=style))


def test_the_embed_colour_zero_is_kept() -> None:
    assert read({"title": "t", "color": 0}) == card(panel(title=line("t"), color=0))


def test_blank_field_names_and_values_are_empty() -> None:
    embed: dict[str, Any] = {
        "fields": [{"name": "\u200b", "value": "x"}, {"name": "y", "value": "\u200b"}]
    }

    assert read(embed) == card(
        panel(
            fields(
                LabelledValue((), (Paragraph(line("x")),), short=False),
                LabelledValue(line("y"), (), short=False),
            )
        )
    )


def test_subtext_in_an_embed_description_is_small_print() -> None:
    assert read({"description": "large\n-# small"}) == card(panel(prose("large"), small("small")))


def test_embeds_with_one_url_and_only_pictures_are_one_gallery() -> None:
    url = "https://x.example"
    pictures = [{"url": url, "image": {"url": f"{url}/{n}.png"}} for n in range(3)]
    pictures[0] |= {"title": "Three"}

    assert read(*pictures, {"title": "next"}) == card(
        panel(
            Gallery(tuple(picture(f"{url}/{n}.png") for n in range(3))),
            title=line("Three"),
            link=url,
        ),
        panel(title=line("next")),
    )


def test_a_second_embed_with_text_is_a_separate_panel() -> None:
    url = "https://x.example"
    embed = {"url": url, "title": "one", "image": {"url": f"{url}/1.png"}}
    two = {"url": url, "title": "two", "image": {"url": f"{url}/2.png"}}

    assert len(read(embed, two).nodes) == 2


# --- previews of links ----------------------------------------------------------------------


def test_a_preview_of_an_article_names_its_site_before_its_author() -> None:
    embed: dict[str, Any] = {
        "type": "article",
        "url": "https://news.example/1",
        "title": "News",
        "provider": {"name": "News Site", "url": "https://news.example"},
        "thumbnail": {"url": "https://news.example/t.png"},
    }
    site = Credit(line("News Site"), None, "https://news.example")
    small_one = Image(Asset(url="https://news.example/t.png"), size="small")

    assert read(embed) == card(
        panel(title=line("News"), link="https://news.example/1", author=site, thumbnail=small_one)
    )
    written_by = {**embed, "author": {"name": "Ann"}}
    site_line = Context((Prose((Paragraph((link("https://news.example", "News Site"),)),)),))
    assert read(written_by) == card(
        site_line,
        panel(
            title=line("News"),
            link="https://news.example/1",
            author=Credit(line("Ann")),
            thumbnail=small_one,
        ),
    )


def test_a_video_preview_is_a_player_with_a_poster() -> None:
    embed: dict[str, Any] = {
        "type": "video",
        "url": "https://tube.example/w",
        "title": "Film",
        "video": {"url": "https://tube.example/embed/w", "width": 16, "height": 9},
        "thumbnail": {"url": "https://tube.example/t.png"},
    }

    film = Player(
        "video",
        Asset(url="https://tube.example/embed/w", width=16, height=9),
        poster=Asset(url="https://tube.example/t.png"),
    )
    assert read(embed) == card(panel(film, title=line("Film"), link="https://tube.example/w"))


def test_a_gifv_embed_links_to_its_page() -> None:
    embed: dict[str, Any] = {
        "type": "gifv",
        "url": "https://gif.example/view/1",
        "video": {"url": "https://gif.example/1.mp4"},
        "thumbnail": {"url": "https://gif.example/1.png"},
    }

    film = Player(
        "video",
        Asset(url="https://gif.example/1.mp4"),
        poster=Asset(url="https://gif.example/1.png"),
        link="https://gif.example/view/1",
    )
    assert read(embed) == card(panel(film))


def test_an_image_preview_is_the_full_size_image() -> None:
    embed: dict[str, Any] = {
        "type": "image",
        "url": "https://x.example/a.png",
        "thumbnail": {"url": "https://x.example/a.png"},
    }

    full = Image(Asset(url="https://x.example/a.png"), link="https://x.example/a.png")
    assert read(embed) == card(panel(full))


def test_the_result_of_a_poll_names_the_question_and_the_winner() -> None:
    values = {
        "poll_question_text": "Tea?",
        "victor_answer_votes": "3",
        "total_votes": "5",
        "victor_answer_id": "1",
        "victor_answer_text": "Yes",
        "victor_answer_emoji_name": "🍵",
    }
    embed: dict[str, Any] = {
        "type": "poll_result",
        "fields": [{"name": k, "value": v} for k, v in values.items()],
    }

    poll = Poll(line("Tea?"), (PollAnswer(line("Yes"), "🍵", 3),), closed=True)
    assert read(embed) == card(panel(poll, small("5 votes")))


# --- wrong shapes ---------------------------------------------------------------------------


def test_embed_fields_of_a_wrong_type_are_kept_with_their_text() -> None:
    embed: dict[str, Any] = {
        "title": {"text": "odd"},
        "description": "fine",
        "fields": [7, {"name": "n"}],
    }

    assert read(embed) == card(
        panel(
            prose("fine"),
            Native(EMBEDS, 7),
            fields(LabelledValue(line("n"), (), short=False)),
            Native(EMBEDS, {"text": "odd"}, (prose("odd"),)),
        )
    )


@pytest.mark.parametrize("stamp", ["yesterday", "", 7, "9999-12-31T23:59:59-23:59", None])
def test_an_invalid_embed_timestamp_is_dropped(stamp: Any) -> None:
    (node,) = read({"title": "t", "timestamp": stamp}).nodes

    assert isinstance(node, Container)
    assert node.title == line("t")


def test_a_title_that_looks_like_a_list_is_a_title() -> None:
    (node,) = read({"title": "1. First"}).nodes

    assert isinstance(node, Container)
    assert node.title == line("1. First")

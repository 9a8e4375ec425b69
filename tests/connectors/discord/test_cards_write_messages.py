"""Cards -> messages: content, embeds or components, and the division into several messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Container,
    Credit,
    Divider,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Player,
    Prose,
)
from bridge.content.text.tree import Heading, Link, Mention, Paragraph, Text
from bridge.model import ActorId
from connectors.discord.cards import write_card, write_components
from tests.connectors.discord.card_words import line, picture, prose, small
from tests.connectors.discord.discord_rules import faults

V2 = 32768
TOKENS = Rendering(token=lambda at: f"token{at.replace('/', '-')}")
BLOB = "blob:sha256-" + "0" * 64


def bodies(*nodes: Node, rendering: Rendering = TOKENS) -> list[Any]:
    """Return the bodies without the fields that forbid pings, which `faults` checks."""
    written = write_card(Card(nodes), rendering)
    for message in written.messages:
        assert faults(message.body, [file.name for file in message.files]) == []
    return [
        {key: value for key, value in message.body.items() if key != "allowed_mentions"}
        for message in written.messages
    ]


def components(*nodes: Node, rendering: Rendering = TOKENS) -> list[Any]:
    (body,) = bodies(*nodes, rendering=rendering)
    assert body["flags"] == V2
    return body["components"]


def panel(*nodes: Node, **attributes: Any) -> Container:
    return Container(nodes, form="panel", **attributes)


def field(label: str, value: str, *, short: bool = True) -> LabelledValue:
    return LabelledValue(line(label), (Paragraph(line(value)),), short)


def button(label: str, at: str) -> Button:
    return Button(line(label), at=at)


def texts(number: int) -> tuple[Prose, ...]:
    return tuple(prose(f"text {index}") for index in range(number))


# --- content --------------------------------------------------------------------------------


def test_prose_alone_is_content() -> None:
    assert bodies(prose("one"), small("two"), prose("three")) == [
        {"content": "one\n-# two\nthree"}
    ]  # fmt: skip


def test_groups_of_prose_are_content() -> None:
    assert bodies(Container((prose("one"), Container((prose("two"),))))) == [
        {"content": "one\n\ntwo"}
    ]  # fmt: skip


def test_long_prose_is_several_messages() -> None:
    words = " ".join(["word"] * 900)

    first, second, third = bodies(prose(words))

    assert len(first["content"]) <= 2000
    assert " ".join(part["content"] for part in (first, second, third)) == words


def test_a_card_without_visible_content_gives_no_message() -> None:
    assert bodies() == []
    assert bodies(prose(" "), Container(())) == []


def test_mentions_are_written_as_plain_names() -> None:
    mention = Mention(ActorId("discord:1:2"), "Ann")

    assert bodies(Prose((Paragraph((mention, Text(" <@3> <@&4> @everyone"))),))) == [
        {"content": "@Ann \\<@3> \\<@&4> \\@everyone"}
    ]


def test_every_message_forbids_pings() -> None:
    everyone = prose("@everyone")
    long = prose("word " * 900)

    for nodes in ((everyone,), (everyone, panel(everyone)), (panel(everyone), everyone), (long,)):
        written = write_card(Card(nodes), TOKENS)
        assert [message.body["allowed_mentions"] for message in written.messages] == [
            {"parse": []} for _ in written.messages
        ]


# --- embeds ---------------------------------------------------------------------------------


def test_a_panel_below_prose_is_an_embed() -> None:
    whole = panel(
        prose("text"),
        small("small"),
        Fields((field("A", "1"), field("B", "2", short=False))),
        picture("https://x.example/a.png", alt="seen"),
        title=line("Title"),
        link="https://x.example",
        style="warning",
        author=Credit(line("Ann"), Asset(url="https://x.example/i.png"), "https://ann.example"),
        footer=Credit(line("below"), Asset(url="https://x.example/f.png")),
        thumbnail=picture("https://x.example/t.png"),
        time=1_700_000_000,
    )

    assert bodies(prose("above"), whole) == [
        {
            "content": "above",
            "embeds": [
                {
                    "author": {
                        "name": "Ann",
                        "url": "https://ann.example",
                        "icon_url": "https://x.example/i.png",
                    },
                    "title": "Title",
                    "url": "https://x.example",
                    "description": "text\n-# small",
                    "fields": [
                        {"name": "A", "value": "1", "inline": True},
                        {"name": "B", "value": "2"},
                    ],
                    "image": {"url": "https://x.example/a.png", "description": "seen"},
                    "thumbnail": {"url": "https://x.example/t.png"},
                    "footer": {"text": "below", "icon_url": "https://x.example/f.png"},
                    "timestamp": "2023-11-14T22:13:20+00:00",
                    "color": 0xECB22E,
                }
            ],
        }
    ]


def test_a_link_to_the_embed_below_suppresses_its_preview() -> None:
    url, other = "https://a.example/x", "https://a.example/xy"
    text_line = (*link(url), Text(" and "), *link(other))
    (body,) = bodies(Prose((Paragraph(text_line),)), panel(prose("D"), title=line("T"), link=url))

    assert body["content"] == f"<{url}> and {other}"
    assert body["embeds"][0]["url"] == url


def link(url: str) -> tuple[Link, ...]:
    return (Link(url, (Text(url),)),)


def test_panels_with_buttons_below_stay_embeds() -> None:
    assert bodies(panel(prose("x")), Actions((button("Go", "/a"),))) == [
        {
            "embeds": [{"description": "x"}],
            "components": [
                {
                    "type": 1,
                    "components": [{"type": 2, "style": 2, "custom_id": "token-a", "label": "Go"}],
                }
            ],
        }
    ]


def test_a_panel_with_buttons_stays_an_embed_with_author_icon_and_inline_fields() -> None:
    icon = Asset(url="https://files.acme.example/ann.png")
    fields = Fields((field("Branch", "main"), field("Build", "17")))
    whole = panel(
        fields, Actions((button("Retry", "/a"),)), Actions((button("Skip", "/b"),)),
        author=Credit(line("Ann"), icon=icon),
    )  # fmt: skip

    (body,) = bodies(prose("Failed"), whole)

    (embed,) = body["embeds"]
    assert embed["author"] == {"name": "Ann", "icon_url": icon.url}
    assert [item["inline"] for item in embed["fields"]] == [True, True]
    assert [[item["label"] for item in row["components"]] for row in body["components"]] == [
        ["Retry"], ["Skip"]
    ]  # fmt: skip


def test_a_panel_with_buttons_above_another_panel_makes_both_containers() -> None:
    first, second = panel(prose("a"), Actions((button("Go", "/a"),))), panel(prose("b"))

    assert [component["type"] for component in components(first, second)] == [17, 17]


def test_panels_of_many_fields_are_several_embeds() -> None:
    many = Fields(tuple(field(f"name {n}", "v") for n in range(30)))

    (body,) = bodies(panel(many, title=line("T"), style="good"))

    first, second = body["embeds"]
    assert (first["title"], len(first["fields"]), len(second["fields"])) == ("T", 25, 5)
    assert first["color"] == second["color"]


def test_a_long_field_value_continues_in_unnamed_fields() -> None:
    long = " ".join(["word"] * 300)

    (body,) = bodies(panel(Fields((field("A", long),))))

    first, second = body["embeds"][0]["fields"]
    assert (first["name"], second["name"]) == ("A", "\u200b")
    assert f"{first['value']} {second['value']}" == long


def test_a_long_description_continues_in_further_embeds() -> None:
    long = " ".join(["word"] * 1000)

    (body,) = bodies(panel(prose(long), title=line("T")))

    assert " ".join(embed["description"] for embed in body["embeds"]) == long
    assert [embed.get("title") for embed in body["embeds"]] == ["T", None]


def test_more_than_ten_embeds_continue_in_the_next_message() -> None:
    assert [len(body["embeds"]) for body in bodies(*[panel(prose("x"))] * 23)] == [10, 10, 3]


def test_embeds_above_the_text_limit_continue_in_the_next_message() -> None:
    panels = [panel(prose("x" * 2500)) for _ in range(5)]

    assert [len(body["embeds"]) for body in bodies(*panels)] == [2, 2, 1]


def test_a_footer_that_does_not_fit_is_a_separate_embed() -> None:
    whole = panel(prose("x" * 4000), footer=Credit(line("f" * 2048)), title=line("T"))

    (first,), (second,) = (body["embeds"] for body in bodies(whole))

    assert first.keys() == {"title", "description"}
    assert second == {"footer": {"text": "f" * 2048}}


def test_a_title_of_maximum_length_stays_an_embed() -> None:
    assert bodies(panel(title=line("t" * 256))) == [{"embeds": [{"title": "t" * 256}]}]


def test_a_gallery_in_a_panel_becomes_embeds_that_share_one_url() -> None:
    pictures = Gallery(tuple(picture(f"https://x.example/{n}.png") for n in range(3)))

    foot = Credit(line("f"))

    (body,) = bodies(panel(pictures, title=line("T"), link="https://x.example", footer=foot))

    assert body["embeds"] == [
        {
            "title": "T",
            "url": "https://x.example",
            "footer": {"text": "f"},
            "image": {"url": "https://x.example/0.png"},
        },
        {"url": "https://x.example", "image": {"url": "https://x.example/1.png"}},
        {"url": "https://x.example", "image": {"url": "https://x.example/2.png"}},
    ]


def test_a_video_in_an_embed_is_a_link() -> None:
    film = Player("video", Asset(url="https://x.example/v.mp4"))
    whole = panel(film, Fields((field("A", "1"),)))

    (body,) = bodies(whole)

    assert body["embeds"][0]["description"] == "🎬 [video](https://x.example/v.mp4)"


@pytest.mark.parametrize(
    "whole",
    [
        panel(prose("x"), spoiler=True),
        panel(prose("x"), subtitle=line("s")),
        panel(prose("x"), title=(Link("https://x.example", line("t")),)),
        panel(Divider()),
        panel(Fields((field("A", "1"),)), prose("below")),
        panel(picture("https://x.example/a.png"), prose("below")),
        panel(Actions((button("Go", "/a"),))),
        panel(prose("x"), title=line("t" * 257)),
        panel(prose("x"), footer=Credit(line("f"), None, "https://x.example")),
        panel(prose("x"), thumbnail=Image(Asset(file_id=BLOB))),
    ],
)
def test_a_panel_that_no_embed_can_show_is_a_container(whole: Container) -> None:
    assert components(whole)[0]["type"] == 17


def test_prose_below_a_panel_makes_it_a_container() -> None:
    assert [component["type"] for component in components(panel(prose("x")), prose("below"))] == [
        17,
        10,
    ]


# --- components -----------------------------------------------------------------------------


def test_buttons_below_prose_are_components() -> None:
    assert components(prose("Sure?"), Actions((button("Yes", "/y"),))) == [
        {"type": 10, "content": "Sure?"},
        {
            "type": 1,
            "components": [{"type": 2, "style": 2, "custom_id": "token-y", "label": "Yes"}],
        },
    ]


def test_prose_is_a_text_display_in_a_components_message() -> None:
    (message,) = write_components(Card((prose("x"),)), TOKENS).messages

    assert message.body["flags"] == V2
    assert message.body["components"] == [{"type": 10, "content": "x"}]


def test_texts_are_joined_when_a_message_has_more_than_forty_components() -> None:
    (body,) = bodies(*texts(39), Divider())
    (also_one,) = bodies(*texts(90), Divider())

    assert len(body["components"]) == 40
    assert len(also_one["components"]) == 2
    assert "text 0\n\ntext 1" in also_one["components"][0]["content"]


def test_surplus_components_continue_in_further_messages_in_order() -> None:
    pairs = [node for n in range(50) for node in (prose(f"{n}"), Divider())]

    messages = bodies(*pairs)

    texts_read = [
        component["content"]
        for body in messages
        for component in body["components"]
        if component["type"] == 10
    ]
    assert [len(body["components"]) for body in messages] == [40, 40, 20]
    assert texts_read == [f"{n}" for n in range(50)]


def test_a_split_container_keeps_its_colour_and_spoiler_flag() -> None:
    pairs = tuple(node for n in range(30) for node in (prose(f"{n}"), Divider()))

    first, second = bodies(Container(pairs, form="card", style="good", spoiler=True))

    (first_container,), (second_container,) = first["components"], second["components"]
    assert {**first_container, "components": []} == {**second_container, "components": []}
    assert (len(first_container["components"]), len(second_container["components"])) == (39, 21)


def test_a_components_message_has_at_most_four_thousand_characters() -> None:
    long = tuple(prose(f"{n} " * 700) for n in range(5))

    assert [len(body["components"]) for body in bodies(*long, Divider())] == [2, 2, 2]


def test_one_long_text_is_cut_between_words() -> None:
    words = " ".join(["word"] * 1500)

    first, second = bodies(prose(words), Divider())

    parts = (first["components"][0]["content"], second["components"][0]["content"])
    assert " ".join(parts) == words


def test_a_heading_is_not_separated_from_the_next_node() -> None:
    heading = Prose((Heading(2, line("Next")),))
    nodes = (*texts(3), Divider(), *[Divider()] * 37, heading, Divider(), Divider())

    first, second = bodies(*nodes)

    assert first["components"][-1] == {"type": 14}
    assert second["components"][0] == {"type": 10, "content": "## Next"}


# --- files ----------------------------------------------------------------------------------


def test_stored_files_are_uploaded_under_names_that_discord_accepts() -> None:
    rendering = Rendering(uploads=True)
    image = Image(Asset(file_id=BLOB, name="my cat.png", media_type="image/png"))
    nameless = Image(Asset(file_id=BLOB, media_type="image/jpeg"))

    (message,) = write_card(Card((image, nameless, image)), rendering).messages

    urls = [component["items"][0]["media"]["url"] for component in message.body["components"]]  # pyright: ignore
    assert urls == ["attachment://my_cat.png", "attachment://file.jpg", "attachment://my_cat-3.png"]
    assert [file.name for file in message.files] == ["my_cat.png", "file.jpg", "my_cat-3.png"]
    assert message.files[0] == replace(image.asset, name="my_cat.png")


def test_more_than_ten_files_are_several_messages() -> None:
    images = tuple(Image(Asset(file_id=BLOB, name=f"{n}.png")) for n in range(23))

    written = write_card(Card((Gallery(images),)), Rendering(uploads=True))

    assert [len(message.files) for message in written.messages] == [10, 10, 3]
    assert [
        faults(sent_message.body, [f.name for f in sent_message.files])
        for sent_message in written.messages
    ] == [[]] * 3


# --- determinism ----------------------------------------------------------------------------


def test_the_same_card_gives_the_same_bytes() -> None:
    card = Card((prose("x"), Actions((button("Go", "/a"), button("Go", "/a")))))

    assert write_card(card, TOKENS) == write_card(card, TOKENS)


def test_custom_ids_are_unique_even_when_tokens_repeat() -> None:
    (row,) = components(Actions((button("A", "/a"), button("B", "/a"))))

    assert [component["custom_id"] for component in row["components"]] == ["token-a", "token-a#2"]

"""A card as parts that say the same: in order, nothing left out, media as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import get_args

from hypothesis import given, settings

from bridge.content.cards.json import card_from_json
from bridge.content.cards.parts import DetailedPart, card_parts
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Carousel,
    Chart,
    Choice,
    Column,
    Columns,
    Confirm,
    Container,
    Context,
    Credit,
    DateInput,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    Input,
    LabelledValue,
    Native,
    Node,
    NumberInput,
    Option,
    Player,
    Point,
    Prose,
    Section,
    Series,
    Table,
    TextInput,
    Toggle,
)
from bridge.content.messages.metadata import PartDetails
from bridge.content.text.tree import Paragraph, Text, Timestamp
from bridge.uacs import AudioPart, FilePart, ImagePart, MediaSource, TextPart, VideoPart
from tests.content.card_strategies import MARK, cards
from tests.examples import examples

URL = "https://f.example/a.png"


def text(value: str) -> DetailedPart:
    return DetailedPart(TextPart(text=value))


def line(value: str) -> tuple[Text, ...]:
    return (Text(value),)


def prose(value: str) -> Prose:
    return Prose((Paragraph(line(value)),))


def parts(*nodes: Node) -> Sequence[DetailedPart]:
    return card_parts(nodes)


def test_a_part_without_a_title_shows_its_address() -> None:
    panel = Container((prose("x"),), form="panel", link="https://e.example/t")
    row = Columns((Column((prose("a"),), link="https://e.example/a"), Column((prose("b"),))))
    app = Container((prose("y"),), link="acme://page")
    menu = Choice(options=(Option(line("One"), "1", url="https://e.example/1"),))

    assert parts(panel, row, app, menu) == (
        text(
            "x\n\nhttps://e.example/t\n\n"
            "a\n\nhttps://e.example/a\n\nb\n\n"
            "y\n\nacme://page\n\n- [One](https://e.example/1)"
        ),
    )


def test_consecutive_texts_become_one_part() -> None:
    assert parts(prose("One"), Divider(), prose("Two")) == (text("One\n\n---\n\nTwo"),)


def test_a_picture_is_a_part_between_the_texts_before_and_after_it() -> None:
    picture = Image(Asset(url=URL, alt="a cat", name="cat.png", size=5), title=line("My cat"))

    assert parts(prose("Look"), picture, prose("Nice?")) == (
        text("Look\n\nMy cat"),
        DetailedPart(
            ImagePart(source=MediaSource(url=URL), media_type="image/png"),
            PartDetails(name="cat.png", alt="a cat", size=5),
        ),
        DetailedPart(TextPart(text=r"\[image: a cat\]"), PartDetails(repeats_alt=True)),
        text("Nice?"),
    )


def test_a_private_picture_becomes_a_line_of_text() -> None:
    picture = Image(Asset(url=URL, private=True, page="https://p.example/1", alt="a cat"))

    assert parts(picture) == (text("🖼 [a cat](https://p.example/1)"),)


def test_a_picture_inside_a_data_url_keeps_its_bytes() -> None:
    assert parts(Image(Asset(url="data:image/gif;base64,R0lG"))) == (
        DetailedPart(ImagePart(source=MediaSource(base64="R0lG"), media_type="image/gif")),
    )


def test_an_address_in_other_scripts_is_encoded() -> None:
    (part,) = parts(Image(Asset(url="https://exämple.com/ü.png")))

    assert part.part == ImagePart(
        source=MediaSource(url="https://ex%C3%A4mple.com/%C3%BC.png"), media_type="image/png"
    )


def test_videos_sounds_and_files_are_parts() -> None:
    film = Player("video", Asset(file_id="blob:1", seconds=3.5), title=line("Film"))
    sound = Player("audio", Asset(url="https://f.example/a.ogg"))
    file = File(Asset(url="https://f.example/plan.pdf", name="plan.pdf"))

    assert parts(film, sound, file) == (
        text("Film"),
        DetailedPart(
            VideoPart(source=MediaSource(file_id="blob:1"), media_type="video/*"),
            PartDetails(duration_s=3.5),
        ),
        DetailedPart(
            AudioPart(source=MediaSource(url="https://f.example/a.ogg"), media_type="audio/ogg")
        ),
        DetailedPart(
            FilePart(
                source=MediaSource(url="https://f.example/plan.pdf"), media_type="application/pdf"
            ),
            PartDetails(name="plan.pdf"),
        ),
    )


def test_a_video_on_a_page_becomes_its_preview_and_a_link() -> None:
    film = Player(
        "video", Asset(), title=line("Film"), poster=Asset(url=URL), link="https://v.example/1"
    )

    assert parts(film) == (
        DetailedPart(ImagePart(source=MediaSource(url=URL), media_type="image/png")),
        text("🎬 [Film](https://v.example/1)"),
    )


def test_buttons_of_a_row_share_a_line_and_links_can_be_followed() -> None:
    row = Actions(
        (
            Button(line("Yes"), id="y"),
            Button(line("No"), confirm=Confirm(title="Sure?", text=line("It is final."))),
            Button(line("More"), does="open", url="https://e.example/"),
        )
    )

    assert parts(row) == (
        text("\\[Yes\\] \\[No\\] (Sure? It is final.) [More](https://e.example/)"),
    )


def test_the_nodes_that_a_button_reveals_follow_it() -> None:
    first = Button(line("Show"), does="reveal", nodes=(prose("hidden"),))

    assert parts(Actions((first, Button(line("Next"))))) == (
        text("\\[Show\\]\n\nhidden\n\n\\[Next\\]"),
    )


def test_inputs_show_their_label_and_value() -> None:
    inputs = (
        TextInput(label=line("Name"), placeholder="Jane Doe", hint=line("As in your passport")),
        TextInput(label=line("Key"), value="secret", format="password"),
        NumberInput(label=line("Guests"), value=2),
        DateInput(label=line("Day"), value="2026-11-21"),
        Toggle(title=line("I agree"), value=True),
    )

    assert parts(*inputs) == (
        text(
            "**Name** _Jane Doe_\n\n_As in your passport_\n\n**Key** ••••••••\n\n**Guests** 2\n\n"
            "**Day** 2026-11-21\n\n☑ I agree"
        ),
    )


def test_a_choice_lists_its_options_below_their_groups() -> None:
    choice = Choice(
        label=line("Tea"),
        options=(
            Option(line("Sencha"), "s", line("mild"), group="Green"),
            Option(line("Assam"), "a", emoji="🫖", group="Black"),
        ),
        values=("a",),
    )

    assert parts(choice) == (
        text("**Tea**\n\nGreen\n\n- [ ] Sencha: mild\n\nBlack\n\n- [x] 🫖 Assam"),
    )


def test_containers_are_read_from_top_to_bottom() -> None:
    box = Container(
        (Section((prose("Body"),), Button(line("Go"))),),
        title=line("Title"),
        link="https://e.example/",
        author=Credit(line("Jane")),
        footer=Credit(line("Source")),
        time=0,
    )
    side = Columns((Column((prose("left"),)), Column((prose("right"),))))

    assert parts(box, side) == (
        text(
            "Jane\n\n### [Title](https://e.example/)\n\nBody\n\n\\[Go\\]\n\n"
            "Source [1970-01-01 00:00 UTC](uacs:time/0?style=f)\n\nleft\n\nright"
        ),
    )


def test_a_spoiler_hides_its_own_content_only() -> None:
    box = Container((prose("secret"), Image(Asset(url=URL))), spoiler=True)

    assert parts(box, prose("open")) == (
        text("||secret||"),
        DetailedPart(
            ImagePart(source=MediaSource(url=URL), media_type="image/png"),
            PartDetails(spoiler=True),
        ),
        text("open"),
    )


def test_context_items_are_one_line() -> None:
    assert parts(Context((prose("one"), prose("two")))) == (text("one two"),)


def test_tables_of_text_are_tables_and_others_are_listed_row_by_row() -> None:
    words = Table((((prose("A"),), (prose("B"),)), ((prose("1"),), (Image(Asset(alt="dot")),))))
    other = Table((((prose("x"), Divider()), (Button(line("Go")),)),))

    assert parts(words) == (text("| A | B |\n| --- | --- |\n| 1 | 🖼 dot |"),)
    assert parts(other) == (text("x\n\n---\n\n\\[Go\\]"),)


def test_charts_galleries_carousels_and_fields_keep_all_their_content() -> None:
    chart = Chart("pie", (Series("", (Point("A", 1), Point("B", 2.5))),), title="Votes")
    gallery = Gallery((Image(Asset(alt="one")), Image(Asset(alt="two"))))
    cards = Carousel((Container((prose("c1"),)), Container((prose("c2"),))))
    fields = Fields((LabelledValue(line("K"), (Paragraph(line("V")),)),))

    assert parts(chart, gallery, cards, fields) == (
        text(
            "**Votes**\n\n|  |  |\n| --- | --- |\n| A | 1 |\n| B | 2.5 |\n\n🖼 one\n\n🖼 two\n\n"
            "c1\n\nc2\n\n**K** V"
        ),
    )


def test_a_native_node_becomes_its_fallback() -> None:
    assert parts(Native("application/vnd.x+json", {"a": 1}, (prose("same"),))) == (text("same"),)


def test_nodes_without_content_give_no_parts() -> None:
    assert parts(Divider(line=False), Native("application/vnd.x+json", {})) == ()


def test_nodes_nested_two_thousand_deep_are_read() -> None:
    node: Node = prose("deep")
    for _ in range(2000):
        node = Container((node,))

    assert parts(node) == (text("deep"),)


def test_a_card_from_json_is_read_in_order() -> None:
    card: Card = card_from_json(
        {"type": "card", "nodes": ["# Title", {"type": "alert", "level": "error", "text": "No"}]}
    )

    assert card_parts(card.nodes) == (text("# Title\n\n> ⛔ No"),)


@settings(
    max_examples=examples(60),
)
@given(cards())
def test_every_text_of_any_card_appears_once(card: Card) -> None:
    parts_written = [
        part
        for part in card_parts(card.nodes)
        if part.details is None or not part.details.repeats_alt
    ]
    written = [mark for part in parts_written for mark in MARK.findall(_words(part))]

    assert len(written) == len(set(written))
    assert set(_visible_marks(card)) - set(written) == set()


def _words(part: DetailedPart) -> str:
    if isinstance(part.part, TextPart):
        return part.part.text
    details = part.details or PartDetails()
    return f"{details.alt or ''} {details.name or ''}"


# What nobody sees before pointing at, pressing or filling in something; what is shown otherwise.
_UNSEEN = {
    (Button, "hint"), (Button, "icon"), (Player, "poster"), (Chart, "y_title"),
    *((kind, name) for kind in get_args(Input) for name in ("error", "placeholder", "confirm")),
    (Confirm, "ok"), (TextInput, "value"), (Timestamp, "fallback"),
}  # fmt: skip


def _visible_marks(value: object) -> list[str]:
    if isinstance(value, str):
        return MARK.findall(value)
    if isinstance(value, tuple):
        return [mark for item in value for mark in _visible_marks(item)]
    if not is_dataclass(value):
        return []
    names = [field.name for field in fields(value) if (type(value), field.name) not in _UNSEEN]
    return [
        mark for name in names if name != "summary" for mark in _visible_marks(getattr(value, name))
    ]

"""Cards that are too large for one message continue in further ones; nothing is cut silently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import orjson
import pytest

from bridge.content.cards.rendering import Written
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Carousel,
    Choice,
    Column,
    Columns,
    Container,
    Divider,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Option,
    Prose,
    Table,
    TextInput,
)
from bridge.content.text.tree import (
    Break,
    CodeBlock,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Strike,
    Strong,
    Text,
)
from connectors.teams.capabilities import CARD_LIMIT, TEXT_LIMIT
from connectors.teams.cards import write_card
from tests.connectors.teams.teams_rules import newer, objects, older, visible_texts
from tests.connectors.teams.written import RENDERING, Json, bodies, cards, kinds, line, prose, write

QUIET = {"subtle": True}


def words(count: int, first: int = 0) -> str:
    return " ".join(f"w{number}." for number in range(first, first + count))


def all_words(written: Written, *, old: bool = False) -> list[str]:
    """Return all words of all cards and texts, in order."""
    view = older if old else newer
    words_found: list[str] = []
    for body in bodies(written):
        words_found += body.get("text", "").split()
        for attachment in body.get("attachments", ()):
            words_found += [
                word
                for text_ in visible_texts(view(attachment["content"]))
                for word in text_.split()
            ]
    return words_found


def ordered(count: int) -> list[str]:
    return words(count).split()


def types(written: Written) -> list[str]:
    return [element["type"] for card in cards(written) for element in card["body"]]


def test_long_prose_is_split_between_its_blocks() -> None:
    several = Prose(tuple(Paragraph(line(words(500, n * 500))) for n in range(12)))

    written = write(several)

    assert len(written.messages) == 2
    assert all_words(written) == ordered(6000)
    assert all(len(body["text"]) <= TEXT_LIMIT - 1000 for body in bodies(written))
    assert all(body["text"].endswith("99.") for body in bodies(written))


def test_one_long_paragraph_is_split_between_sentences() -> None:
    written = write(prose(words(9000)))

    assert len(written.messages) == 3
    assert all_words(written) == ordered(9000)


def test_a_long_card_continues_in_further_messages() -> None:
    nodes = tuple(prose(words(100, n * 100), subtle=True) for n in range(60))

    written = write(*nodes)

    assert all_words(written) == ordered(6000)
    assert written.losses == ()
    assert len(written.messages) > 2
    assert all(_size(body) <= CARD_LIMIT for body in bodies(written))


@pytest.mark.parametrize(
    "node",
    [
        Prose((Paragraph(line(words(5000))),), subtle=True),
        Prose((Paragraph((Text("a "), Strong(line(words(5000))))),), subtle=True),
        Prose((Paragraph((Strike(line(words(5000))),)),)),
        Prose((List(tuple(ListItem((Paragraph(line(words(5, n * 5))),)) for n in range(900))),),
              subtle=True),
        Prose((Heading(1, line("T")), Paragraph(line(words(5000))))),
        Container((prose(words(5000)),), form="panel", style="good", title=line("T")),
        Container((Container((Container((prose(words(5000)),)),), style="good"),)),
        Columns((Column((prose(words(3000)),)), Column((prose(words(3000, 3000)),)))),
        Table(tuple(((prose(f"w{n}."),), (prose("x " * 20),)) for n in range(400))),
        Table((((prose(words(4000)),), (prose(words(4000, 4000)),)),)),
        Fields(tuple(LabelledValue(line(f"w{n}."), prose("x " * 9).text) for n in range(600))),
        Fields((LabelledValue(line("T"), prose(words(5000)).text),)),
        Actions(tuple(Button(line(f"w{n}."), at=f"/{n}") for n in range(200))),
        Button(line("More"), does="reveal", nodes=(prose(words(5000)),)),
        Gallery(
            tuple(Image(Asset(url=f"https://a.example/{n}", alt=f"w{n}.")) for n in range(300))
        ),
        Carousel((Container((prose(words(5000)),)), Container((prose(words(10, 5000)),)))),
    ],
    ids=lambda node: node.type,
)  # fmt: skip
@pytest.mark.parametrize("old", [False, True])
def test_every_oversized_node_is_split_in_order(node: Node, old: bool) -> None:
    written = write(Divider(), node, prose("end."))

    spoken = [word.strip("*-_") for word in all_words(written, old=old)]
    numbered = [word for word in spoken if word.startswith("w") and word[1:2].isdigit()]
    assert numbered == ordered(len(numbered))
    assert len(numbered) >= 100
    assert spoken[-1] == "end."
    assert len(cards(written)) > 1


def test_split_code_continues_its_line_numbers() -> None:
    code = "\n".join(f"line_{n} = {n}  # {'x' * 20}" for n in range(600))

    written = write(Prose((CodeBlock(code, "python"),), subtle=True))

    blocks = [element for card in cards(written) for element in card["body"]]
    assert {block["type"] for block in blocks} == {"CodeBlock"}
    assert "\n".join(block["codeSnippet"] for block in blocks) == code
    for before, after in pairwise(blocks):
        lines = before["codeSnippet"].count("\n") + 1
        assert after["startLineNumber"] == before.get("startLineNumber", 1) + lines


def test_a_split_table_has_its_header_once() -> None:
    rows = tuple(((prose(f"w{n}."),),) for n in range(400))

    first, *others = [card["body"][0] for card in cards(write(Table(rows)))]

    assert "firstRowAsHeader" not in first
    assert others
    assert all(table["firstRowAsHeader"] is False for table in others)


def test_a_long_word_is_split_between_characters() -> None:
    written = write(prose("é" * 40_000, subtle=True))

    assert "".join(all_words(written)) == "é" * 40_000


def test_the_parts_of_a_long_link_text_stay_links() -> None:
    link = Link("https://a.example", line(words(5000)))

    written = write(Prose((Paragraph((link,)),), subtle=True))

    runs = [
        element
        for card in cards(written)
        for element in objects(card)
        if element.get("type") == "TextRun"
    ]
    assert " ".join(run["text"] for run in runs).split() == ordered(5000)
    assert all(run["selectAction"]["url"] == "https://a.example" for run in runs)


# --- inputs, buttons and their targets ----------------------------------------------------------


def test_inputs_and_their_submit_button_are_in_one_card() -> None:
    form = (
        TextInput(label=line("Name"), at="/t"),
        prose(words(600), subtle=True),
        Button(line("Send"), does="submit", at="/b"),
    )

    written = write(prose(words(2400), subtle=True), *form)

    assert len(cards(written)) == 2
    assert "token/t" in str(cards(written)[1])
    assert "token/b" in str(cards(written)[1])
    assert written.losses == ()


def test_inputs_separated_from_their_submit_button_are_reported() -> None:
    written = write(
        TextInput(label=line("Name"), at="/t"),
        prose(words(6000), subtle=True),
        Button(line("Send"), does="submit", at="/b"),
    )

    assert ("", "inputs_apart", "Name") in kinds(written)


def test_a_toggle_button_and_its_target_are_in_one_card() -> None:
    written = write(
        prose(words(2200), subtle=True),
        Button(line("Show"), does="toggle", targets=("box",)),
        Container((prose(words(500)),), id="box", hidden=True),
    )

    assert len(cards(written)) == 2
    assert types(written)[-2:] == ["ActionSet", "Container"]


def test_a_hidden_part_that_is_too_large_for_a_card_is_shown_and_reported() -> None:
    written = write(
        Button(line("Show"), does="toggle", targets=("box",)),
        Container((prose(words(6000)),), id="box", hidden=True),
    )

    assert ("", "hidden_shown", "box") in kinds(written)
    assert "isVisible" not in str(cards(written))


@pytest.mark.timeout(60)
def test_many_toggle_targets_far_from_their_buttons_take_bounded_time() -> None:
    shows = tuple(Button(line("s"), does="toggle", targets=(f"b{n}",)) for n in range(5000))
    between = tuple(node for show in shows for node in (show, Divider()))
    boxes = tuple(Container((prose("x"),), id=f"b{n}", hidden=True) for n in range(5000))

    written = write_card(Card((*between, *boxes)), RENDERING)

    assert {loss.kind for loss in written.losses} == {"hidden_shown", "toggle_without_target"}


def test_many_options_do_not_make_a_card_too_large() -> None:
    options = tuple(Option(line("é" * 190), f"{n}" * 20) for n in range(500))

    written = write(Choice(options=options, at="/c", label=line("x" * 4000)))

    assert {kind for _, kind, _ in kinds(written)} == {"options_cut", "label_cut"}


def test_an_input_full_of_quote_characters_fits_in_a_card() -> None:
    much = '"' * 20_000

    write(TextInput(label=line(much), value=much, placeholder=much, pattern=much, error=much))


def test_the_longest_links_in_many_boxes_fit() -> None:
    url = "https://a.example/" + "u" * 2900
    node: Node = prose(words(3000))
    for _ in range(11):
        node = Container((node,), link=url)

    assert all_words(write(node)) == ordered(3000)


def test_lone_surrogates_are_replaced() -> None:
    written = write(prose("a\ud800b", subtle=True), Button(line("\udfff"), at="\ud800"))

    assert orjson.dumps(bodies(written))


@pytest.mark.parametrize(
    "inlines",
    [
        lambda: (Text("a*b_" * 400_000),),
        lambda: (Strong((Text("x " * 400_000),)),),
        lambda: tuple(Break() if n % 2 else Text("x") for n in range(200_000)),
        lambda: tuple(Strike((Text(f"w{n} "),)) for n in range(60_000)),
    ],
    ids=["signs", "bold", "breaks", "runs"],
)
@pytest.mark.timeout(60)
def test_millions_of_characters_take_bounded_time(inlines: Callable[[], Sequence[Inline]]) -> None:
    written = write_card(Card((Prose((Paragraph(tuple(inlines())),), subtle=True),)), RENDERING)

    assert len(written.messages) > 10


def _size(body: Json) -> int:
    return len(orjson.dumps(body).decode().encode("utf-16-le"))

"""What Discord refuses in its form is said in words, in the same message."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.model import Call, OperationId
from connectors.discord.ids import channel_ref
from connectors.discord.words import in_words, title_words

Body = dict[str, JsonValue]
CARD: Body = {
    "flags": 32768,
    "components": [
        {"type": 10, "content": "# Deploy\nto **all**"},
        {"type": 1, "components": [{"type": 2, "style": 2, "custom_id": "t", "label": "Go"}]},
    ],
}
EMBED: Body = {"content": "look", "embeds": [{"title": "T", "description": "D"}]}


def call(body: Body, kind: str = "post") -> Call:
    return Call(
        kind=kind,  # type: ignore[arg-type]
        method="webhook.execute", operation=OperationId("o"), slot=2,
        channel=channel_ref("1", "2"), body={**body, "username": "Ann"},
    )  # fmt: skip


@pytest.mark.parametrize(("body", "words"), [(CARD, ("Deploy", "all", "Go")), (EMBED, "TD")])
def test_the_words_and_nothing_of_the_form_stay(body: Body, words: tuple[str, ...]) -> None:
    said = in_words(call(body))

    assert said
    assert said.slot == 2
    assert said.body.keys() == {"username", "content"}
    assert all(word in str(said.body["content"]) for word in words)


@pytest.mark.parametrize(
    ("body", "words"), [(EMBED, "look\n\n### T\nD"), ({"content": "hi"}, "hi")]
)
def test_an_edit_says_its_words_in_a_component(body: Body, words: str) -> None:
    said = in_words(call(body, "edit"))

    assert said
    assert (said.body["content"], said.body["embeds"], said.body["flags"]) == (None, [], 1 << 15)
    assert said.body["components"] == [{"type": 10, "content": words}]


def test_long_words_are_cut_where_discord_takes_no_more() -> None:
    said = in_words(call({"embeds": [{"description": "word " * 700}]}))

    assert said
    assert len(str(said.body["content"])) <= 2000
    assert str(said.body["content"]).endswith("…")


def test_what_is_words_already_has_no_other_form() -> None:
    assert in_words(call({"content": "hi"})) is None


def test_an_odd_form_keeps_its_text() -> None:
    said = in_words(call({"content": "hi", "components": "odd"}))

    assert said
    assert "hi" in str(said.body["content"])


def test_the_title_of_a_forum_post_has_no_formatting() -> None:
    assert title_words({"content": "# A *fine* day"}) == "A fine day"
    assert title_words(CARD) == "Deploy"


def test_a_title_is_the_heading_alone_where_there_is_one() -> None:
    assert title_words({"content": "## Where to *eat*?\nThe old place closed."}) == "Where to eat?"
    assert title_words({"content": "No heading\n## below"}) == "No heading\n\nbelow"

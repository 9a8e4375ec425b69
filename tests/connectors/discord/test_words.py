"""A form that Discord refuses is posted as text, in the same message."""

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
def test_a_refused_form_becomes_its_text(body: Body, words: tuple[str, ...]) -> None:
    text_call = in_words(call(body))

    assert text_call
    assert text_call.slot == 2
    assert text_call.body.keys() == {"username", "content"}
    assert all(word in str(text_call.body["content"]) for word in words)


@pytest.mark.parametrize(
    ("body", "words"), [(EMBED, "look\n\n### T\nD"), ({"content": "hi"}, "hi")]
)
def test_an_edit_puts_its_text_into_a_component(body: Body, words: str) -> None:
    text_call = in_words(call(body, "edit"))

    assert text_call
    assert (text_call.body["content"], text_call.body["embeds"], text_call.body["flags"]) == (
        None,
        [],
        1 << 15,
    )
    assert text_call.body["components"] == [{"type": 10, "content": words}]


def test_a_long_text_is_cut_at_discords_limit() -> None:
    text_call = in_words(call({"embeds": [{"description": "word " * 700}]}))

    assert text_call
    assert len(str(text_call.body["content"])) <= 2000
    assert str(text_call.body["content"]).endswith("…")


def test_plain_text_has_no_further_plain_form() -> None:
    assert in_words(call({"content": "hi"})) is None


def test_a_malformed_form_keeps_its_text() -> None:
    text_call = in_words(call({"content": "hi", "components": "odd"}))

    assert text_call
    assert "hi" in str(text_call.body["content"])


def test_the_title_of_a_forum_post_has_no_formatting() -> None:
    assert title_words({"content": "# A *fine* day"}) == "A fine day"
    assert title_words(CARD) == "Deploy"


def test_a_first_heading_is_the_whole_title() -> None:
    assert title_words({"content": "## Where to *eat*?\nThe old place closed."}) == "Where to eat?"
    assert title_words({"content": "No heading\n## below"}) == "No heading\n\nbelow"

"""Mentions in UACS Markdown: found and renamed where they are mentions, and only there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.markdown.mentions import (
    mention_markdown,
    mentioned_actors,
    rename_mentions,
    targets_in,
)
from bridge.content.text.tree import Mention, Paragraph, Text
from bridge.model import ActorId
from tests.examples import examples

ANN, BO = ActorId("slack:T:U1"), ActorId("slack:T%3A0:U2")


def test_mentioned_actors_are_listed_once_and_in_order() -> None:
    text = (
        f"{mention_markdown(BO, 'Bo')} {mention_markdown(ANN, 'Ann')} {mention_markdown(BO, 'x')}"
    )

    assert mentioned_actors(text) == (BO, ANN)


@pytest.mark.parametrize(
    "text",
    [
        "`[@Ann](uacs:actor/slack:T:U1)`",
        "```\n[@Ann](uacs:actor/slack:T:U1)\n```",
        "\\[@Ann](uacs:actor/slack:T:U1)",
        "[@Ann] (uacs:actor/slack:T:U1)",
        "[@Ann](uacs:actor/)",
        "plain",
    ],
)
def test_code_and_escaped_text_mention_nobody(text: str) -> None:
    assert mentioned_actors(text) == ()
    assert rename_mentions(text, {ANN: "New"}) == text


def test_only_the_named_mentions_change() -> None:
    text = (
        "é **[@U1](uacs:actor/slack:T:U1)**, [@U2](uacs:actor/slack:T%253A0:U2) `[@U1]("
        "uacs:actor/slack:T:U1)`\n\n| [@U1](uacs:actor/slack:T:U1) |\n| - |"
    )

    assert rename_mentions(text, {ANN: "A]n|n\nB"}) == (
        "é **[@A\\]n\\|n B](uacs:actor/slack:T:U1)**, [@U2](uacs:actor/slack:T%253A0:U2) `[@U1]("
        "uacs:actor/slack:T:U1)`\n\n| [@A\\]n\\|n B](uacs:actor/slack:T:U1) |\n| - |"
    )


@settings(max_examples=examples(200))
@given(st.text(max_size=30), st.text(min_size=1, max_size=20))
def test_any_name_and_id_of_a_mention_survive_writing_and_reading(name: str, actor: str) -> None:
    (block,) = markdown_to_text(mention_markdown(ActorId(actor), name))

    label = " ".join(name.replace("\0", "\ufffd").split())
    if name[:1].isspace() and label:
        label = f" {label}"
    whole = actor.replace("\0", "\ufffd")
    assert block == Paragraph((Mention(ActorId(whole), label),))


@settings(max_examples=examples(100))
@given(st.text(alphabet="[]()@uacs:/ \\`*_|<>!A\n", max_size=40))
def test_typed_text_is_never_a_mention(typed: str) -> None:
    forged = f"[@Admin](uacs:actor/slack:T:U){typed}[@Admin](uacs:actor/slack:T:U)"

    written = text_to_markdown((Paragraph((Text(forged),)),))

    assert mentioned_actors(written) == ()
    assert rename_mentions(written, {ActorId("slack:T:U"): "Boss"}) == written


def test_targets_are_links_and_everybody_whom_the_text_speaks_to() -> None:
    text = (
        "**[here](https://a.example)** [@Ann](uacs:actor/slack:T1:U1) `https://b.example` "
        "[x](mailto:a@b.example)\n\n| [@Bob](uacs:actor/slack:T1:U2) |\n|---|\n| y |"
    )

    assert targets_in(text) == {
        "https://a.example", "mailto:a@b.example", "slack:T1:U1", "slack:T1:U2",
    }  # fmt: skip
    assert targets_in("plain \\[@Ann\\](uacs:actor/slack:T1:U1)") == frozenset()

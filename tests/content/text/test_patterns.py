"""Configured expressions find and replace words, never markup, in time linear in the text."""

from __future__ import annotations

import time

import pytest

from bridge.content.markdown.replacements import replaced_in_markdown
from bridge.content.text.patterns import Replacement, pattern_of, replaced_in_text, settled_words
from bridge.errors import InvalidData


def put(find: str, text: str) -> list[Replacement]:
    return [Replacement(pattern_of(find), text)]


@pytest.mark.parametrize("source", ["(a", "(?=x)", r"(a)\1", "a{1001}", "", "x" * 1001])
def test_an_unsafe_regular_expression_is_refused_with_the_reason(source: str) -> None:
    with pytest.raises(InvalidData):
        pattern_of(source)


def test_a_pattern_that_backtracks_in_other_engines_matches_quickly() -> None:
    pattern = pattern_of("^(a+)+$")
    begun = time.process_time()

    assert not pattern.is_in("a" * 100_000 + "b")
    assert time.process_time() - begun < 1.0


def test_text_with_a_lone_surrogate_can_be_searched() -> None:
    assert pattern_of("foo").is_in("\ud800foo")


def test_replacements_apply_to_text_but_not_to_addresses_code_and_mentions() -> None:
    text = "**secret** `secret` [secret](https://secret.example) [@secret](uacs:actor/x:y:z)"

    assert replaced_in_markdown(text, put("secret", "[...]")) == (
        r"**\[...\]** `secret` [\[...\]](https://secret.example) [@secret](uacs:actor/x:y:z)"
    )


def test_a_replacement_with_markup_or_a_mention_is_escaped() -> None:
    text = replaced_in_markdown("who", put("who", "[@all](uacs:broadcast/everyone) **x**"))

    assert replaced_in_markdown(text, put("zzz", "")) == text
    assert "](uacs:" not in text.replace(r"\]", "")
    assert "**x**" not in text


def test_text_without_a_match_is_unchanged() -> None:
    odd = "*a*  _b_\n\n\n* c"

    assert replaced_in_markdown(odd, put("zzz", "y")) == odd


def test_a_replacement_text_is_literal() -> None:
    assert replaced_in_text("a 7", put(r"(\d)", r"\1 \n é")) == r"a \1 \n é"


def test_the_settled_words_of_a_growing_text_never_change() -> None:
    word = [Replacement(pattern_of(r"(?i)\bfalcon\b"), "[project]")]
    words = [Replacement(pattern_of(r"falcon \w+"), "[project]")]
    whole = "We call it falcon nine, and the falcons fly over the falcon house of Falcon."

    for replacements in (word, words):
        final = replaced_in_text(whole, replacements)
        for end in range(len(whole)):
            settled = settled_words(whole[:end], replacements)
            assert final.startswith(replaced_in_text(settled, replacements)), whole[:end]
    assert settled_words("We call it falc", word) == "We call it "
    assert settled_words("We call it falcon ", word) == "We call it falcon "
    assert settled_words("We call it falcon nine, ", words) == ""

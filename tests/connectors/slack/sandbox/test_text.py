"""Slack's text rules: input and expected output."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.slack.sandbox.text import escape, posted_text, read_text, rich_text, typed_text

PEOPLE = {"Ada": "U1", "Ada Park": "U2"}


def read(text: str) -> str:
    return read_text(text, {"U1": "Ada"}.get, {"C1": "general"}.get)


def sections(text: str) -> list[Any]:
    return rich_text(text, "b")[0]["elements"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("plain", "plain"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("a &lt; b &amp; c", "a &lt; b &amp; c"),
        ("&copy;", "&amp;copy;"),
        ("<@U1> <#C1|general> <!here> <!subteam^S1>",) * 2,
        ("<https://x.org|label>", "<https://x.org|label>"),
        ("<mailto:a@b.c|a>", "<mailto:a@b.c|a>"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ("see https://x.org/a?b=1&c=2.", "see <https://x.org/a?b=1&amp;c=2>."),
        ("<!date^1^{date}|then>", "<!date^1^{date}|then>"),
        ("<<@U1>", "&lt;<@U1>"),
    ],
)  # fmt: skip
def test_posted_text_keeps_only_known_control_sequences(sent: str, stored: str) -> None:
    assert posted_text(sent) == stored


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ("@Ada Park and @Ada", "<@U2> and <@U1>"),
        ("@Adam @nobody a@Ada", "@Adam @nobody a@Ada"),
        ("@here @channel @everyone @hereabouts", "<!here> <!channel> <!everyone> @hereabouts"),
        ("#general #none", "<#C1|> #none"),
        ("<@U1> stays", "<@U1> stays"),
        ("https://x.org!", "<https://x.org>!"),
    ],
)
def test_typed_text_becomes_mentions_and_escapes(typed: str, sent: str) -> None:
    assert typed_text(typed, PEOPLE, {"general": "C1"}) == sent


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("<@U1> <@U9|Bob> <@U9> <#C1|> <#C9>", "@Ada @Bob @U9 #general #C9"),
        ("<!here> <!subteam^S1|@team> <!date^1^{date}|then>", "@here @team then"),
        ("<https://x|label> <https://x> <mailto:a@b|a@b>", "label https://x a@b"),
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
    ],
)
def test_readable_text_has_names_and_labels(text: str, readable: str) -> None:
    assert read(text) == readable


@given(st.text())
def test_typed_text_is_readable_unchanged(typed: str) -> None:
    assert read(typed_text(typed, {}, {})) == typed


@given(st.text())
def test_escaped_text_posts_unchanged(text: str) -> None:
    assert posted_text(escape(text), link=False) == escape(text)


@given(st.text(alphabet="<>&@#!*_~`:|[]() \nabhttps://U1C1-é"))
def test_any_text_becomes_rich_text_without_losing_words(text: str) -> None:
    block = rich_text(posted_text(text), "b")[0]

    assert block["type"] == "rich_text"
    assert str(block).count("é") >= text.count("é") or "`" in text or "|" in text


def test_styles_links_and_mentions_become_elements() -> None:
    assert sections("*bold* _it_ ~no~ `x < y` :tada: <https://x|label> <@U1> &amp; 2*3*4") == [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "bold", "style": {"bold": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "it", "style": {"italic": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "no", "style": {"strike": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "x < y", "style": {"code": True}},
                {"type": "text", "text": " "},
                {"type": "emoji", "name": "tada"},
                {"type": "text", "text": " "},
                {"type": "link", "url": "https://x", "text": "label"},
                {"type": "text", "text": " "},
                {"type": "user", "user_id": "U1"},
                {"type": "text", "text": " & 2*3*4"},
            ],
        }
    ]


def test_quotes_and_code_fences_are_separate_elements() -> None:
    assert sections("said\n&gt; one\n&gt; two\n```\na &lt; b\n```\nend") == [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "said"}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "one\ntwo"}]},
        {
            "type": "rich_text_preformatted",
            "elements": [{"type": "text", "text": "a < b"}],
            "border": 0,
        },
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "end"}]},
    ]

"""People read authors and texts in each platform's messages."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.app.demo.reading import bare, in_order, read
from bridge.sandbox.feed import LocalMessage


def local_message(platform: str, raw: dict[str, Any], **changes: Any) -> LocalMessage:
    fields: dict[str, Any] = {
        "platform": platform,
        "workspace": "W",
        "channel": "C",
        "id": "1",
        "author": "Bridge",
        "author_id": "B",
        "bot": True,
        "text": raw.get("content", raw.get("text", "")),
        "time": "2026-11-21T12:00:00Z",
        "raw": raw,
    }
    return LocalMessage.model_validate(fields | changes)


_TEAMS = "**A &amp; B**\n\n**b** &#42;s&#42;<br><s>x</s>"
_RICH = {
    "type": "rich_text",
    "elements": [
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said"}]},
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "2 * 3", "style": {"bold": True}},
                {"type": "link", "url": "https://x.example"},
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("message", "author", "text"),
    [
        (local_message("slack", {"blocks": [_RICH]}), "Bridge", "said\n2 * 3https://x.example\n"),
        (local_message("slack", {"text": "joined"}), "Bridge", "joined"),
        (local_message("discord", {"content": "**b** \\*s\\* `c`\n> q"}), "Bridge", "b *s* c\nq"),
        (
            local_message("teams", {"text": _TEAMS, "textFormat": "markdown"}),
            "A & B",
            "b *s*\nx",
        ),
        (local_message("teams", {"text": "**plain** <b>"}), "Bridge", "**plain** <b>"),
    ],
)  # fmt: skip
def test_reading_removes_markup(message: LocalMessage, author: str, text: str) -> None:
    read_message = read(message)

    assert (read_message.author, read_message.text) == (author, text)


def test_spaces_and_signs_of_lists_make_no_difference() -> None:
    assert bare("- one\n- two\n\n> three") == bare("• one\n• two\nth\u200bree") == "onetwothree"
    assert bare("12. twelve") == "twelve"
    assert bare("Cl\u200ayde") == "Clyde"


def test_replies_are_below_their_root() -> None:
    messages = [
        local_message("discord", {"content": text}, id=own, thread=thread)
        for own, thread, text in (
            ("1", None, "root"), ("2", None, "other"), ("3", "1", "answer"), ("4", "9", "orphan")
        )
    ]  # fmt: skip

    assert [read_message.id for read_message in in_order(messages)] == ["1", "3", "2", "4"]

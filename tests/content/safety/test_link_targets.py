"""Links in what agents say tell where they lead."""

from __future__ import annotations

import pytest

from bridge.content.safety.link_targets import message_with_visible_targets
from bridge.uacs import Actor, ContentPart, Message, TextPart


def rewritten(text: str, *, always: bool = True) -> str:
    part = TextPart(text=text)
    message = Message(
        message_id="agent:helper:1",
        timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id="agent:helper", role="assistant"),
        content=(part,),
    )
    new_part: ContentPart = message_with_visible_targets(message, always=always).content[0]
    assert isinstance(new_part, TextPart)
    return new_part.text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", "plain"),
        ("https://a.example/x", "https://a.example/x"),
        (
            "[https://a.example/x](https://a.example/x)",
            "[https://a.example/x](https://a.example/x)",
        ),
        ("[x@a.example](mailto:x@a.example)", "[x@a.example](mailto:x@a.example)"),
        ("see [here](https://evil.example/?d=1)!", "see here (<https://evil.example/?d=1>)!"),
        (
            "[https://good.example](https://evil.example)",
            "https://good.example (<https://evil.example>)",
        ),
        ("![cat](https://evil.example/p.png?d=1)", "cat (<https://evil.example/p.png?d=1>)"),
        ("- a\n- [**b**](https://e.example)", "- a\n- **b** (<https://e.example>)"),
        ("| a |\n|---|\n| [b](https://e.example) |", "| a |\n| --- |\n| b (<https://e.example>) |"),
        ("`[code](https://e.example)`", "`[code](https://e.example)`"),
    ],
)
def test_a_link_is_followed_by_its_address(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[here](https://a.example)", "[here](https://a.example)"),
        ("[https://a.example](https://a.example/x)", "[https://a.example](https://a.example/x)"),
        ("[www.a.example](https://a.example/x)", "[www.a.example](https://a.example/x)"),
        (
            "[https://good.example/x](https://evil.example)",
            "https://good.example/x (<https://evil.example>)",
        ),
        ("[www.good.example](https://evil.example)", "www.good.example (<https://evil.example>)"),
    ],
)
def test_in_a_persons_text_only_misleading_links_show_their_address(
    source: str, expected: str
) -> None:
    assert rewritten(source, always=False) == expected


def test_showing_link_targets_twice_changes_nothing_more() -> None:
    once = rewritten("[a](https://e.example/?d=1) and [b](mailto:b@e.example)")

    assert rewritten(once) == once

"""docs/cards.md has every node with its fields and an example that is a card."""

from __future__ import annotations

import re

import pytest

from bridge.content.cards.json import card_from_json, card_schema
from tests.app.cards_page import EXAMPLES, PAGE, page

TEXT = PAGE.read_text("utf-8")


def _apart_from_platforms(text: str) -> str:
    """The page without the platforms' forms, which change with their writers."""
    return re.sub(r"^\| (?:slack|discord|teams) \|.*\n", "", text, flags=re.MULTILINE)


def test_the_page_is_current() -> None:
    assert _apart_from_platforms(TEXT) == _apart_from_platforms(page()), (
        "write it anew: python -m tests.app.cards_page"
    )


def test_every_type_has_a_heading_and_every_field_a_line() -> None:
    for name, kind in card_schema()["$defs"].items():
        if "properties" not in kind:
            continue
        heading = kind["properties"].get("type", {}).get("const", name)
        section = TEXT.split(f"\n### {heading}\n")[1].split("\n### ")[0]

        assert [
            field
            for field in kind["properties"]
            if field != "type" and f"| `{field}` |" not in section
        ] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_a_card(name: str) -> None:
    (node,) = card_from_json({"nodes": [EXAMPLES[name]]}).nodes

    assert node.type == name

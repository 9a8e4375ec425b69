"""Names that look alike, and names that are cut."""

from __future__ import annotations

import pytest

from bridge.content.text.look_alikes import skeleton
from bridge.content.text.names import NAME_LIMIT, cut_name, display_name, name_with_mark
from bridge.content.text.split import utf16_length

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ann", "ann"),
        ("Ann", "\u0410nn"),
        ("admin", "\u0430dm\u0456n"),
        ("Alice", "AIice"),
        ("Bob", "B0b"),
        ("Kim", "Kirn"),
        ("Ann Lee", "Ann\u3164Lee"),
        ("Ann", "A\u200d\ufe0fn\U000e0061n"),
        ("Ann", "\U0001d400\U0001d427\U0001d427"),
        ("Ann (Slack)", "Ann [SIack]"),
        ("Zo\u00eb", "Zoe\u0308"),
        ("Ann", "\u1d00\u0274\u0274"),
        ("Ann", "\U0001f170\U0001f15d\U0001f1f3"),
        ("Ann", "Ann \u2714\U0001f916"),
        ("Ann", "An\u20ddn\u2800"),
        ("Bo\u0111", "B\u00f8d"),
    ],
)
def test_names_that_look_alike_have_the_same_skeleton(name: str, other: str) -> None:
    assert skeleton(name) == skeleton(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [("Ann", "Anna"), ("Ann", "Ann (Slack)"), ("\u738b", "\u6c6a"), ("\U0001f98a", "\U0001f43c")],
)
def test_names_that_look_different_have_different_skeletons(name: str, other: str) -> None:
    assert skeleton(name) != skeleton(other)
    assert skeleton("...") != ""


@pytest.mark.parametrize(
    "character",
    [FAMILY, "e\u0301", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "\u0915\u094d\u0937\u093f"],
)
@pytest.mark.parametrize("limit", [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31])
def test_a_name_is_never_cut_inside_a_character(character: str, limit: int) -> None:
    cut = cut_name(character * 40, limit)

    assert utf16_length(cut) <= limit
    whole = cut.removesuffix("\u2026")
    assert whole == character * (len(whole) // len(character))
    assert limit - utf16_length(cut) < utf16_length(character)


def test_a_long_name_keeps_its_suffix() -> None:
    assert name_with_mark("Ann", "Slack") == "Ann (Slack)"
    marked = name_with_mark(FAMILY * 20, "Slack")
    assert marked.endswith(f"{FAMILY}\u2026 (Slack)")
    assert utf16_length(marked) <= 76


@pytest.mark.parametrize(
    "name",
    [
        "\u2800",
        "\u034f\u034f",
        "\u115f\u1160",
        "\uffa0",
        "\U000e0041",
        "\ufe00",
        "\u0301",
        "\u20dd",
    ],
)
def test_an_invisible_name_counts_as_missing(name: str) -> None:
    assert display_name(name, "U01") == "U01"


def test_stacked_accents_of_a_name_are_limited() -> None:
    assert display_name("A" + "\u0301" * 300 + "nn", "U01") == "A" + "\u0301" * 4 + "nn"


def test_names_from_the_router_are_cut_between_characters() -> None:
    name = display_name("e\u0301" * 500, "U1")

    assert len(name) <= NAME_LIMIT
    assert name.endswith("e\u0301\u2026")

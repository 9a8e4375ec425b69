"""A file's name is safe on any disk and in any header, and still tells what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.media.file_names import MAX_LENGTH, safe_file_name


@pytest.mark.parametrize(
    ("given_name", "safe"),
    [
        ("holiday.jpg", "holiday.jpg"),
        ("Résumé  2026 ☕.pdf", "Résumé 2026 ☕.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\a.txt", "a.txt"),
        ("folder/", "folder"),
        ('a"b;c\r\nSet-Cookie: x=y.txt', "a_b;cSet-Cookie_ x=y.txt"),
        ("a\x00b\x1b[31m.txt", "ab[31m.txt"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("half \ud800 sign", "half sign"),
        ("..hidden", "hidden"),
        ("name. . .", "name"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console.txt", "console.txt"),
        ("100%<b>?.txt", "100__b__.txt"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),
    ],
)
def test_a_file_name_is_one_safe_line(given_name: str, safe: str) -> None:
    assert safe_file_name(given_name) == safe


@pytest.mark.parametrize(
    "nothing", ["", "   ", "...", "/", "\u200b\u202e", "\x00", "???", "\u200d"]
)
def test_a_file_without_a_name_is_named_after_its_type(nothing: str) -> None:
    types = ("image/png", "audio/x-odd", "", "text/csv")

    names = [safe_file_name(nothing, media_type) for media_type in types]

    assert names == ["image.png", "audio", "file", "file.csv"]


def test_a_long_file_name_keeps_its_extension() -> None:
    assert safe_file_name("n" * 500 + ".jpeg") == "n" * (MAX_LENGTH - 5) + ".jpeg"
    assert safe_file_name("é" * 500 + ".jpeg") == "é" * 97 + ".jpeg"
    assert safe_file_name("n" * (MAX_LENGTH - 1) + ". n") == "n" * (MAX_LENGTH - 1)
    assert safe_file_name("x." + "y" * 500) == "x." + "y" * (MAX_LENGTH - 2)


@given(st.text(max_size=300))
def test_a_safe_file_name_is_unchanged_when_it_is_cleaned_again(name: str) -> None:
    safe = safe_file_name(name)

    assert safe == safe_file_name(safe)
    assert 0 < len(safe) <= MAX_LENGTH
    assert len(safe.encode()) <= 200
    assert not set(safe) & set('/\\<>:"|?*%\r\n\t\x00')
    assert safe.strip(". ") == safe

"""What a reader accepts: globs, names, required parts, and whether one's output feeds another."""

from __future__ import annotations

import re
from collections.abc import Mapping

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.messages.negotiation import (
    Accepted,
    BodySchema,
    faults_of,
    incompatibilities,
    is_name,
    list_parts,
    part_named,
)
from bridge.content.text.globs import covers, matches
from bridge.errors import InvalidData
from bridge.uacs import Message, read_message

CARD = "application/vnd.uacs.card+json"
TEXT = {"type": "text", "text": "hello"}
PICTURE = {"type": "image", "media_type": "image/png", "source": {"url": "https://a.example/b.png"}}
DATA: dict[str, object] = {"type": "structured_data", "schema_id": CARD, "data": {}}


def message(*parts: Mapping[str, object], **additions: object) -> Message:
    document = {
        "message_id": "m1",
        "timestamp": "2026-11-21T12:00:00Z",
        "actor": {"id": "fake:w:u", "role": "human"},
        "content": list(parts),
        "metadata": {"uacs_bridge": {"version": 1, **additions}},
    }
    return read_message(orjson.dumps(document))


def schema(*parts: Mapping[str, object]) -> BodySchema:
    return BodySchema.model_validate({"parts": parts})


@pytest.mark.parametrize(
    ("glob", "text", "expected"),
    [
        ("image/*", "image/png", True),
        ("image/*", "image/svg/xml", False),
        ("**", "image/png", True),
        ("/sources/*", "/sources/1", True),
        ("/sources/*", "/sources/1/urls", False),
        ("/sources/**", "/sources/1/urls", True),
        ("text/{plain,markdown}", "text/markdown", True),
        ("text/{plain,markdown}", "text/html", False),
        ("{a,b{c,d}}x", "bdx", True),
        ("a{b", "a{b", True),
        ("", "", True),
        ("*", "", True),
    ],
)
def test_a_glob_matches_whole_texts(glob: str, text: str, expected: bool) -> None:
    assert matches(glob, text) is expected


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        (["image/*"], "image/png", True),
        (["image/png"], "image/*", False),
        (["image/*", "text/*"], "{image,text}/*", True),
        (["a*", "b*"], "*", False),
        (["*a*", "*b*"], "*{a,b}*", True),
        (["/s/**"], "/s/*/u", True),
        (["/s/*"], "/s/**", False),
        ([], "x", False),
    ],
)
def test_covers_compares_the_texts_that_globs_match(
    wide: list[str], narrow: str, expected: bool
) -> None:
    assert covers(wide, narrow) is expected


globs = st.text(alphabet="ab/*", max_size=6)


@given(globs, globs, st.text(alphabet="ab/c", max_size=6))
def test_a_covering_glob_matches_every_text_of_the_covered_glob(
    wide: str, narrow: str, text: str
) -> None:
    if covers([wide], narrow) and matches(narrow, text):
        assert matches(wide, text)


@given(globs, st.text(alphabet="ab/", max_size=6))
def test_a_glob_matches_the_same_texts_as_its_regular_expression(glob: str, text: str) -> None:
    pieces = re.split(r"(\*\*+|\*)", glob)
    written = "".join(
        ".*" if piece.startswith("**") else "[^/]*" if piece == "*" else re.escape(piece)
        for piece in pieces
    )

    assert matches(glob, text) is bool(re.fullmatch(written, text))


def test_globs_that_are_too_complex_are_refused() -> None:
    with pytest.raises(InvalidData, match="alternatives"):
        matches("{a,b}" * 20, "a")


@pytest.mark.parametrize("name", ["/a", "/foo/bar.png", "/a-b/_c.1"])
def test_a_name_is_an_absolute_path(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "/", "a", "/a/", "//a", "/a//b", "/ä", "/a b", "/a\n"])
def test_a_text_that_is_no_absolute_path_is_no_name(name: str) -> None:
    assert not is_name(name)


def test_every_part_must_match_an_entry() -> None:
    sent = message(TEXT, PICTURE)

    assert faults_of(sent, schema({"content_type": "text/*"}, {"content_type": "image/*"})) == ()
    assert faults_of(sent, schema({"content_type": "text/*"})) == (
        "content[1], image/png, is not accepted",
    )


def test_a_required_part_must_be_present() -> None:
    accepted = schema({"content_type": "text/*"}, {"content_type": "audio/*", "required": True})

    assert faults_of(message(TEXT), accepted) == ("a part 'audio/*' is required, and missing",)


def test_schema_ids_of_structured_data_are_matched() -> None:
    card = schema({"content_type": "application/json", "schema_id": "application/vnd.uacs.*"})
    other = schema({"content_type": "application/json", "schema_id": "application/vnd.other+json"})

    assert faults_of(message(DATA), card) == ()
    assert faults_of(message(DATA), other) == (
        f"content[0], application/json of schema {CARD!r}, is not accepted",
    )


def test_a_fallback_may_be_accepted_instead_of_its_payload() -> None:
    sent = message(DATA, TEXT, fallbacks={"0": [1]})

    assert faults_of(sent, schema({"content_type": "text/*"})) == ()
    assert faults_of(sent, schema({"schema_id": CARD})) == ()
    assert len(faults_of(sent, schema({"content_type": "image/*"}))) == 1


def test_part_names_are_matched_and_must_be_unique_paths() -> None:
    sent = message(TEXT, PICTURE, PICTURE, parts={"1": {"path": "/s/1"}, "2": {"path": "/s/1"}})
    accepted = schema({"name": "/s/*"}, {"content_type": "text/*"})

    assert faults_of(sent, accepted) == ("content[2] is named '/s/1', as another part is",)
    bad = message(TEXT, parts={"0": {"path": "no path"}})
    assert faults_of(bad, accepted) == ("content[0] is named 'no path', which is no absolute path",)


def test_parts_are_listed_and_found_by_name() -> None:
    sent = message(
        TEXT, PICTURE, DATA, parts={"1": {"path": "/s/1.png"}, "2": {"path": "/s/deep/2"}}
    )

    assert [part.index for part in list_parts(sent, "/s/*")] == [1]
    assert [part.index for part in list_parts(sent, "/s/**")] == [1, 2]
    named = part_named(sent, "/s/deep/2")
    assert named is not None
    assert named.part is sent.content[2]
    assert part_named(sent, "/s") is None


def test_an_output_is_compatible_with_an_input_that_accepts_all_of_it() -> None:
    text = schema({"content_type": "text/plain", "required": True})
    chat = schema({"content_type": "text/*", "required": True}, {"content_type": "image/*"})

    assert incompatibilities(text, chat) == ()
    assert incompatibilities(chat, text) == (
        "a part 'text/*' may be given, and not all of it is accepted",
        "a part 'image/*' may be given, and not all of it is accepted",
        "a part 'text/plain' is required, and not always given",
    )


def test_an_entry_may_be_covered_by_several_entries_together() -> None:
    output = schema({"content_type": "{text,image}/*", "name": "/out/**"})

    assert (
        incompatibilities(output, schema({"content_type": "text/*"}, {"content_type": "image/*"}))
        == ()
    )
    assert incompatibilities(output, schema({"name": "/out/*"})) != ()
    assert incompatibilities(schema(Accepted().model_dump()), schema({"name": "/**"})) != ()

"""A file that is parsed in pieces has the value that it has as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bridge.app.settings import yaml_sections
from bridge.app.settings.yaml_file import parsed_yaml
from bridge.app.settings.yaml_sections import YamlReader
from bridge.errors import ConfigError

FILE = Path("bridge.yaml")
USUAL = """
# the bridge
accounts: {a: {platform: discord}}
rooms:

  # the first
  one:
    members: [{account: a, channel: general}]
  two: {members: [{account: a, channel: other}]}
  three:
    members:
    - account: a
      channel: third   # and last
admins: [discord:1:*]
"""
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES | st.text("&*'\"[]{}: \n#-?|>", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def whole(text: str) -> object:
    try:
        return parsed_yaml(text, FILE)
    except ConfigError as error:
        return str(error)


def in_pieces(reader: YamlReader, text: str) -> object:
    try:
        return reader.parse(text)
    except ConfigError as error:
        return str(error)


def rooms_of(value: Any) -> Any:
    return value["rooms"]


def test_an_entry_that_did_not_change_is_the_same_object() -> None:
    reader = YamlReader(FILE)
    before = rooms_of(reader.parse(USUAL))
    changed = USUAL.replace("other", "another").replace("discord:1:*", "discord:2:*")

    value: Any = reader.parse(changed)

    assert value == whole(changed)
    assert [value["rooms"][name] is before[name] for name in before] == [True, False, True]


CHANGES = {
    "renamed": ("  two:", "  deux:"),
    "given twice": ("  two:", "  one:"),
    "given twice in quotes": ("  two:", '  "one":'),
    "in quotes": ("  two:", "  'two':"),
    "a number": ("  two:", "  2:"),
    "a question": ("  two:", "  ? two\n  :"),
    "removed": ("  two: {members: [{account: a, channel: other}]}\n", ""),
    "an anchor": ("  two: {", "  two: &x {"),
    "an alias of nothing": ("{members: [{account: a, channel: other}]}", "*x"),
    "an open bracket": ("other}]}", "other}"),
    "a bracket over entries": ("  two: {members: [{", "  two: {members: [{\n  "),
    "a quote over entries": ("channel: other", "channel: 'oth\n  three: er'"),
    "an open quote": ("channel: other", "channel: 'other"),
    "a block of text": ("  three:", "  text: |\n    rooms:\n     one: x\n\n  three:"),
    "a list": ("  one:", "  - one:"),
    "deeper": ("  two:", "    two:"),
    "less deep": ("  two:", " two:"),
    "a tab": ("  two:", "\ttwo:"),
    "a second section": ("admins:", "rooms:\n  four: {}\nadmins:"),
    "a section in a quote": ("admins:", "note: 'a\nrooms:\n  b: c'\nadmins:"),
    "a document's end": ("admins:", "...\n---\nadmins:"),
    "an empty section": ("rooms:\n", "rooms:\n\nother:\n"),
    "a section in a line": ("rooms:\n", "rooms: {x: {}}\nother:\n"),
    "a comment": ("  # the first", "# at the edge\n  # the first"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_has_the_value_that_it_has_as_a_whole(change: str) -> None:
    reader = YamlReader(FILE)
    reader.parse(USUAL)
    old, new = CHANGES[change]
    text = USUAL.replace(old, new, 1)

    assert in_pieces(reader, text) == whole(text)
    assert in_pieces(reader, USUAL) == whole(USUAL)


def test_an_alias_is_what_its_anchor_is_now() -> None:
    text = "x: &x {members: []}\nrooms:\n  one: *x\n  two: *x\n"
    reader = YamlReader(FILE)
    reader.parse(text)

    assert rooms_of(reader.parse(text.replace("[]", "[1]"))) == {
        "one": {"members": [1]},
        "two": {"members": [1]},
    }


@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4),
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4),
    st.sampled_from([False, None]),
)
def test_any_file_has_the_value_that_it_has_as_a_whole(
    before: dict[str, Any], after: dict[str, Any], style: bool | None
) -> None:
    reader = YamlReader(FILE)
    for rooms in (before, before | after, after):
        text = yaml.safe_dump(
            {"a": rooms, "rooms": rooms, "z": 1}, default_flow_style=style, allow_unicode=True
        )
        assert in_pieces(reader, text) == whole(text)


def test_a_file_most_of_which_changed_is_parsed_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []

    def noted(text: str, path: Path) -> object:
        parsed.append(text)
        return parsed_yaml(text, path)

    monkeypatch.setattr(yaml_sections, "parsed_yaml", noted)
    names = range(300)
    reader = YamlReader(FILE)
    reader.parse("rooms:\n" + "".join(f"  room-{n}: {{a: 1}}\n" for n in names))
    reader.parse("rooms:\n" + "".join(f"  room-{n}: {{a: 2}}\n" for n in names))

    assert parsed == []

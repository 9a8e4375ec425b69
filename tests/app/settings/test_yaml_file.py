"""Files that are built from events hold what YAML's own loader builds of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bridge.app.settings import yaml_file
from bridge.app.settings.yaml_file import parsed_yaml
from bridge.errors import ConfigError

FILE = Path("bridge.yaml")
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS,
    st.sampled_from(["yes", "on", "~", "1_000", "0x1f", "1e3", ".inf", "12:30", "<<", "=", "null"]),
)  # fmt: skip
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.sampled_from([True, False, None]))
def test_a_file_is_read_as_it_was_written(value: object, style: bool | None) -> None:
    text = yaml.safe_dump(value, default_flow_style=style, allow_unicode=True)

    assert parsed_yaml(text, FILE) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: 1}\nc: *x",
        "a: &x {b: 1}\nc: {<<: *x, d: 2}",
        "a: !!str 5",
        "a: 2026-01-31",
        "1: one",
        "yes: one",
        "? [a]\n: b",
        "a: !!binary aGk=",
        "plain",
        "'a'",
        "",
        "# nothing",
        "---\n- a\n...",
        "a: 1:30",
        "a: |\n  b\n  c\nd: >-\n  e\n  f",
        'a: "\\u00e9"',
        "{a: [b, {c: d}], e: }",
    ],
)
def test_what_only_the_loader_builds_is_left_to_it(text: str) -> None:
    def expected() -> object:
        try:
            return yaml.load(text, yaml_file.FileLoader) or {}
        except yaml.YAMLError:
            return ConfigError

    def read() -> object:
        try:
            return parsed_yaml(text, FILE)
        except ConfigError:
            return ConfigError

    assert read() == expected()


@pytest.mark.parametrize(
    "text", ["a: 1\na: 2", "- {b: 1, b: 2}", "a: 2026-02-30", "a: b\n---\nc: d", "a: [", "a: \x07"]
)
def test_what_the_loader_rejects_is_rejected(text: str) -> None:
    with pytest.raises(ConfigError, match=r"bridge\.yaml line \d"):
        parsed_yaml(text, FILE)


def test_values_beyond_the_deepest_level_are_rejected() -> None:
    with pytest.raises(ConfigError, match="more than 100 levels deep"):
        parsed_yaml("[" * 101 + "]" * 101, FILE)

    assert parsed_yaml("[" * 99 + "]" * 99, FILE)

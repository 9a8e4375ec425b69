"""Adaptive Card templates: known data is inserted; other expressions stay and are reported."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from bridge.content.cards.rendering import Payload
from bridge.errors import CodecError
from connectors.teams.cards import read_payload, unexpanded
from connectors.teams.cards.templating import expand, unexpanded_in
from tests.connectors.teams.cards import ADAPTIVE, Json, card, prose, read
from tests.examples import examples

CORPUS = os.environ.get("UACS_CORPUS")


def expanded_text(text: JsonValue, data: JsonValue = None) -> JsonValue:
    """Return the expansion of one text."""
    return expand({"text": text}, data)[0].get("text")


# --- data -----------------------------------------------------------------------------------


def test_names_are_looked_up_in_the_data() -> None:
    data: JsonValue = {"name": "Ann", "age": 41, "tags": ["a", "b"], "home": {"city": "Rome"}}

    assert expanded_text("${name} (${age}), ${tags[1]}, ${home.city}, ${home['city']}", data) == (
        "Ann (41), b, Rome, Rome"
    )


@pytest.mark.parametrize("value", [41, 1.5, True, None, ["a"], {"b": 1}, "text"])
def test_a_lone_expression_keeps_the_type_of_its_value(value: JsonValue) -> None:
    assert expanded_text("${x}", {"x": value}) == value


def test_a_doubled_dollar_sign_before_an_expression_is_one_dollar_sign() -> None:
    assert expanded_text("$${price}", {"price": 9}) == "$9"


def test_expressions_without_a_value_stay_and_are_reported() -> None:
    template: Json = {"a": "${name}", "b": ["${x}", "Hi ${name} and ${y.z}"]}

    assert expand(template, {"name": "Ann"}) == (
        {"a": "Ann", "b": ["${x}", "Hi Ann and ${y.z}"]},
        ("/b/0", "/b/1"),
    )


def test_without_data_only_constants_are_evaluated() -> None:
    assert expand({"a": "${name}", "b": "${1 + 1}"}, None) == (
        {"a": "${name}", "b": 2},
        ("/a",),
    )


def test_an_object_with_a_data_list_is_repeated_for_each_item() -> None:
    item: Json = {
        "$data": "${people}",
        "type": "TextBlock",
        "text": "${$index}: ${name} of ${$root.team}",
    }
    template = card({"type": "TextBlock", "text": "before"}, item)
    data: JsonValue = {"team": "T", "people": [{"name": "Ann"}, {"name": "Bob"}]}

    expanded, unresolved = expand(template, data)

    body = expanded["body"]
    assert isinstance(body, list)
    texts = [element["text"] for element in body if isinstance(element, dict)]
    assert texts == ["before", "0: Ann of T", "1: Bob of T"]
    assert unresolved == ()


def test_an_object_with_an_empty_data_list_is_removed() -> None:
    assert expand({"a": [{"$data": "${none}", "b": 1}]}, {"none": []}) == ({"a": []}, ())
    assert expand({"a": {"$data": "${none}", "b": 1}}, {"none": []}) == ({}, ())


def test_data_may_be_nested_and_written_in_the_template() -> None:
    template: Json = {
        "$data": {"rows": [{"cells": [1, 2]}, {"cells": [3]}]},
        "rows": [{"$data": "${rows}", "cells": [{"$data": "${cells}", "text": "${$data}"}]}],
    }

    assert expand(template, None)[0] == {
        "rows": [{"cells": [{"text": 1}, {"text": 2}]}, {"cells": [{"text": 3}]}]
    }


@pytest.mark.parametrize(
    ("when", "stays"),
    [
        ("${n > 1}", True),
        ("${n > 5}", False),
        ("${exists(m)}", False),
        ("${!exists(m)}", True),
        ("${n}", False),  # only true is true
        (True, True),
        (False, False),
    ],
)
def test_a_when_condition_keeps_or_removes_its_object(when: JsonValue, stays: bool) -> None:
    template: Json = {"items": [{"$when": when, "a": 1}]}

    assert expand(template, {"n": 2})[0] == {"items": [{"a": 1}] if stays else []}


def test_an_unsupported_when_condition_keeps_its_object() -> None:
    template: Json = {"items": [{"$when": "${isMatch(a, '.*')}", "b": 1}]}

    assert expand(template, {"a": "x"}) == (template, ("/items/0/$when",))


def test_the_host_is_available_to_templates_when_given() -> None:
    assert expand({"a": "${$host.theme}"}, {}, {"theme": "dark"}) == ({"a": "dark"}, ())
    assert expand({"a": "${$host.theme}"}, {}) == ({"a": "${$host.theme}"}, ("/a",))


# --- expressions ----------------------------------------------------------------------------

DATA: JsonValue = {
    "n": 7, "f": 2.5, "s": "Hello World", "e": "", "t": True, "z": None,
    "list": [3, 1, 2], "people": [{"name": "Bob", "age": 3}, {"name": "Ann", "age": 5}],
    "day": "2024-03-01T08:05:09.250Z", "text": '{"a": {"b": 1}}',
}  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # signs
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("-7 / 2", -3), ("7.0 / 2", 3.5),
        ("7 % 4", 3), ("2 ^ 3 ^ 2", 512), ("-n + 1", -6), ("'a' + 1", "a1"), ("'a' & n", "a7"),
        ("n == 7", True), ("n != 7", False), ("'7' == n", False), ("n >= 7 && t", True),
        ("!t || n < 3", False), ("n > 5 ? 'big' : 'small'", "big"), ("z ?? 'none'", "none"),
        ("'a' < 'b'", True), ("[1, 'x'][1]", "x"), ("{a: 1, 'b': 2}.b", 2),
        ("`n is ${n + 1}`", "n is 8"), (r"'it\'s'", "it's"), ("null == z", True),
        # choosing
        ("if(t, 'yes', 'no')", "yes"), ("if(missing, 'yes', 'no')", "no"), ("and(t, 0)", True),
        ("or(false, z)", False), ("not(z)", True), ("equals(n, 7.0)", True),
        ("empty(e)", True), ("coalesce(z, missing, 'x')", "x"), ("exists(s)", True),
        # text
        ("concat('a', n, t)", "a7true"), ("length(s)", 11), ("toUpper(s)", "HELLO WORLD"),
        ("toLower(s)", "hello world"), ("trim('  x ')", "x"), ("substring(s, 6, 5)", "World"),
        ("replace(s, 'o', '0')", "Hell0 W0rld"), ("replaceIgnoreCase('aAb', 'a', 'x')", "xxb"),
        ("split('a,b', ',')", ["a", "b"]), ("indexOf(s, 'o')", 4), ("lastIndexOf(s, 'o')", 7),
        ("startsWith(s, 'He')", True), ("endsWith(s, 'x')", False), ("countWord(s)", 2),
        ("addOrdinal(22)", "22nd"), ("addOrdinal(12)", "12th"), ("titleCase('a bc')", "A Bc"),
        ("sentenceCase('aB C')", "Ab c"), ("string(n)", "7"), ("string(list)", "[3,1,2]"),
        ("eol()", "\n"), ("reverse('abc')", "cba"),
        # numbers
        ("add(1, 2, 3)", 6), ("sub(5, 2)", 3), ("mul(2, 3)", 6), ("div(9, 2)", 4),
        ("mod(9, 4)", 1), ("exp(2, 10)", 1024), ("min(list)", 1), ("max(1, f, 2)", 2.5),
        ("sum(list)", 6), ("average(list)", 2.0), ("round(2.5)", 3), ("round(3.14159, 2)", 3.14),
        ("floor(f)", 2), ("ceiling(f)", 3), ("abs(-3)", 3), ("range(2, 3)", [2, 3, 4]),
        ("formatNumber(1234567.891, 2)", "1,234,567.89"), ("formatNumber(5, 0)", "5"),
        # collections
        ("count(list)", 3), ("contains(list, 2)", True), ("contains(s, 'World')", True),
        ("join(list, ', ', ' and ')", "3, 1 and 2"), ("first(list)", 3), ("last(s)", "d"),
        ("take(list, 2)", [3, 1]), ("skip(list, 2)", [2]), ("subArray(list, 1, 2)", [1]),
        ("union(list, [1, 9])", [3, 1, 2, 9]), ("intersection(list, [1, 9])", [1]),
        ("unique([1, 1, 2])", [1, 2]), ("flatten([1, [2, [3]]])", [1, 2, 3]),
        ("sortBy(list)", [1, 2, 3]), ("sortByDescending(list)", [3, 2, 1]),
        ("select(people, p, p.name)", ["Bob", "Ann"]), ("foreach(list, x => x * n)", [21, 7, 14]),
        ("where(list, x, x > 1)", [3, 2]), ("any(list, x, x > 2)", True),
        ("all(list, x, x > 2)", False), ("sortBy(people, 'name')[0].age", 5),
        ("indicesAndValues(['a'])", [{"index": 0, "value": "a"}]),
        ("sum(select(people, p, if(p.age > 3, p.age, 0)))", 5),
        # objects
        ("json(text).a.b", 1), ("getProperty(people[0], 'age')", 3),
        ("setProperty(people[0], 'age', 4).age", 4), ("merge({a: 1}, {b: 2})", {"a": 1, "b": 2}),
        # conversions and kinds
        ("int('12')", 12), ("float('1.5')", 1.5), ("bool('false')", False), ("isString(s)", True),
        ("isInteger(n)", True), ("isArray(list)", True), ("isObject(z)", False),
        ("base64('a')", "YQ=="), ("base64ToString('YQ==')", "a"), ("uriComponent('a b')", "a%20b"),
        ("uriHost('https://a.example/x?y=1')", "a.example"), ("createArray(1, n)", [1, 7]),
        # moments
        ("formatDateTime(day, 'yyyy-MM-dd HH:mm:ss')", "2024-03-01 08:05:09"),
        ("formatDateTime(day, 'ddd, MMMM d, h:mm tt')", "Fri, March 1, 8:05 AM"),
        ("formatDateTime(day)", "2024-03-01T08:05:09.250Z"), ("dayOfWeek(day)", 5),
        ("formatEpoch(0, 'yyyy')", "1970"), ("addDays(day, 1, 'dd')", "02"),
        ("formatTicks(ticks(day), 'HH')", "08"), ("year(day)", 2024), ("date(day)", "3/01/2024"),
        ("addToTime('2024-01-31T00:00:00Z', 1, 'Month', 'MM-dd')", "02-29"),
        ("startOfDay(day, 'HH:mm')", "00:00"), ("dateTimeDiff(day, day)", 0),
    ],
)  # fmt: skip
def test_expressions_have_the_published_functions(expression: str, value: JsonValue) -> None:
    assert expanded_text(f"${{{expression}}}", DATA) == value


@pytest.mark.parametrize(
    "expression",
    ["utcNow()", "rand(1, 2)", "newGuid()", "isMatch(s, '.*')", "unknown(1)", "1 +", "(", "a b",
     "'open", "1 / 0", "substring(s, 5, 99)", "int('x')", "range(0, 999999999)", "json('{')",
     "formatDateTime('yesterday')", "9 ^ 9 ^ 9", "[1, 2", "x => 1", "n.length(", ""],
)  # fmt: skip
def test_time_random_and_invalid_expressions_stay_unchanged(expression: str) -> None:
    text = f"a ${{{expression}}} b"

    assert expand({"text": text}, DATA) == ({"text": text}, ("/text",))


@pytest.mark.parametrize("text", ["${", "${a", "a } b", "$ {a}", "{{a}}"])
def test_text_without_a_valid_expression_is_unchanged(text: str) -> None:
    assert expand({"text": text}, DATA) == ({"text": text}, ())


# --- in cards -------------------------------------------------------------------------------

TEMPLATE = card({"type": "TextBlock", "text": "Hello ${name}"})


def test_a_template_that_comes_with_its_data_is_read_as_its_card() -> None:
    assert read({"template": TEMPLATE, "data": {"name": "Ann"}}).nodes == (prose("Hello Ann"),)
    assert read({**TEMPLATE, "$data": {"name": "Ann"}}).nodes == (prose("Hello Ann"),)


def test_a_template_without_data_stays_unexpanded_and_is_reported() -> None:
    payload = Payload(ADAPTIVE, TEMPLATE, "/attachments/0/content")

    assert read_payload(payload).nodes == (prose("Hello ${name}"),)
    assert unexpanded(payload) == ("/attachments/0/content/body/0/text",)


def test_only_expressions_without_data_are_reported_as_unexpanded() -> None:
    native: Json = {"template": card("${a}", "${b}"), "data": {"a": "the data's own ${x}"}}

    assert unexpanded(Payload(ADAPTIVE, native)) == ("/body/1",)
    assert unexpanded(Payload(ADAPTIVE, card("${rs:name}"))) == ()


# --- total ----------------------------------------------------------------------------------

PARTS = st.sampled_from([
    "${", "}", "a", ".", "[", "]", "(", ")", "+", "-", "^", "*", "'", '"', "`", "=>", ",", " ", "1",
    "select", "if", "$data", "$index", "concat", "range", "$root", "x", "!", "{", ":", "?", "9e99",
    "repeat", "sortBy", "join", "json", "formatNumber", "\\",
])  # fmt: skip
TEXTS = st.lists(PARTS, max_size=30).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "x", "$data", "$when"]), inner, max_size=3)
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "x", "$data", "$when", "items"]), VALUES)


@settings(max_examples=examples(200))
@given(OBJECTS, VALUES)
def test_any_template_is_expanded_or_refused(template: Json, data: JsonValue) -> None:
    try:
        expanded, unresolved = expand(template, data)
    except CodecError:
        return
    json.dumps(expanded)
    assert expand(template, data) == (expanded, unresolved)


@settings(max_examples=examples(200))
@given(TEXTS)
def test_any_expression_has_a_value_or_stays(source: str) -> None:
    expanded_text(f"${{{source}}}", DATA)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 1900,
        "-" * 3900,
        "!" * 3900,
        "[" * 1900,
        "1" + "+1" * 1900,
        "a" + ".b" * 1900,
        "if(t," * 700,
        "x => " * 700,
        "`${" * 900,
        "'" * 3901,
        "9" * 3900,
        "concat(" * 500,
    ],
)
def test_oversized_expressions_stay_unchanged(expression: str) -> None:
    assert expanded_text(f"a ${{{expression}}}", DATA) == f"a ${{{expression}}}"


@pytest.mark.parametrize(
    "template",
    [
        # each level ten times as many
        {"a": [{"$data": "${r}", "b": [{"$data": "${$root.r}", "c": [{"$data": "${$root.r}", "d": [
            {"$data": "${$root.r}", "e": [{"$data": "${$root.r}", "f": [
                {"$data": "${$root.r}", "g": [{"$data": "${$root.r}", "h": 1}]}]}]}]}]}]}]},
        {"a": ["${select(range(0,9999), x, select(range(0,9999), y, y))}"]},
        {"a": ["${join(select(range(0,9999), x, $root.long), $root.long)}"] * 1000},
        {"a": ["${$root.long}${$root.long}"] * 3000},
    ],
)  # fmt: skip
def test_a_template_with_an_oversized_result_is_refused_quickly(template: Json) -> None:
    data: JsonValue = {"r": list(range(10)), "long": "x" * 20_000}

    started = time.process_time()
    with pytest.raises(CodecError, match="too large"):
        expand(template, data)

    assert time.process_time() - started < 10


def test_deep_templates_are_expanded_up_to_a_limit() -> None:
    deep: JsonValue = "${a}"
    for _ in range(900):
        deep = {"x": deep}

    expanded, unresolved = expand({"top": "${a}", "deep": deep}, {"a": 1})

    assert expanded["top"] == 1
    assert unresolved == (f"/deep{'/x' * 900}",)


def test_many_unclosed_braces_take_bounded_time() -> None:
    started = time.process_time()

    assert expanded_text("${" * 500_000, {}) == "${" * 500_000
    assert unexpanded_in(["${" * 500_000]) == ()
    assert time.process_time() - started < 5


# --- real ones ------------------------------------------------------------------------------


@pytest.mark.skipif(not CORPUS, reason="UACS_CORPUS names no folder of payloads")
def test_corpus_templates_are_expanded_with_their_data() -> None:
    folder = Path(CORPUS or ".") / "adaptive"
    left: dict[str, tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.template.json")):
        data = folder / "_template_data" / path.name.replace(".template.json", ".data.json")
        if not data.exists():
            data = data.with_name(path.name.replace(".json", ".data.json"))
        if data.exists():
            template = json.loads(path.read_bytes())
            expanded, unresolved = expand(template, json.loads(data.read_bytes()))
            left[path.name] = unresolved
            read_payload(Payload(ADAPTIVE, expanded))

    assert len(left) > 15
    # Its data has no time of the day.
    assert {name: paths for name, paths in left.items() if paths} == {
        "pnp__inventory_ac-qv-inventory.template.json": ("/body/2/text",)
    }

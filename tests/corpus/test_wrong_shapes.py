"""What stands where another kind of value belongs is shown, named by a Loss, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.app.translation.translate import Translation, translate
from bridge.content.cards.codec import ReportsWrongShapes
from bridge.errors import CodecError
from bridge.model import Loss
from tests.corpus.edits import copied
from tests.corpus.examples import EXAMPLES
from tests.corpus.laws import codec_of

WORD, NUMBER = "zqmark", 7654321
WRONG: dict[type, tuple[Any, ...]] = {
    list: (WORD, NUMBER, True, {"zq": WORD}),
    dict: (WORD, NUMBER, True, [WORD]),
    str: (NUMBER, [WORD], {"zq": WORD}),
}
TARGETS = {platform: "discord" if platform == "slack" else "slack" for platform in EXAMPLES}
SHAPED = [name for name in EXAMPLES if isinstance(codec_of(name), ReportsWrongShapes)]
# How something looks, not what it says; what has no type that anybody knows is unknown, not wrong.
UNSAID = frozenset(
    (
        *("type", "@type", "style", "align", "color", "themeColor", "level", "status"),
        *("size", "weight", "fontType"),
    )
)


def translated(payload: Any, source: str) -> Translation | None:
    """None where the payload is refused."""
    try:
        return translate(payload, source=source, target=TARGETS[source])
    except CodecError:
        return None


def places(value: Any, at: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every list or object, the index or key of each of its values, and the pointer of that."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(items):
            place = f"{at}/{key}"
            yield value, key, place
            yield from places(inner, place)


def silent(payload: Any, source: str) -> Iterator[str]:
    """The visible places in which something wrong vanishes: it is neither shown nor named."""
    whole = translated(payload, source)
    for holder, key, place in places(payload):
        right = holder[key]
        if key in UNSAID or type(right) not in WRONG:
            continue
        holder[key] = None
        is_visible = _messages(translated(payload, source)) != _messages(whole)
        for wrong in WRONG[type(right)] if is_visible else ():
            holder[key] = copied(wrong)
            if (done := translated(payload, source)) and not _is_told(done, wrong, place):
                yield f"{place} = {json.dumps(wrong)}"
        holder[key] = right


def _messages(done: Translation | None) -> Any:
    return done and done.messages


def _is_told(done: Translation, wrong: Any, place: str) -> bool:
    if any(loss.path == place or loss.path.startswith(f"{place}/") for loss in done.losses):
        return True
    mark = {NUMBER: str(NUMBER), True: "true"}.get(wrong if isinstance(wrong, int) else 0, WORD)
    return mark in json.dumps(done.messages)


@pytest.mark.parametrize(
    ("source", "name"), [(source, name) for source in EXAMPLES for name in EXAMPLES[source]]
)
def test_no_wrong_value_is_dropped_silently(source: str, name: str) -> None:
    assert list(silent(copied(EXAMPLES[source][name]), source)) == []


@pytest.mark.parametrize(
    ("source", "name"), [(source, name) for source in EXAMPLES for name in EXAMPLES[source]]
)
def test_valid_payloads_have_no_wrong_shapes(source: str, name: str) -> None:
    done = translate(EXAMPLES[source][name], source=source, target=TARGETS[source])

    assert [loss for loss in done.losses if loss.kind == "wrong_shape"] == []


KEYS = st.sampled_from(
    [
        *("type", "text", "blocks", "attachments", "elements", "fields", "rows", "content"),
        *("embeds", "components", "options", "body", "items", "actions", "contentType", "data"),
    ]
)
VALUES = st.sampled_from(
    [
        *("section", "mrkdwn", "rich_text", "button", "AdaptiveCard", "TextBlock", "Container"),
        *(1, 3, 10, 17, "message", "application/vnd.microsoft.card.hero", "[1]", "{}"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | VALUES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("platform", SHAPED)
@given(native=JSON)
def test_any_json_can_be_checked_for_wrong_shapes(platform: str, native: Any) -> None:
    codec = codec_of(platform)
    assert isinstance(codec, ReportsWrongShapes)

    places = codec.wrong_shapes(native)

    assert all(loss.kind == "wrong_shape" and loss.what for loss in places)
    assert places == codec.wrong_shapes(native)


# --- the cases that showed it ---------------------------------------------------------------


def wrong(path: str, what: str) -> Loss:
    return Loss(path=path, kind="wrong_shape", what=what)


def test_blocks_that_are_no_list_are_a_loss_beside_the_text() -> None:
    payload: Any = {"text": "hi", "blocks": "not json"}

    done = translate(payload, source="slack", target="card")

    assert "hi" in json.dumps(done.messages)
    assert done.losses == (wrong("/blocks", "not json"),)


def test_a_card_body_that_is_a_number_is_a_loss() -> None:
    payload: Any = {"type": "AdaptiveCard", "body": 7}

    assert wrong("/body", "7") in translate(payload, source="teams", target="slack").losses


def test_text_that_is_a_number_is_a_loss() -> None:
    payload: Any = {"content": 7}

    assert wrong("/content", "7") in translate(payload, source="discord", target="slack").losses


def test_a_wrong_shape_that_was_read_is_no_loss() -> None:
    payload: Any = {"blocks": [{"type": "section", "text": "plain"}]}

    assert translate(payload, source="slack", target="card").losses == ()


def test_a_wrong_shape_in_a_uacs_part_has_its_path_in_the_message() -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": 7}}
    payload: Any = {
        "message_id": "m",
        "timestamp": "2026-11-21T12:00:00Z",
        "actor": {"id": "a", "role": "human"},
        "content": [
            {
                "type": "structured_data",
                "schema_id": "application/vnd.slack.blocks+json",
                "data": [section],
            }
        ],
    }

    done = translate(payload, source="uacs", target="discord")

    assert done.losses == (wrong("/content/0/data/0/text/text", "7"),)


def test_at_most_a_hundred_wrong_places_are_listed() -> None:
    payload: Any = {"blocks": [{"type": "actions", "elements": [7] * 1000}]}

    losses = translate(payload, source="slack", target="discord").losses
    named = [loss for loss in losses if loss.kind == "wrong_shape"]

    assert len(named) == 101
    assert named[-1] == wrong("/blocks", "more than 100 places")

"""Our models, our JSON Schema and the seed's schema give every document the same verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.errors import InvalidUacs
from bridge.uacs import read_conversation, read_message, write
from bridge.uacs.json_schema import json_schema_text, uacs_json_schema
from tests.examples import examples
from tests.uacs import strategies
from tests.uacs.from_schema import generated
from tests.uacs.seed_schema import DEFINITIONS, validator

OURS = uacs_json_schema()["definitions"]
SEEDS_CONVERSATION = validator(DEFINITIONS, "Conversation")
OUR_CONVERSATION = validator(OURS, "Conversation")
SEEDS_MESSAGE = validator(DEFINITIONS, "Message")
OUR_MESSAGE = validator(OURS, "Message")

DRAWN = settings(
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def _models_accept_conversation(document: Any) -> bool:
    try:
        read_conversation(json.dumps(document).encode())
    except InvalidUacs:
        return False
    return True


def _models_accept_message(document: Any) -> bool:
    try:
        read_message(json.dumps(document).encode())
    except InvalidUacs:
        return False
    return True


def test_the_schema_file_is_what_the_models_generate() -> None:
    docs = Path(__file__).parents[2] / "docs"

    assert (docs / "uacs.schema.json").read_bytes() == json_schema_text()


def test_every_definition_of_the_seed_schema_has_a_counterpart_of_the_same_name() -> None:
    assert set(DEFINITIONS) <= set(OURS)
    assert set(OURS) - set(DEFINITIONS) == {"UnknownPart"}


@DRAWN
@given(strategies.conversations)
def test_both_schemas_and_the_models_accept_every_valid_conversation(document: Any) -> None:
    assert SEEDS_CONVERSATION.is_valid(document)
    assert OUR_CONVERSATION.is_valid(document)
    assert _models_accept_conversation(document)


@DRAWN
@given(strategies.spoiled(strategies.conversations))
def test_both_schemas_and_the_models_agree_on_an_invalid_conversation(document: Any) -> None:
    verdict = SEEDS_CONVERSATION.is_valid(document)

    assert OUR_CONVERSATION.is_valid(document) == verdict
    assert _models_accept_conversation(document) == verdict


@settings(DRAWN, max_examples=examples(200))
@given(strategies.spoiled(strategies.messages))
def test_both_schemas_and_the_models_agree_on_an_invalid_message(document: Any) -> None:
    verdict = SEEDS_MESSAGE.is_valid(document)

    assert OUR_MESSAGE.is_valid(document) == verdict
    assert _models_accept_message(document) == verdict


@pytest.mark.parametrize("definitions", [DEFINITIONS, OURS], ids=["seed", "ours"])
@settings(DRAWN, max_examples=examples(40))
@given(data=st.data())
def test_documents_generated_from_one_schema_are_valid_by_the_other_and_the_models(
    definitions: dict[str, Any], data: st.DataObject
) -> None:
    document = data.draw(generated(definitions["Conversation"], definitions))

    assert SEEDS_CONVERSATION.is_valid(document)
    assert OUR_CONVERSATION.is_valid(document)
    assert _models_accept_conversation(document)


def _message_with(name: str, value: Any) -> dict[str, Any]:
    part = (
        {"type": "file", "source": value, "media_type": "x/y"} if name == "MediaSource" else value
    )
    return {
        "message_id": "m",
        "timestamp": "2026-11-21T12:00:00Z",
        "actor": value if name == "Actor" else {"id": "a", "role": "human"},
        "content": [{"type": "text", "text": ""} if name == "Actor" else part],
    }


@settings(DRAWN, max_examples=examples(200))
@given(
    st.one_of(
        strategies.uris,
        st.from_regex(r"\A[a-z]+:(//)?[a-z0-9:@/?#\[\].%!-]{0,20}\Z"),
        st.from_regex(r"\Ahttp://\[[0-9a-f:]{0,24}(:[0-9.]{5,9})?\](:[0-9]*)?/?\Z"),
        st.text(max_size=10),
    )
)
def test_both_schemas_and_the_models_agree_on_uris(url: str) -> None:
    document = _message_with("MediaSource", {"url": url})

    assert _models_accept_message(document) == SEEDS_MESSAGE.is_valid(document)


@settings(DRAWN, max_examples=examples(200))
@given(
    st.one_of(
        strategies.timestamps,
        st.from_regex(
            r"\A[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,3})?"
            r"([Zz]|[+-][0-2][0-9]:[0-6][0-9])?\Z"
        ),
        st.from_regex(r"\A2016-12-(31|30)T(23|22|00):(59|58|00):60([Zz]|[+-](00|01):(00|59|01))\Z"),
    )
)
def test_both_schemas_and_the_models_agree_on_timestamps(timestamp: str) -> None:
    document = {**_message_with("Actor", {"id": "a", "role": "tool"}), "timestamp": timestamp}

    assert _models_accept_message(document) == SEEDS_MESSAGE.is_valid(document)


@DRAWN
@given(strategies.conversations)
def test_a_conversation_survives_reading_and_writing_unchanged(document: Any) -> None:
    raw = json.dumps(document, ensure_ascii=False).encode()

    conversation = read_conversation(raw)

    again = json.loads(write(conversation))
    assert _exact(again) == _exact(document)
    assert conversation.model_dump_json().encode() == write(conversation)


def _exact(value: Any) -> str:
    """JSON with sorted keys: tells 1 from 1.0 and true, null from absent."""
    return json.dumps(value, sort_keys=True)

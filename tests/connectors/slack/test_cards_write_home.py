"""Slack's own messages keep their content when they go through the card and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from jsonschema import Draft7Validator

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import Button, Card
from bridge.content.cards.walk import actions_of, walk
from bridge.content.text.inlines import plain_inlines
from bridge.errors import CodecError
from connectors.slack.cards import read_message, write_card
from tests.connectors.slack.slack_rules import faults
from tests.connectors.slack.test_cards_write_laws import DRAWN, RENDERINGS
from tests.connectors.slack.written_cards import token
from tests.content.card_strategies import cards

CORPUS = os.environ.get("UACS_CORPUS")
pytestmark = pytest.mark.skipif(not CORPUS, reason="UACS_CORPUS names no folder of payloads")

INTERACTIVE = Rendering(token=token)
# Apps cannot post these: payloads without a block, and files.
READ_ONLY = ("native", "file")


def messages() -> Iterator[dict[str, Any]]:
    for file in sorted((Path(CORPUS or ".") / "slack").rglob("*.json")):
        stack: list[Any] = [orjson.loads(file.read_bytes())]
        while stack:
            value = stack.pop()
            if isinstance(value, list):
                stack += value
            elif isinstance(value, dict):
                stack += value.values()
                if isinstance(value.get("blocks"), list) or isinstance(
                    value.get("attachments"), list
                ):
                    yield value


def cards_and_their_returns() -> Iterator[tuple[Card, list[Card]]]:
    for message in messages():
        try:
            card = read_message(message, "T1")
        except CodecError:
            continue
        written = write_card(card, INTERACTIVE)
        assert [fault for sent in written.messages for fault in faults(sent.body)] == []
        yield card, [read_message(dict(sent.body), "T1") for sent in written.messages]


def common_length(before: list[Any], after: list[Any]) -> int:
    """The number of items that are still present, in the same order."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def nodes(card: Card) -> list[str]:
    return [node.type for node in walk(card.nodes) if node.type not in READ_ONLY]


def actions(card: Card) -> list[tuple[str, str]]:
    return [
        (action.type, plain_inlines(action.label) if isinstance(action, Button) else "")
        for action in actions_of(card)
    ]


def test_corpus_cards_written_and_read_again_keep_nodes_and_actions_in_order() -> None:
    all_nodes = all_actions = kept_nodes = kept_actions = 0
    for card, back in cards_and_their_returns():
        before, expected_actions = nodes(card), actions(card)
        kept_nodes += common_length(before, [node for again in back for node in nodes(again)])
        kept_actions += common_length(
            expected_actions, [action for again in back for action in actions(again)]
        )
        all_nodes += len(before)
        all_actions += len(expected_actions)

    assert all_nodes > 1_000
    assert kept_nodes >= 0.95 * all_nodes
    assert kept_actions >= 0.9 * all_actions


# --- the published schema -------------------------------------------------------------------

_KINDS = {
    "section": "SectionBlock", "header": "HeaderBlock", "divider": "DividerBlock",
    "image": "ImageBlock", "context": "ContextBlock", "actions": "ActionsBlock",
    "input": "InputBlock", "rich_text": "RichTextBlock", "container": "ContainerBlock",
    "card": "CardBlock", "carousel": "CarouselBlock", "plan": "PlanBlock",
    "task_card": "TaskCardBlock", "table": "TableBlock",
}  # fmt: skip


def validators() -> dict[str, Draft7Validator]:
    """The validators by block type. The types lack two documented members."""
    folder = Path(CORPUS or ".") / "schemas" / "slack"
    schema = json.loads((folder / "derived_slack-types-3.2.0_KnownBlock.schema.json").read_text())
    definitions = schema["definitions"]
    definitions["RichTextList"]["properties"]["offset"] = {"type": "number"}
    definitions["RichTextPreformatted"]["properties"]["language"] = {"type": "string"}
    return {
        kind: Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": definitions})
        for kind, name in _KINDS.items()
    }


def test_blocks_satisfy_the_schema_of_the_official_types() -> None:
    by_kind = validators()

    @DRAWN
    @given(card=cards(2))
    def look(card: Card) -> None:
        for message in write_card(card, RENDERINGS["heard"]).messages:
            body: Any = message.body
            inner = [
                block
                for attachment in body.get("attachments", ())
                for block in attachment["blocks"]
            ]
            for block in [*body.get("blocks", ()), *inner]:
                if block["type"] in by_kind and len(orjson.dumps(block)) < 20_000:
                    by_kind[block["type"]].validate(block)

    look()

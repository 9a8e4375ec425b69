"""What Slack's own messages show is still there when they go home through the tree."""

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

HEARD = Rendering(token=token)
# What apps cannot post: payloads that no block says, and files.
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
        written = write_card(card, HEARD)
        assert [fault for one in written.messages for fault in faults(one.body)] == []
        yield card, [read_message(dict(one.body), "T1") for one in written.messages]


def kept(before: list[Any], after: list[Any]) -> int:
    """How many are there still, in the same order."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def nodes(card: Card) -> list[str]:
    return [node.type for node in walk(card.nodes) if node.type not in READ_ONLY]


def actions(card: Card) -> list[tuple[str, str]]:
    return [
        (one.type, plain_inlines(one.label) if isinstance(one, Button) else "")
        for one in actions_of(card)
    ]


def test_nodes_and_actions_come_home_in_their_order() -> None:
    all_nodes = all_actions = kept_nodes = kept_actions = 0
    for card, back in cards_and_their_returns():
        before, asked = nodes(card), actions(card)
        kept_nodes += kept(before, [one for again in back for one in nodes(again)])
        kept_actions += kept(asked, [one for again in back for one in actions(again)])
        all_nodes += len(before)
        all_actions += len(asked)

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
    """By type of block. The types lack two fields that the documentation has."""
    folder = Path(CORPUS or ".") / "schemas" / "slack"
    known = json.loads((folder / "derived_slack-types-3.2.0_KnownBlock.schema.json").read_text())
    definitions = known["definitions"]
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
            inner = [one for held in body.get("attachments", ()) for one in held["blocks"]]
            for block in [*body.get("blocks", ()), *inner]:
                if block["type"] in by_kind and len(orjson.dumps(block)) < 20_000:
                    by_kind[block["type"]].validate(block)

    look()

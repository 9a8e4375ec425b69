"""Whole messages and views: their shown payloads, in order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.content.cards.native_home import at_place
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Container, Divider, Form, Image, Prose
from bridge.content.cards.walk import actions_of
from bridge.content.text.tree import Heading, Mention, Paragraph, Strong, Text
from bridge.errors import CodecError
from connectors.slack import cards, ids
from connectors.slack.cards import SCHEMA_IDS, payloads, read_form, read_message, read_payload
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS, FILES
from connectors.slack.home import without_read_only
from tests.connectors.slack.card_payloads import (
    EVERY_ATTACHMENT,
    EVERY_BLOCK,
    EVERY_FILE,
    PICTURE_FILE,
    plain,
)

DIVIDER: Any = {"type": "divider"}
ATTACHED: Any = {"text": "attached"}


def prose_of(text: str) -> Prose:
    return Prose((Paragraph((Text(text),)),))


def panel(text: str) -> Container:
    return Container((prose_of(text),), form="panel")


# --- payloads -------------------------------------------------------------------------------


def test_blocks_are_shown_instead_of_the_text_then_attachments_then_files() -> None:
    native: Any = {
        "text": "in short",
        "blocks": [DIVIDER],
        "attachments": [ATTACHED],
        "files": [PICTURE_FILE],
    }

    assert payloads(native) == (
        Payload(BLOCKS, [DIVIDER], "/blocks"),
        Payload(ATTACHMENTS, [ATTACHED], "/attachments"),
        Payload(FILES, [PICTURE_FILE], "/files"),
    )


def test_text_without_blocks_is_shown() -> None:
    native: Any = {"text": "*hi*", "blocks": [], "attachments": [ATTACHED], "files": None}

    assert payloads(native) == (
        Payload("", "*hi*", "/text"),
        Payload(ATTACHMENTS, [ATTACHED], "/attachments"),
    )


def test_a_message_without_content_has_no_payloads() -> None:
    assert payloads({"type": "message", "subtype": "message_deleted", "text": " "}) == ()


def test_a_view_shows_its_blocks() -> None:
    view: Any = {"type": "modal", "title": plain("A form"), "blocks": [DIVIDER]}

    assert payloads(view) == (Payload(BLOCKS, [DIVIDER], "/blocks"),)


@pytest.mark.parametrize(
    ("native", "schema_id"),
    [
        ([DIVIDER], BLOCKS),
        (DIVIDER, BLOCKS),
        ({"type": "markdown", "text": "hi"}, BLOCKS),
        ({"type": "unheard_of", "text": "hi"}, BLOCKS),
        ([{"color": "good", "text": "hi"}], ATTACHMENTS),
        ({"color": "good", "text": "hi"}, ATTACHMENTS),
        ({"color": "good", "blocks": [DIVIDER]}, ATTACHMENTS),
    ],
)
def test_a_bare_block_attachment_or_file_is_one_payload(native: Any, schema_id: str) -> None:
    assert payloads(native) == (Payload(schema_id, native),)


@pytest.mark.parametrize("native", [None, True, 7, "hi", {}, {"a": 1}, [1, None], ["hi"]])
def test_json_that_is_not_a_message_is_refused(native: Any) -> None:
    with pytest.raises(CodecError, match="is no"):
        payloads(native)


def test_every_payload_is_the_value_at_its_json_pointer() -> None:
    native: Any = {
        "text": "a",
        "blocks": EVERY_BLOCK,
        "attachments": EVERY_ATTACHMENT,
        "files": EVERY_FILE,
    }

    for payload in payloads(native):
        assert payload.data is at_place(native, payload.at)


# --- cards ----------------------------------------------------------------------------------


def test_text_is_mrkdwn_of_the_workspace() -> None:
    card = read_payload(Payload("", "*hi* <@U1>", "/text"), "T1")

    mention = Mention(ids.actor_id("T1", "U1"), "U1")
    assert card == Card((Prose((Paragraph((Strong((Text("hi"),)), Text(" "), mention)),)),))
    assert card.nodes[0].at == "/text"


def test_markdown_text_is_standard_markdown() -> None:
    assert read_message({"markdown_text": "# **hi**"}) == Card(
        (Prose((Heading(1, (Strong((Text("hi"),)),)),)),)
    )


def test_the_text_of_a_message_with_blocks_becomes_the_summary() -> None:
    native: Any = {"text": "*in* short &amp; <https://example.com|so>", "blocks": [DIVIDER]}

    assert read_message(native) == Card((Divider(),), summary="in short & so")


def test_the_text_of_a_message_with_attachments_is_shown() -> None:
    native: Any = {"text": "hi", "attachments": [{**ATTACHED, "fallback": "in short"}]}

    assert read_message(native) == Card((prose_of("hi"), panel("attached")))


def test_the_fallback_of_lone_attachments_becomes_the_summary() -> None:
    native: Any = {"attachments": [{**ATTACHED, "fallback": "in short"}]}

    assert read_message(native) == Card((panel("attached"),), summary="in short")


def test_blocks_attachments_and_files_are_in_one_card() -> None:
    native: Any = {"blocks": [DIVIDER], "attachments": [ATTACHED], "files": [PICTURE_FILE]}

    card = read_message(native)

    assert [type(node) for node in card.nodes] == [Divider, Container, Image]
    assert [node.at for node in card.nodes] == ["/blocks/0", "/attachments/0", "/files/0"]


def test_every_action_has_a_unique_json_pointer() -> None:
    native: Any = {"blocks": EVERY_BLOCK, "attachments": EVERY_ATTACHMENT}

    places = [action.at for action in actions_of(read_message(native))]

    assert len(places) > 50
    assert len(set(places)) == len(places)
    assert all(at_place(native, place) is not None for place in places)


@pytest.mark.parametrize(
    ("data", "places"),
    [
        ([DIVIDER], ["/x/0"]),
        (DIVIDER, ["/x"]),
        ({"blocks": [DIVIDER]}, ["/x/blocks/0"]),
    ],
)
def test_blocks_may_be_a_list_one_block_or_an_object(data: Any, places: list[str]) -> None:
    card = read_payload(Payload(BLOCKS, data, "/x"))

    assert card == Card((Divider(),))
    assert [node.at for node in card.nodes] == places


@pytest.mark.parametrize("data", [[ATTACHED], ATTACHED, {"attachments": [ATTACHED]}])
def test_attachments_may_be_a_list_one_attachment_or_an_object(data: Any) -> None:
    assert read_payload(Payload(ATTACHMENTS, data)) == Card((panel("attached"),))


@pytest.mark.parametrize(
    ("schema_id", "data"),
    [(BLOCKS, "x"), (ATTACHMENTS, 7), (FILES, None), ("", ["x"]), ("image/png", [])],
)
def test_an_unknown_payload_is_refused_with_its_json_pointer(schema_id: str, data: Any) -> None:
    with pytest.raises(CodecError) as caught:
        read_payload(Payload(schema_id, data, "/x"))

    assert caught.value.pointer == "/x"


# --- views ----------------------------------------------------------------------------------


def test_a_view_is_a_form() -> None:
    view: Any = {
        "type": "modal",
        "callback_id": "ask",
        "title": plain("A form"),
        "submit": plain("Send"),
        "close": plain("Stop"),
        "blocks": [DIVIDER],
    }

    assert read_form(view) == Form("A form", (Divider(),), id="ask", submit="Send", close="Stop")


def test_json_that_is_not_a_view_is_refused() -> None:
    with pytest.raises(CodecError, match="no Slack view"):
        read_form({"type": "modal"})


# --- the port -------------------------------------------------------------------------------


def test_the_codec_knows_three_kinds_of_payloads() -> None:
    assert {BLOCKS, ATTACHMENTS, FILES} == SCHEMA_IDS
    assert cards.SCHEMA_IDS is SCHEMA_IDS


_HI = [{"type": "section", "text": {"type": "mrkdwn", "text": "*hi*"}}]


def test_blocks_and_attachments_as_json_strings_are_read() -> None:
    attachments = [{"text": "below", "fallback": "f"}]
    message: Any = {"text": "t", "blocks": _HI, "attachments": attachments}
    form: Any = {
        "text": "t",
        "blocks": json.dumps(_HI),
        "attachments": json.dumps(attachments),
    }

    assert read_message(form) == read_message(message)
    assert payloads(form) == payloads(message)
    assert without_read_only(form) == message


@pytest.mark.parametrize("blocks", ["[", "[1", "{}", "", "no list", "[" * 5_000])
def test_a_blocks_string_that_is_not_a_json_list_is_ignored(blocks: str) -> None:
    assert read_message({"text": "t", "blocks": blocks}) == read_message({"text": "t"})


def test_a_blocks_string_nested_too_deeply_is_refused() -> None:
    with pytest.raises(CodecError):
        read_message({"text": "t", "blocks": "[" * 1_010 + "]" * 1_010})

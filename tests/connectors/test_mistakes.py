"""A payload that is posted is checked strictly: what its platform would refuse is named, and
nothing else is: no payload that people send, and none that our own writers make."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.codec import Codec
from bridge.content.cards.rendering import Payload, Rendering
from bridge.content.cards.tree import Card
from bridge.errors import CodecError
from tests.content.card_strategies import cards
from tests.corpus.examples import EXAMPLES
from tests.corpus.laws import codec_of
from tests.corpus.payloads import FOLDERS, cases, corpus
from tests.corpus.test_wrong_shapes import JSON
from tests.examples import examples

CODECS: dict[str, Codec] = {platform: codec_of(platform) for platform in EXAMPLES}
EACH = pytest.mark.parametrize("platform", CODECS)
BLOCKS = "application/vnd.slack.blocks+json"
ATTACHMENTS = "application/vnd.slack.attachments+json"
COMPONENTS = "application/vnd.discord.components+json"
EMBEDS = "application/vnd.discord.embeds+json"
POLL = "application/vnd.discord.poll+json"
ADAPTIVE = "application/vnd.microsoft.card.adaptive"
HERO = "application/vnd.microsoft.card.hero"


def card(*body: Any, **more: Any) -> dict[str, Any]:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}


def row(*components: Any) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def actions(*elements: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


# --- invalid payloads ---------------------------------------------------------------------------

WRONG: list[tuple[str, Any, str, str]] = [  # schema id, payload, where, a word of the reason
    (BLOCKS, [{"type": "section"}], "/0", "'text' or 'fields'"),
    (BLOCKS, [{"type": "divider"}, {"type": "hologram"}], "/1/type", "hologram"),
    (BLOCKS, [{"type": "sectoin"}], "/0/type", "did you mean 'section'"),
    (BLOCKS, {"type": "hologram"}, "/type", "hologram"),
    (BLOCKS, {"blocks": [{"type": "header"}]}, "/blocks/0", "'text'"),
    (BLOCKS, {"blocks": "x"}, "/blocks", "must be a list"),
    (BLOCKS, ["x"], "/0", "must be a block"),
    (BLOCKS, [{}], "/0", "has no 'type'"),
    (BLOCKS, [{"text": 5}], "/0", "has no 'type'"),
    (BLOCKS, [{"type": ["section"]}], "/0/type", "a list"),
    (BLOCKS, [actions({"type": "button"})], "/0/elements/0", "'text'"),
    (BLOCKS, [{"type": "actions", "elements": "x"}], "/0/elements", "must be a list"),
    (BLOCKS, [{"type": "section", "text": "plain"}], "/0/text", "mrkdwn"),
    (BLOCKS, [{"type": "section", "text": {"type": "mrkdwn"}}], "/0/text", "'text'"),
    (BLOCKS, [{"type": "section", "text": {"type": "mrkdwn", "text": 5}}], "/0/text/text", "5"),
    (BLOCKS, [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "/0/text/type",
     "plain_text"),
    (BLOCKS, [{"type": "image", "image_url": "https://x.example/a.png"}], "/0", "alt_text"),
    (BLOCKS, [actions({"type": "static_select", "action_id": "a"})], "/0/elements/0", "options"),
    (BLOCKS, [{"type": "rich_text", "elements": [{"type": "text", "text": "x"}]}],
     "/0/elements/0/type", "rich_text_section"),
    (BLOCKS, [{"type": "table", "rows": [["x"]]}], "/0/rows/0/0", "a cell"),
    (ATTACHMENTS, [{"fallback": "x", "fields": "x"}], "/0/fields", "must be a list"),
    (ATTACHMENTS, [{"blocks": [{"type": "hologram"}]}], "/0/blocks/0/type", "hologram"),
    (COMPONENTS, "x", "", "must be a list"),
    (COMPONENTS, [{"type": 99}], "/0/type", "99"),
    (COMPONENTS, [{"type": True}], "/0/type", "true"),
    (COMPONENTS, [{"type": 1, "components": "x"}], "/0/components", "must be a list"),
    (COMPONENTS, [row({"type": 2, "label": "Go", "custom_id": "go"})], "/0/components/0",
     "'style'"),
    (COMPONENTS, [row({"type": 2, "style": 9, "label": "Go"})], "/0/components/0/style", "9"),
    (COMPONENTS, [row({"type": 2, "style": 5, "label": "Go"})], "/0/components/0", "'url'"),
    (COMPONENTS, [row({"type": 2, "style": 1, "label": "Go"})], "/0/components/0", "custom_id"),
    (COMPONENTS, [row({"type": 2, "style": 1, "custom_id": "go"})], "/0/components/0", "'label'"),
    (COMPONENTS, [row({"type": 3, "custom_id": "m"})], "/0/components/0", "'options'"),
    (COMPONENTS, [{"type": 10}], "/0", "'content'"),
    (COMPONENTS, [{"type": 12, "items": [{"media": "x"}]}], "/0/items/0/media", "an object"),
    (COMPONENTS, {"title": "x", "custom_id": "m", "components": [{"type": 18, "label": "x"}]},
     "/components/0", "'component'"),
    (EMBEDS, [{"title": 5}], "/0/title", "must be text"),
    (EMBEDS, [{"color": 5}], "/0", "'title'"),
    (EMBEDS, {"fields": [{"name": "x"}]}, "/fields/0", "'value'"),
    (POLL, {"question": {"text": "x"}}, "", "'answers'"),
    (ADAPTIVE, {"type": "AdaptivCard", "version": "1.5", "body": []}, "/type",
     "did you mean 'AdaptiveCard'"),
    (ADAPTIVE, {"version": "1.5", "body": []}, "", "'type'"),
    (ADAPTIVE, {"type": "AdaptiveCard", "body": []}, "", "'version'"),
    (ADAPTIVE, {"type": "AdaptiveCard", "version": "1.5", "body": "nope"}, "/body",
     "must be a list"),
    (ADAPTIVE, card({"type": "Hologram"}), "/body/0/type", "Hologram"),
    (ADAPTIVE, card({"text": "no type"}), "/body/0", "has no 'type'"),
    (ADAPTIVE, card({"type": "TextBlock"}), "/body/0", "'text'"),
    (ADAPTIVE, card({"type": "ColumnSet", "columns": {}}), "/body/0/columns", "must be a list"),
    (ADAPTIVE, card({"type": "Input.Text"}), "/body/0", "'id'"),
    (ADAPTIVE, card(actions=[{"type": "Action.OpenUrl", "title": "x"}]), "/actions/0", "'url'"),
    (ADAPTIVE, card(actions=[{"type": "Action.Nope"}]), "/actions/0/type", "Action.Nope"),
    (ADAPTIVE, card({"type": "Hologram", "fallback": {"type": "TextBlock"}}),
     "/body/0/fallback", "'text'"),
    (ADAPTIVE, {"contentType": ADAPTIVE, "content": card({"type": "Hologram"})},
     "/content/body/0/type", "Hologram"),
    (f"{ADAPTIVE}+json", card({"type": "Hologram"}), "/body/0/type", "Hologram"),
    (HERO, {"buttons": [{"title": "x"}]}, "/buttons/0", "'type'"),
]  # fmt: skip
_CODEC_OF = {schema_id: codec for codec in CODECS.values() for schema_id in codec.SCHEMA_IDS}


def mistakes_of(schema_id: str, data: Any, at: str = "") -> list[tuple[str, str]]:
    codec = _CODEC_OF.get(schema_id, CODECS["teams"])
    return [
        (mistake.pointer, mistake.reason)
        for mistake in codec.mistakes(Payload(schema_id, data, at))
    ]


@pytest.mark.parametrize(("schema_id", "data", "where", "word"), WRONG)
def test_a_mistake_has_its_pointer_and_the_expected_value(
    schema_id: str, data: Any, where: str, word: str
) -> None:
    place, reason = mistakes_of(schema_id, data, "/content/0/data")[0]

    assert place == f"/content/0/data{where}"
    assert word in reason


RIGHT: list[tuple[str, Any]] = [
    (BLOCKS, [{"type": "section", "text": {"type": "mrkdwn", "text": "x"}, "new": 1}]),
    (BLOCKS, [{"type": "section", "block_id": None, "accessory": None,
               "fields": [{"type": "plain_text", "text": "x", "emoji": True}]}]),
    (COMPONENTS, [row({"type": 2, "style": 6, "sku_id": "1"}, {"type": 2, "style": 5,
                       "url": "https://x.example", "emoji": {"name": "🎉"}})]),
    (ADAPTIVE, card({"type": "Hologram", "fallback": "drop"})),
    (ADAPTIVE, card({"type": "Hologram", "fallback": {"type": "TextBlock", "text": "x"}})),
    (ADAPTIVE, card({"type": "Container", "items": [{"type": "Hologram"}],
                     "fallback": {"type": "TextBlock", "text": "x"}})),
    (ADAPTIVE, card({"type": "TextBlock", "text": 5, "separator": "yes"})),
    (ADAPTIVE, card({"type": "ColumnSet", "columns": [{"items": []}, {"type": "Column"}]})),
    (ADAPTIVE, {"type": "AdaptiveCard", "version": "1.5", "$data": {"rows": [{"n": "a"}]},
                "body": [{"type": "TextBlock", "$data": "${rows}", "text": "${n}"}]}),
    (ADAPTIVE, card({"type": "RichTextBlock", "inlines": ["x", {"type": "TextRun",
                                                                "text": "y"}]})),
]  # fmt: skip


@pytest.mark.parametrize(("schema_id", "data"), RIGHT)
def test_a_valid_payload_has_no_mistakes(schema_id: str, data: Any) -> None:
    assert mistakes_of(schema_id, data) == []


# --- valid payloads -----------------------------------------------------------------------------

INVALID: dict[str, tuple[str, ...]] = {
    "an invalid payload of a client library's test": (
        "slack/blocks/jslack_src__BlockKitTest.java_40727", "slack/blocks/vchatsrc__src_index.test",
        "slack/blocks/jslack_src__BlockKitTest.java_43370",
        "slack/blocks/jslack_src__BlockKitTest.java_44699", "discord/messages/hikari__test_rest_L",
        "discord/events/hikari__command_interaction_payload",
        "discord/events/hikari__component_interaction_payload",
        "discord/events/hikari__modal_interaction_payload",
        "adaptive/ac__v1.0_Tests_Action.CustomParsing", "adaptive/ac__v1.0_Tests_TypeIsRequired",
        "adaptive/ac__v1.0_Tests_AdaptiveCard.MissingVersion",
        "adaptive/ac__v1.2_Tests_DeepFallback", "adaptive/ac__v1.5_Tests_StandaloneTableRow",
        "adaptive/acsrc__android_v1.2_ActionFallback",
        "adaptive/acsrc__android_v1.2_CustomActionRenderingTest",
        "adaptive/acsrc__ios_TestFiles_Image.SelectAction",
        "teams/activities/vchatsrc__adapter-teams_src_index.test.ts_20875",
    ),
    "every field with an empty text, types too": (
        "slack/blocks/jslack_api__chat.postMessage", "slack/blocks/jslack_api__stars.list",
        "slack/blocks/jslack_api__views.open_view", "slack/api/jslack__stars.list",
        "slack/api/jslack__views.open",
    ),
    "a picture without alt_text, an option without text, a video without its picture": (
        "slack/blocks/jslack_src__ActionsBlockTest.kt",
        "slack/blocks/jslack_src__VideoBlockTest.kt",
    ),
    "a cell of a table, which is no block": ("slack/blocks/blockkit__L3373",),
    "a library's own names for what it writes as Slack's blocks": (
        "slack/blocks/vchatsrc__blocks_index.test", "slack/blocks/vchatsrc__src_modals.test",
    ),
    "commands of an application, which are no components": (
        "discord/messages/ddocs__interactions_application-commands",
        "discord/messages/twilight_tok__application_command_option",
        "discord/messages/vchatsrc__adapter-discord_src_index.test.ts_22718",
    ),
    "a template without its data": (
        "adaptive/ac__Templates_Scenarios_CarouselTemplatedPages.template",
        "adaptive/pnp__event-schedule_ac-qv-event.template",
    ),
    "no version, which Microsoft's library requires": (
        "adaptive/acsrc__dotnet_tool_Test", "adaptive/t4bbjs__tests_adaptiveCard",
        "adaptive/t4msdocs__universal-actions-for-search-based-message-extensions",
        "adaptive/t4vchatsrc__adapter-teams_src_graph-api.test",
        "adaptive/t4vchatsrc__src_modals-primitives_index.test",
    ),
    "a member is missing that the published schema requires: text, id, actions, targetElements": (
        "adaptive/pnp__payslip_ac-qv-table", "adaptive/pnp__simple-list_ac-qv-praise.template",
        "adaptive/pnp__visual-list_ac-qv-cafe", "adaptive/t4msdocs__create-extensions_01",
        "adaptive/teamsmobile__webRendering_demo_Demo_Carousel_2",
        "adaptive/teamsmobile__webRendering_demo_Demo_ColumnSet_1",
        "teams/invoke_responses/msdocs__create-extensions_01",
    ),
}  # fmt: skip


@pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")
@pytest.mark.parametrize("platform", FOLDERS)
def test_only_the_invalid_corpus_payloads_have_mistakes(platform: str) -> None:
    codec = CODECS[platform]
    invalid = tuple(name for names in INVALID.values() for name in names)
    checked = 0
    refused: dict[str, list[str]] = {}
    for case in cases(platform):
        try:
            payloads = codec.payloads(case.payload)
        except CodecError:
            continue
        checked += len(payloads)
        mistakes = [str(mistake) for payload in payloads for mistake in codec.mistakes(payload)]
        if mistakes and not case.synthetic:
            refused[case.name] = mistakes

    assert checked > 100
    assert {
        name: reasons for name, reasons in refused.items() if not name.startswith(invalid)
    } == {}
    of_platform = {"slack": ("slack/",), "discord": ("discord/",), "teams": ("adaptive/", "teams/")}
    known = [name for name in invalid if name.startswith(of_platform[platform])]
    assert [
        known_name
        for known_name in known
        if not any(name.startswith(known_name) for name in refused)
    ] == []


@pytest.mark.parametrize(
    ("platform", "name"), [(platform, name) for platform in EXAMPLES for name in EXAMPLES[platform]]
)
def test_the_examples_have_no_mistakes(platform: str, name: str) -> None:
    codec = CODECS[platform]

    payloads = codec.payloads(EXAMPLES[platform][name])

    assert [mistake for payload in payloads for mistake in codec.mistakes(payload)] == []


def _token(path: str) -> str:
    return sha256(path.encode()).hexdigest()[:22]


@EACH
@given(card=cards(), interactive=st.booleans())
@settings(max_examples=examples(40))
def test_cards_written_by_the_bridge_have_no_mistakes(
    platform: str, card: Card, interactive: bool
) -> None:
    codec = CODECS[platform]
    rendering = Rendering(token=_token if interactive else None, origin="https://origin.example/1")

    for message in codec.write_card(card, rendering).messages:
        body: Any = dict(message.body)
        for payload in codec.payloads(body):
            assert list(codec.mistakes(payload)) == []


# --- any JSON -----------------------------------------------------------------------------------


@EACH
@given(data=st.data())
def test_any_json_is_checked_without_an_exception(platform: str, data: st.DataObject) -> None:
    codec = CODECS[platform]
    schema_id = data.draw(st.sampled_from([*sorted(codec.SCHEMA_IDS), "", "x"]))
    payload = Payload(schema_id, data.draw(JSON), "/at")

    for mistake in codec.mistakes(payload):
        assert mistake.pointer.startswith("/at")
        assert mistake.reason


@pytest.mark.parametrize(
    ("schema_id", "kind", "key"),
    [(BLOCKS, "container", "child_blocks"), (COMPONENTS, 17, "components"),
     (ADAPTIVE, "Container", "items")],
)  # fmt: skip
def test_excessively_nested_json_is_one_mistake(schema_id: str, kind: Any, key: str) -> None:
    deep: Any = {"type": kind}
    for _ in range(3000):
        deep = {"type": kind, key: [deep]}

    assert len(mistakes_of(schema_id, deep)) == 1


def test_only_the_first_mistakes_are_reported() -> None:
    assert len(mistakes_of(BLOCKS, [{"type": "x"}] * 100_000)) == 20

"""Blocks and attachments: how Slack stores them, and every documented refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.slack.sandbox.conftest import GENERAL
from tests.connectors.slack.sandbox.desk import Desk

Json = dict[str, Any]


def plain(text: str = "x") -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str = "x") -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text), **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def button(text: str = "Go", **more: Any) -> Json:
    return {"type": "button", "text": plain(text), **more}


def option(text: str = "o", **more: Any) -> Json:
    return {"text": plain(text), "value": text, **more}


def select(count: int = 1, **more: Any) -> Json:
    return {"type": "static_select", "options": [option(str(n)) for n in range(count)], **more}


def table(rows: int = 1, cells: int = 1, text: str = "c") -> Json:
    row = [{"type": "raw_text", "text": text}] * cells
    return {"type": "table", "rows": [row] * rows}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


def run(**inline: Any) -> Json:
    return {"type": "rich_text_section", "elements": [inline]}


def chart(**more: Any) -> Json:
    series = [{"name": "s", "data": [{"label": "a", "value": 1}]}]
    drawn = {"type": "bar", "series": series, "axis_config": {"categories": ["a"]}, **more}
    return {"type": "data_visualization", "title": "t", "chart": drawn}


def card(**more: Any) -> Json:
    return {"type": "card", "title": mrkdwn(), **more}


def container(*children: Json, **more: Any) -> Json:
    return {"type": "container", "title": plain(), "child_blocks": list(children), **more}


def video(**more: Any) -> Json:
    return {
        "type": "video", "video_url": "https://films.example/1", "alt_text": "a", "title": plain(),
        "thumbnail_url": "https://films.example/1.png", **more,
    }  # fmt: skip


def field(element: Json, **more: Any) -> Json:
    return {"type": "input", "label": plain(), "element": element, **more}


LONG = "x" * 3001
TASK = {"type": "task_card", "task_id": "1", "title": "t", "status": "complete"}
DIVIDER: Json = {"type": "divider"}
IMAGE: Json = {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a"}

REFUSED: list[tuple[list[Any], str, str]] = [
    ([DIVIDER] * 51, "no more than 50 items allowed", ""),
    ([{"type": "nonsense"}], "unsupported type: nonsense", "/0/type"),
    ([{"type": "call"}], "unsupported type: call", "/0/type"),
    ([{"type": "file", "source": "remote", "external_id": "1"}], "unsupported type: file",
     "/0/type"),
    ([{"text": "no type"}], "missing required field: type", "/0"),
    (["divider"], "must provide an object", "/0"),
    ([DIVIDER | {"colour": "red"}], "invalid additional property: colour", "/0"),
    ([DIVIDER | {"block_id": "x" * 256}], "must be less than 256 characters", "/0/block_id"),
    ([DIVIDER | {"block_id": "a"}] * 2, '`block_id` "a" already exists', "/1/block_id"),
    ([{"type": "section"}], "must define either `text` or `fields`", "/0/type"),
    ([section(LONG)], "must be less than 3001 characters", "/0/text/text"),
    ([section("")], "must be more than 0 characters", "/0/text/text"),
    ([{"type": "section", "text": "bare"}], "must provide an object", "/0/text"),
    ([{"type": "section", "text": {"type": "html", "text": "x"}}], "unsupported type: html",
     "/0/text/type"),
    ([{"type": "section", "text": {"type": "mrkdwn", "text": 7}}], "must provide a string",
     "/0/text/text"),
    ([{"type": "section", "text": mrkdwn() | {"emoji": True}}],
     "invalid additional property: emoji", "/0/text"),
    ([{"type": "section", "fields": [mrkdwn()] * 11}], "no more than 10 items allowed",
     "/0/fields"),
    ([{"type": "section", "fields": [mrkdwn("x" * 2001)]}], "must be less than 2001 characters",
     "/0/fields/0/text"),
    ([section(accessory=field(select()))], "unsupported type: input", "/0/accessory/type"),
    ([section(expand="yes")], "must be a boolean", "/0/expand"),
    ([{"type": "header", "text": plain("x" * 151)}], "must be less than 151 characters",
     "/0/text/text"),
    ([{"type": "header", "text": mrkdwn()}], "unsupported type: mrkdwn", "/0/text/type"),
    ([{"type": "image", "alt_text": "a"}], "must define either `image_url` or `slack_file`", "/0"),
    ([{"type": "image", "image_url": "https://x/a.png"}], "missing required field: alt_text", "/0"),
    ([IMAGE | {"image_url": "ftp://x/a.png"}], "invalid url", "/0/image_url"),
    ([IMAGE | {"image_url": "https://x/" + LONG}], "must be less than 3001 characters",
     "/0/image_url"),
    ([IMAGE | {"alt_text": "x" * 2001}], "must be less than 2001 characters", "/0/alt_text"),
    ([IMAGE | {"title": plain("x" * 2001)}], "must be less than 2001 characters", "/0/title/text"),
    ([{"type": "image", "slack_file": {"id": "F0"}, "alt_text": "a"}], "invalid slack file",
     "/0/slack_file"),
    ([{"type": "context", "elements": []}], "must provide at least 1 items", "/0/elements"),
    ([{"type": "context", "elements": [mrkdwn()] * 11}], "no more than 10 items allowed",
     "/0/elements"),
    ([{"type": "context", "elements": [button()]}], "unsupported type: button",
     "/0/elements/0/type"),
    ([actions(*[button()] * 26)], "no more than 25 items allowed", "/0/elements"),
    ([actions(button("x" * 76))], "must be less than 76 characters", "/0/elements/0/text/text"),
    ([actions(button() | {"text": mrkdwn()})], "unsupported type: mrkdwn",
     "/0/elements/0/text/type"),
    ([actions({"type": "button"})], "missing required field: text", "/0/elements/0"),
    ([actions(button(value="x" * 2001))], "must be less than 2001 characters",
     "/0/elements/0/value"),
    ([actions(button(url="https://" + LONG))], "must be less than 3001 characters",
     "/0/elements/0/url"),
    ([actions(button(style="warning"))], "must be a valid enum value", "/0/elements/0/style"),
    ([actions(button(action_id="x" * 256))], "must be less than 256 characters",
     "/0/elements/0/action_id"),
    ([actions(button(accessibility_label="x" * 76))], "must be less than 76 characters",
     "/0/elements/0/accessibility_label"),
    ([actions(button(action_id="a"), button(action_id="a"), block_id="b")],
     '`action_id` "a" already exists for block_id "b"', "/0/elements/1/action_id"),
    ([actions(button(confirm={"text": mrkdwn("x" * 301)}))], "must be less than 301 characters",
     "/0/elements/0/confirm/text/text"),
    ([actions(button(confirm={"text": mrkdwn(), "title": plain("x" * 101)}))],
     "must be less than 101 characters", "/0/elements/0/confirm/title/text"),
    ([actions(button(confirm={"text": mrkdwn(), "deny": plain("x" * 31)}))],
     "must be less than 31 characters", "/0/elements/0/confirm/deny/text"),
    ([actions(select(101))], "no more than 100 items allowed", "/0/elements/0/options"),
    ([actions({"type": "static_select"})], "must define either `options` or `option_groups`",
     "/0/elements/0"),
    ([actions(select(option_groups=[{"label": plain(), "options": [option()]}]))],
     "must define either `options` or `option_groups`", "/0/elements/0"),
    ([actions({"type": "static_select", "option_groups":
               [{"label": plain("x" * 76), "options": [option()]}]})],
     "must be less than 76 characters", "/0/elements/0/option_groups/0/label/text"),
    ([actions({"type": "static_select", "options": [option("x" * 76)]})],
     "must be less than 76 characters", "/0/elements/0/options/0/text/text"),
    ([actions({"type": "static_select", "options": [option(value="x" * 151)]})],
     "must be less than 151 characters", "/0/elements/0/options/0/value"),
    ([actions({"type": "static_select", "options": [option(description=plain("x" * 76))]})],
     "must be less than 76 characters", "/0/elements/0/options/0/description/text"),
    ([actions(select(placeholder=plain("x" * 151)))], "must be less than 151 characters",
     "/0/elements/0/placeholder/text"),
    ([actions(select(url="https://x"))], "invalid additional property: url", "/0/elements/0"),
    ([actions({"type": "multi_static_select", "options": [option()], "max_selected_items": 0})],
     "must be greater than 1", "/0/elements/0/max_selected_items"),
    ([actions({"type": "overflow", "options": [option()] * 6})], "no more than 5 items allowed",
     "/0/elements/0/options"),
    ([actions({"type": "checkboxes", "options": [option()] * 11})],
     "no more than 10 items allowed", "/0/elements/0/options"),
    ([actions({"type": "radio_buttons", "options": []})], "must provide at least 1 items",
     "/0/elements/0/options"),
    ([actions({"type": "datepicker", "initial_date": "tomorrow"})],
     r"input must match regex pattern: ^\d{4}-\d{2}-\d{2}$", "/0/elements/0/initial_date"),
    ([actions({"type": "timepicker", "initial_time": "25:00"})],
     r"input must match regex pattern: ^([01]\d|2[0-3]):[0-5]\d$", "/0/elements/0/initial_time"),
    ([actions({"type": "datetimepicker", "initial_date_time": 1})],
     "must be greater than 1000000000", "/0/elements/0/initial_date_time"),
    ([actions({"type": "plain_text_input"})], "unsupported type: plain_text_input",
     "/0/elements/0/type"),
    ([field({"type": "plain_text_input", "max_length": 3001})], "must be less than 3000",
     "/0/element/max_length"),
    ([field({"type": "plain_text_input"}, label=plain("x" * 2001))],
     "must be less than 2001 characters", "/0/label/text"),
    ([field({"type": "plain_text_input"}, hint=plain("x" * 2001))],
     "must be less than 2001 characters", "/0/hint/text"),
    ([field({"type": "email_text_input"})], "unsupported type: email_text_input",
     "/0/element/type"),
    ([field({"type": "file_input"})], "unsupported type: file_input", "/0/element/type"),
    ([field(button())], "unsupported type: button", "/0/element/type"),
    ([{"type": "input", "label": plain()}], "missing required field: element", "/0"),
    ([{"type": "alert", "text": mrkdwn()}], "unsupported type: alert", "/0/type"),
    ([{"type": "markdown", "text": ""}], "must be more than 0 characters", "/0/text"),
    ([{"type": "markdown", "text": "x" * 12_001}], "must be less than 12001 characters", "/0/text"),
    ([{"type": "markdown", "text": "x" * 6001}] * 2, "must be less than 12001 characters", ""),
    ([rich(run(type="text", text=""))], "must be more than 0 characters",
     "/0/elements/0/elements/0/text"),
    ([rich(run(type="text"))], "missing required field: text", "/0/elements/0/elements/0"),
    ([rich(run(type="canvas"))], "unsupported type: canvas", "/0/elements/0/elements/0/type"),
    ([rich(run(type="broadcast", range="all"))], "must be a valid enum value",
     "/0/elements/0/elements/0/range"),
    ([rich({"type": "text", "text": "x"})], "unsupported type: text", "/0/elements/0/type"),
    ([rich({"type": "rich_text_list", "style": "bullet", "indent": 9, "elements": []})],
     "must be less than 8", "/0/elements/0/indent"),
    ([rich({"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U"}]})],
     "unsupported type: user", "/0/elements/0/elements/0/type"),
    ([table(101)], "no more than 100 items allowed", "/0/rows"),
    ([table(1, 21)], "no more than 20 items allowed", "/0/rows/0"),
    ([table(text="")], "must be more than 0 characters", "/0/rows/0/0/text"),
    ([table(100, 2, "x" * 51)], "must be less than 10001 characters", "/0/rows"),
    ([table() | {"column_settings": [{"align": "top"}]}], "must be a valid enum value",
     "/0/column_settings/0/align"),
    ([{"type": "data_table", "rows": table(2)["rows"]}], "missing required field: caption", "/0"),
    ([{"type": "data_table", "caption": "c", "rows": [*table(1)["rows"], *table(1, 2)["rows"]]}],
     "all rows must have the same number of cells", "/0/rows"),
    ([chart()] * 3, "no more than 2 data_visualization blocks allowed", ""),
    ([chart() | {"title": "x" * 51}], "must be less than 51 characters", "/0/title"),
    ([chart(series=[{"name": "x" * 21, "data": [{"label": "a", "value": 1}]}])],
     "must be less than 21 characters", "/0/chart/series/0/name"),
    ([chart(type="radar")], "unsupported type: radar", "/0/chart/type"),
    ([{"type": "card"}], "must define `hero_image`, `title`, `body` or `actions`", "/0"),
    ([card(body=mrkdwn("x" * 201))], "must be less than 201 characters", "/0/body/text"),
    ([card(actions=[button()] * 4)], "no more than 3 items allowed", "/0/actions"),
    ([card(title="bare")], "must provide an object", "/0/title"),
    ([{"type": "carousel", "elements": [card()] * 11}], "no more than 10 items allowed",
     "/0/elements"),
    ([{"type": "carousel", "elements": [section()]}], "unsupported type: section",
     "/0/elements/0/type"),
    ([container(*[DIVIDER] * 11)], "no more than 10 items allowed", "/0/child_blocks"),
    ([container(container(DIVIDER))], "unsupported type: container", "/0/child_blocks/0/type"),
    ([container(DIVIDER) | {"title": None}], "must define either `title` or `rich_text_title`",
     "/0"),
    ([TASK | {"status": "pending"}], "must be a valid enum value", "/0/status"),
    ([{"type": "plan", "title": plain()}], "must provide a string", "/0/title"),
    ([{"type": "plan", "title": "p"}] * 2, "no more than 1 plan blocks allowed", ""),
    ([video()], "video_url must be in the app's unfurl domains", "/0/video_url"),
    ([video(video_url="https://films.example/1", title=plain("x" * 200))],
     "must be less than 200 characters", "/0/title/text"),
    ([{"type": "context_actions", "elements": [{"type": "feedback_buttons"}]}],
     "missing required field: positive_button", "/0/elements/0"),
]  # fmt: skip


async def test_documented_block_errors_are_refused_with_their_pointer(desk: Desk) -> None:
    expected, answered = [], []
    for blocks, message, place in REFUSED:
        expected.append(("invalid_blocks", f"[ERROR] {message} [json-pointer:/blocks{place}]"))
        answer = await desk.call("chat.postMessage", channel=GENERAL, blocks=blocks, text="t")
        answered.append((answer["error"], answer["response_metadata"]["messages"][0]))

    assert answered == expected
    assert desk.changes == []


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ([table(), table()], "invalid_attachments"),
        ([table(), container(table())], "invalid_attachments"),
        ([section("x" * 2900)] * 5, "msg_blocks_too_long"),
    ],
)
async def test_message_level_limits_have_their_own_errors(
    desk: Desk, blocks: list[Json], error: str
) -> None:
    assert await desk.error("chat.postMessage", channel=GENERAL, blocks=blocks) == error


@pytest.mark.parametrize(
    ("attachments", "error", "message"),
    [
        ([{"text": "x"}] * 101, "too_many_attachments", ""),
        ([7], "invalid_attachments", "must provide an object [json-pointer:/attachments/0]"),
        (
            [{"text": "x"}, {"blocks": [section(LONG)]}], "invalid_attachments",
            "must be less than 3001 characters "
            "[json-pointer:/attachments/1/blocks/0/text/text]",
        ),
        (
            [{"blocks": [{"type": "nonsense"}]}], "invalid_attachments",
            "unsupported type: nonsense [json-pointer:/attachments/0/blocks/0/type]",
        ),
        (
            [{"blocks": [DIVIDER] * 51}], "invalid_attachments",
            "no more than 50 items allowed [json-pointer:/attachments/0/blocks]",
        ),
        (
            [{"fields": "none"}], "invalid_attachments",
            "must provide an array [json-pointer:/attachments/0/fields]",
        ),
        ([{"color": "good"}, {"unknown": "dropped"}], "no_text", ""),
    ],
)  # fmt: skip
async def test_attachments_that_slack_refuses_are_refused(
    desk: Desk, attachments: list[Any], error: str, message: str
) -> None:
    answer = await desk.call("chat.postMessage", channel=GENERAL, attachments=attachments)

    answered = answer.get("response_metadata", {}).get("messages", [""])[0]
    assert (answer["error"], answered.removeprefix("[ERROR] ")) == (error, message)


async def test_a_refused_update_changes_nothing(desk: Desk) -> None:
    ts = await desk.post("as it was")

    error = await desk.error("chat.update", channel=GENERAL, ts=ts, blocks=[section(LONG)])

    assert error == "invalid_blocks"
    assert [m.text for m in desk.slack.messages("T0ACME", GENERAL)] == ["as it was"]


async def test_blocks_are_returned_with_default_fields(desk: Desk) -> None:
    blocks = [
        section("*hi*", accessory=button()),
        {"type": "header", "text": plain("Head")} | {"block_id": "mine"},
        actions(select(action_id="menu")),
        container(section("inside")),
        {"type": "carousel", "elements": [card()]},
    ]

    answer = await desk.call("chat.postMessage", channel=GENERAL, text="t", blocks=blocks)

    stored = answer["message"]["blocks"]
    ids = [block.pop("block_id") for block in stored]
    inner = [stored[3]["child_blocks"][0].pop("block_id"), stored[4]["elements"][0].pop("block_id")]
    action_id = stored[0]["accessory"].pop("action_id")
    assert ids[1] == "mine"
    assert {len(own) for own in (*ids[2:], *inner, action_id)} == {5}
    emoji, verbatim = {"emoji": True}, {"verbatim": False}
    assert stored == [
        section("*hi*", accessory=button() | {"text": plain("Go") | emoji})
        | {"text": mrkdwn("*hi*") | verbatim},
        {"type": "header", "text": plain("Head") | emoji},
        actions(
            select(action_id="menu") | {"options": [{"text": plain("0") | emoji, "value": "0"}]}
        ),
        container(section("inside") | {"text": mrkdwn("inside") | verbatim}, title=plain() | emoji),
        {"type": "carousel", "elements": [card(title=mrkdwn() | verbatim)]},
    ]
    history = await desk.call("conversations.history", channel=GENERAL)
    assert [block["type"] for block in history["messages"][0]["blocks"]] == [
        "section", "header", "actions", "container", "carousel",
    ]  # fmt: skip


async def test_attachments_are_returned_with_ids_and_colours(desk: Desk) -> None:
    attachments = [
        {"color": "#36a64f", "blocks": [section("bar") | {"block_id": "b"}]},
        {"color": "danger", "title": "Old", "text": "way", "made_up": 1},
    ]

    answer = await desk.call("chat.postMessage", channel=GENERAL, attachments=attachments)

    assert answer["message"]["attachments"] == [
        {
            "id": 1, "color": "36a64f", "fallback": "[no preview available]",
            "blocks": [
                section("bar") | {"block_id": "b", "text": mrkdwn("bar") | {"verbatim": False}}
            ],
        },
        {"id": 2, "color": "a30200", "title": "Old", "text": "way", "fallback": "way"},
    ]  # fmt: skip


async def test_a_slack_file_image_is_returned_with_its_dimensions(desk: Desk) -> None:
    own_id = await desk.upload("a.png", avatar_png("a"))
    block = {"type": "image", "slack_file": {"id": own_id}, "alt_text": "a", "block_id": "b"}

    answer = await desk.call("chat.postMessage", channel=GENERAL, blocks=[block], text="t")

    assert answer["message"]["blocks"] == [
        block
        | {
            "image_width": 64, "image_height": 64, "image_bytes": len(avatar_png("a")),
            "is_animated": False, "fallback": "64x64px image",
        }
    ]  # fmt: skip


async def test_videos_need_an_unfurl_domain_of_the_app(desk: Desk) -> None:
    desk.app.unfurl_domains = frozenset({"films.example"})
    without = await desk.error("chat.postMessage", channel=GENERAL, blocks=[video()], text="t")
    desk.app.scopes |= {"links.embed:write"}

    assert without == "invalid_blocks"
    assert await desk.error("chat.postMessage", channel=GENERAL, blocks=[video()], text="t") == ""


@pytest.mark.parametrize("depth", [900, 100_000])
async def test_deep_nesting_is_refused(desk: Desk, depth: int) -> None:
    deep = '{"type": "rich_text", "elements": [' * depth + "]}" * depth
    body = f'{{"channel": "{GENERAL}", "blocks": [{deep}]}}'
    answer = await desk.http.post(
        "/slack/api/chat.postMessage", content=body,
        headers={"Authorization": f"Bearer {desk.token}", "Content-Type": "application/json"},
    )  # fmt: skip

    assert answer.json()["error"] in ("invalid_blocks", "invalid_json")


async def test_plain_text_skips_the_block_checks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("connectors.slack.sandbox.content.checked_blocks", fail)
    monkeypatch.setattr("connectors.slack.sandbox.content.checked_attachments", fail)

    await desk.post("plain", blocks=[], attachments=json.dumps([]))

    assert [m.text for m in desk.slack.messages("T0ACME", GENERAL)] == ["plain"]

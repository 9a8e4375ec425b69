"""`translate`: one message or many, from any format to any other; no input stops it."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from typing import Any

import pytest
from pydantic import JsonValue

from bridge.app.translation import lines as lines_module
from bridge.app.translation.json_text import check_json, read_json, write_json
from bridge.app.translation.lines import translate_lines
from bridge.app.translation.translate import formats, token, translate
from bridge.errors import CodecError
from bridge.model import Loss
from tests.app.running import cli

CARD: dict[str, JsonValue] = {"type": "card", "nodes": ["# Hello", "**world**"], "version": 1}


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = {"a": [value]}
    return value


def batch(*lines: bytes) -> list[Any]:
    found = translate_lines(io.BytesIO(b"\n".join(lines)))
    return [json.loads(line) for line in found]


def job(payload: JsonValue, source: str = "card", target: str = "card", name: str = "1") -> bytes:
    return write_json({"id": name, "from": source, "to": target, "payload": payload})


# --- formats --------------------------------------------------------------------------------


def test_the_formats_are_the_platforms_uacs_cards_and_agent_apis() -> None:
    apis = ("acp", "ailoy", "anthropic", "gemini", "openai-chat", "openai-responses")
    assert formats() == ("discord", "irc", "slack", "teams", "uacs", "card", *apis)


def test_a_card_is_unchanged_after_translation_to_itself() -> None:
    assert translate(CARD, source="card", target="card").messages == (CARD,)


def test_a_card_becomes_a_message_that_becomes_the_card_again() -> None:
    (message,) = translate(CARD, source="card", target="uacs").messages
    again = translate(message, source="uacs", target="card")

    assert isinstance(message, dict)
    assert message["content"] == [
        {
            "type": "structured_data",
            "schema_id": "application/vnd.uacs.card+json",
            "data": CARD,
        },
        {"type": "text", "text": "# Hello\n\n**world**"},
    ]
    assert message["metadata"] == {"uacs_bridge": {"version": 1, "fallbacks": {"0": [1]}}}
    assert again.messages == (CARD,)


def test_a_message_that_is_no_uacs_is_refused_with_its_place() -> None:
    message: dict[str, JsonValue] = {"message_id": "m", "timestamp": "soon"}
    message |= {"actor": {"id": "a", "role": "human"}, "content": [{"type": "text", "text": "x"}]}

    with pytest.raises(CodecError) as refused:
        translate(message, source="uacs", target="card")

    assert refused.value.pointer == "/timestamp"


def test_action_tokens_are_short_and_stable() -> None:
    assert token("/nodes/0") == token("/nodes/0") != token("/nodes/1")
    assert len(token("/nodes/0")) == 22


# --- platforms ------------------------------------------------------------------------------

SLACK: dict[str, JsonValue] = {
    "text": "told",
    "ts": "1700000000.000100",
    "blocks": [
        {"type": "section", "text": {"type": "mrkdwn", "text": "Is it *ready*?"}},
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "action_id": "yes",
                    "text": {"type": "plain_text", "text": "Yes"},
                }
            ],
        },
    ],
}
DISCORD: dict[str, JsonValue] = {"id": "1", "content": "**Hi**", "embeds": [{"title": "Build"}]}
ADAPTIVE: dict[str, JsonValue] = {
    "type": "AdaptiveCard",
    "version": "1.5",
    "body": [{"type": "TextBlock", "text": "Hello"}],
}
ACTIVITY: dict[str, JsonValue] = {
    "type": "message",
    "id": "1",
    "text": "Hi",
    "attachments": [
        {"contentType": "application/vnd.microsoft.card.adaptive", "content": ADAPTIVE}
    ],
}


QUIET: dict[str, Any] = {"allowed_mentions": {"parse": []}}  # posting it pings nobody


@pytest.mark.parametrize(
    ("platform", "native", "sent"),
    [
        ("slack", SLACK, {key: SLACK[key] for key in ("text", "blocks")}),
        ("slack", SLACK["blocks"], {"blocks": SLACK["blocks"]}),
        ("discord", DISCORD, {key: DISCORD[key] for key in ("content", "embeds")} | QUIET),
        ("discord", [{"title": "Build"}], {"embeds": [{"title": "Build"}]} | QUIET),
        ("teams", ACTIVITY, {key: value for key, value in ACTIVITY.items() if key != "id"}),
        ("teams", ADAPTIVE, {"type": "message", "attachments": ACTIVITY["attachments"]}),
    ],
)
def test_a_message_returns_to_its_platform_unchanged_except_for_fields_that_it_fills_in(
    platform: str, native: JsonValue, sent: JsonValue
) -> None:
    (stored,) = translate(native, source=platform, target="uacs").messages

    assert translate(native, source=platform, target=platform).messages == (sent,)
    assert translate(stored, source="uacs", target=platform).messages == (sent,)


def test_uacs_keeps_a_platforms_message_unchanged_beside_its_fallback() -> None:
    (message,) = translate(SLACK, source="slack", target="uacs").messages

    assert isinstance(message, dict)
    assert message["content"] == [
        {
            "type": "structured_data",
            "schema_id": "application/vnd.slack.blocks+json",
            "data": SLACK["blocks"],
        },
        {"type": "text", "text": "Is it **ready**?\n\n\\[Yes\\]"},
    ]


def test_a_message_that_was_changed_in_uacs_is_written_anew_for_its_platform() -> None:
    (stored,) = translate(DISCORD, source="discord", target="uacs").messages
    changed: Any = json.loads(json.dumps(stored))
    changed["content"][0]["text"] = "Bye"

    (message,) = translate(changed, source="uacs", target="discord").messages

    assert isinstance(message, dict)
    assert message["content"] == "Bye"


def test_a_payload_that_is_the_whole_message_reaches_its_platform_unchanged() -> None:
    part = {"type": "structured_data", "schema_id": "application/vnd.slack.blocks+json"}
    message: Any = {
        "message_id": "m",
        "timestamp": "2026-11-21T12:00:00Z",
        "actor": {"id": "agent:a", "role": "assistant"},
        "content": [{**part, "data": SLACK["blocks"]}],
    }

    assert translate(message, source="uacs", target="slack").messages == (
        {"blocks": SLACK["blocks"]},
    )


@pytest.mark.parametrize("target", ["slack", "discord", "teams"])
def test_actions_elsewhere_carry_the_token_of_their_place(target: str) -> None:
    done = translate(SLACK, source="slack", target=target, through_tree=True)

    assert token("/blocks/1/elements/0") in json.dumps(done.messages)


def test_the_total_of_a_flight_itinerary_is_one_line_on_discord() -> None:
    label = {"type": "TextBlock", "text": "Total", "size": "medium", "isSubtle": True}
    value = {
        "type": "TextBlock", "horizontalAlignment": "right", "text": "$4,032.54",
        "size": "medium", "weight": "bolder",
    }  # fmt: skip
    columns = [
        {"type": "Column", "width": 1, "items": [text_block]} for text_block in (label, value)
    ]
    body: Any = [{"type": "ColumnSet", "spacing": "medium", "columns": columns}]
    card: Any = {"type": "AdaptiveCard", "version": "1.0", "body": body}

    (message,) = translate(card, source="teams", target="discord").messages

    assert isinstance(message, dict)
    assert message["components"] == [{"type": 10, "content": "Total **$4,032.54**"}]


@pytest.mark.parametrize("platform", ["slack", "discord", "teams"])
@pytest.mark.parametrize("native", [None, 7, "text", [], {}, [[]], {"nothing": "of it"}])
def test_an_invalid_message_is_refused_or_gives_no_content(
    platform: str, native: JsonValue
) -> None:
    for target in formats():
        try:
            done = translate(native, source=platform, target=target)
        except CodecError:
            continue
        assert len(done.messages) <= 1


@pytest.mark.parametrize("levels", [100, 480])
@pytest.mark.parametrize("source", ["slack", "discord", "teams"])
def test_values_nested_a_thousand_levels_give_a_result(source: str, levels: int) -> None:
    payload = {**{"slack": SLACK, "discord": DISCORD, "teams": ACTIVITY}[source]}
    payload["extra"] = nested(levels)

    for target in formats():
        assert translate(payload, source=source, target=target).messages


def test_a_deep_payload_becomes_uacs_without_the_native_part() -> None:
    payload = {**SLACK, "extra": nested(400)}

    done = translate(payload, source="slack", target="uacs")

    assert [loss.kind for loss in done.losses] == ["home_not_kept"]


def test_an_unexpanded_template_is_a_loss() -> None:
    card: dict[str, JsonValue] = {**ADAPTIVE, "body": [{"type": "TextBlock", "text": "Hi ${name}"}]}

    done = translate(card, source="teams", target="card")

    assert done.losses == (
        Loss(
            path="/body/0/text",
            kind="template_unexpanded",
            what="Hi ${name}",
            shown_as="Hi ${name}",
        ),
    )


# --- JSON -----------------------------------------------------------------------------------


def test_integers_of_any_length_stay_as_they_are() -> None:
    raw = b'{"a":123456789012345678901234567890,"b":[1.5,null,true,"\xc3\xa9"]}'

    assert write_json(read_json(raw)) == raw


@pytest.mark.parametrize("levels", [100, 499])
def test_nesting_of_a_thousand_levels_is_read_and_written(levels: int) -> None:
    raw = write_json(nested(levels))

    assert write_json(read_json(raw)) == raw


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'"\xff"', "is not UTF-8: byte 1 is wrong"),
        (b"[" * 5000 + b"]" * 5000, "nested"),  # versions of Python have different limits
        (b"[" * 1010 + b"]" * 1010, "is nested more than 1008 levels deep"),
        (b"9" * 5000, "is not JSON"),
    ],
)
def test_invalid_json_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(CodecError) as refused:
        read_json(raw)

    assert reason in refused.value.reason


@pytest.mark.parametrize(
    ("value", "place", "reason"),
    [
        ({"a": ["ok", "\ud800"]}, "/a/1", "has a lone surrogate, which is no character"),
        ({"a": {"\udfff": 1}}, "/a/\udfff", "has a lone surrogate, which is no character"),
        ([{"b/c": math.inf}], "/0/b~1c", "is a number that JSON cannot hold"),
        ({"a": [], "b": [[1], {1}]}, "/b/1", "is no JSON, but set"),
    ],
)
def test_values_that_json_cannot_hold_are_refused_with_their_place(
    value: object, place: str, reason: str
) -> None:
    with pytest.raises(CodecError) as refused:
        check_json(value)

    assert (refused.value.pointer, refused.value.reason) == (place, reason)


# --- many lines -----------------------------------------------------------------------------


def test_every_line_is_answered_in_order() -> None:
    answers = batch(job(CARD, name="1"), b"", job(["no card"], name="2"), job(CARD, name="3"))

    assert [answer["id"] for answer in answers] == ["1", "2", "3"]
    assert answers[0] == {"id": "1", "messages": [CARD], "losses": []}
    assert answers[1]["error"]["type"] == "CodecError"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"{", {"type": "CodecError", "pointer": ""}),
        (b'"\xff"', {"type": "CodecError", "pointer": ""}),
        (b"[1]", {"type": "CodecError", "pointer": ""}),
        (b'{"id": 1}', {"type": "CodecError", "pointer": "/payload"}),
        (b'{"payload": {}, "from": 1}', {"type": "CodecError", "pointer": "/from"}),
        (job({}, "zulip"), {"type": "ConfigError", "pointer": ""}),
        (job({}, "card", "zulip"), {"type": "CodecError", "pointer": "/nodes"}),
        (job(nested(600)), {"type": "CodecError", "pointer": ""}),
    ],
)
def test_a_bad_line_is_answered_with_its_error(line: bytes, error: dict[str, str]) -> None:
    bad, good = batch(line, job(CARD))

    assert {key: bad["error"][key] for key in error} == error
    assert bad["error"]["message"]
    assert good["messages"] == [CARD]


def test_a_line_that_is_too_long_is_skipped_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MOST_BYTES", 200)

    first, second, third = batch(job("x" * 1000), job(CARD), job("x" * 3000))

    assert "more than 200 bytes" in first["error"]["message"]
    assert second["messages"] == [CARD]
    assert "more than 200 bytes" in third["error"]["message"]


def test_an_internal_error_is_reported_and_the_next_line_is_translated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    with monkeypatch.context() as patched:
        patched.setattr(lines_module, "translate", broken)
        (answer,) = batch(job(CARD))

    assert answer["error"] == {
        "type": "ZeroDivisionError",
        "pointer": "",
        "message": "the bridge failed, please report it: oops",
    }


# --- the command ----------------------------------------------------------------------------


def test_the_command_prints_messages_and_losses() -> None:
    result = cli("translate", "--from", "card", "--to", "card", stdin=json.dumps(CARD))

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"messages": [CARD], "losses": []}


def test_the_report_is_a_table_of_the_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    from bridge.app.translation import translate as module

    loss = Loss(path="/nodes/0", kind="rule_dropped", what="a rule", shown_as="")
    monkeypatch.setattr(
        module, "translate", lambda *_, **__: module.Translation((CARD, CARD), (loss,))
    )

    result = cli("translate", "--from", "card", "--to", "card", "--report", stdin="{}")

    assert result.stdout == (
        "2 messages, 1 lost or shown otherwise\n"
        "  where     kind          what    shown as\n"
        "  /nodes/0  rule_dropped  a rule\n"
    )


@pytest.mark.process
def test_translating_imports_no_sdk() -> None:
    code = (
        "import sys; from bridge.app.translation.translate import translate\n"
        "for one in ('slack', 'discord', 'teams'):\n"
        "    translate({'type': 'card', 'nodes': ['hi']}, source='card', target=one)\n"
        "heavy = {'slack_bolt', 'slack_sdk', 'discord', 'botbuilder', 'aiohttp', 'uvicorn'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_batch_reads_lines_and_writes_lines() -> None:
    result = cli("translate", "--batch", stdin=f"{job(CARD).decode()}\nnonsense\n")

    first, second = result.stdout.splitlines()
    assert json.loads(first)["messages"] == [CARD]
    assert json.loads(second)["error"]["type"] == "CodecError"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("--from", "card"), 2, "Give --from and --to, or --batch"),
        (
            ("--from", "zulip", "--to", "card"),
            2,
            "Unknown format 'zulip'; there are: discord, irc, slack",
        ),
        (("--from", "card", "--to", "card"), 1, "is not JSON"),
    ],
)
def test_the_command_reports_each_error(
    arguments: tuple[str, ...], code: int, expected: str
) -> None:
    result = cli("translate", *arguments, stdin="nonsense")

    assert (result.exit_code, expected in result.stderr) == (code, True)

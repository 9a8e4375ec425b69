"""What fits a budget of tokens, and what becomes of what does not."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from bridge.content.messages.agent_parts import STATE
from bridge.content.messages.conversation_window import Window, cut_message
from bridge.content.messages.llm_tokens import first_tokens, part_tokens, text_tokens, tokens_of
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.uacs import (
    Actor,
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    VideoPart,
)

BOT = "agent:bot"
STORED = MediaSource(file_id="blob:1")
CALL = ToolCallPart(id="c1", name="look_up", arguments={"of": "a"})


def message_of(name: str, *parts: ContentPart | str, actor_id: str = "u1") -> Message:
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    actor = Actor(id=actor_id, role="human")
    return Message(message_id=name, timestamp="2026-11-22T12:00:00Z", actor=actor, content=content)


def window_of(budget: int, *messages: Message, reader: str = "") -> Window:
    window = Window(budget, reader)
    for message in reversed(messages):
        if not window.take(message):
            break
    return window


def texts(message: Message) -> list[str]:
    return [part.text for part in message.content if isinstance(part, TextPart)]


def test_the_newest_messages_that_fit_are_taken_whole() -> None:
    messages = [message_of(f"m{n}", "x" * 400) for n in range(10)]

    window = window_of(350, *messages)

    assert [message.message_id for message in window.messages()] == ["m7", "m8", "m9"]
    assert window.messages()[0] == messages[7]
    assert window.cut
    assert window.tokens == 3 * 108
    assert not window_of(2000, *messages).cut


@pytest.mark.parametrize(
    ("part", "details", "tokens"),
    [
        (ImagePart(source=STORED, media_type="image/png"), {}, 1500),
        (AudioPart(source=STORED, media_type="audio/ogg"), {"duration_s": 60.0}, 1921),
        (VideoPart(source=STORED, media_type="video/mp4"), {"duration_s": 10.0}, 3001),
        (AudioPart(source=STORED, media_type="audio/ogg"), {}, 1500),
        (FilePart(source=STORED, media_type="application/pdf"), {"size": 400_000}, 10_001),
        (FilePart(source=STORED, media_type="text/csv"), {"size": 8000}, 2001),
        (TextPart(text="four" * 10), {}, 10),
        (TextPart(text="日本語"), {}, 3),
    ],
)
def test_every_kind_of_part_is_counted(part: ContentPart, details: Any, tokens: int) -> None:
    assert part_tokens(part, PartDetails(**details)) == tokens


def test_only_one_of_a_payload_and_its_fallback_is_counted() -> None:
    payload = StructuredDataPart(schema_id="application/x+json", data={"a": "x" * 4000})
    both = with_bridge_metadata(
        message_of("m", payload, "short"), BridgeMetadata.model_validate({"fallbacks": {"0": [1]}})
    )

    assert tokens_of(both) == tokens_of(message_of("m", "short"))


def test_an_agents_private_parts_count_for_that_agent_only() -> None:
    state = StructuredDataPart(schema_id=STATE, data={"api": "x", "item": "y" * 400})
    message = message_of("m", "Hi", state, actor_id=BOT)

    assert tokens_of(message, BOT) > 100
    assert tokens_of(message, "agent:other") < 20


def test_a_message_larger_than_the_budget_is_cut_with_a_mark() -> None:
    long = message_of("m", "word " * 4000)

    window = window_of(600, message_of("older", "Hello"), long)

    (cut,) = window.messages()
    begun, mark = texts(cut)
    assert begun.startswith("word word")
    assert begun.endswith("word")
    assert mark == "[This message is cut here: all of it is about 5008 tokens.]"
    assert 500 < tokens_of(cut) <= 600


def test_an_older_message_above_the_budget_is_cut_to_the_remaining_tokens() -> None:
    window = window_of(1000, message_of("older", "y" * 9000), message_of("m", "x" * 1600))

    older, newest = window.messages()
    assert newest == message_of("m", "x" * 1600)
    assert "cut here" in texts(older)[-1]
    assert window.tokens <= 1000
    assert window.cut


def test_calls_and_results_are_kept_or_dropped_together() -> None:
    call = message_of("m1", CALL, actor_id=BOT)
    result = message_of("m2", ToolResultPart(tool_call_id="c1", content="it rains"), "x" * 400)
    alone = message_of("m3", ToolResultPart(tool_call_id="c1", content="it rains"))
    last = message_of("m4", "Well?")

    whole = window_of(1000, call, result, last).messages()
    without = window_of(140, call, result, last).messages()

    assert whole == (call, result, last)
    assert [message.message_id for message in without] == ["m2", "m4"]
    assert without[0].content == (TextPart(text="x" * 400),)
    assert window_of(100, message_of("m0", "y" * 400), alone, last).messages() == (last,)


def test_a_long_result_is_cut_and_stays_with_its_call() -> None:
    result = ToolResultPart(tool_call_id="c1", content='a "b"\n' * 4000)
    message = message_of("m", "Let me see.", CALL, result, "It rains.", actor_id=BOT)

    cut = cut_message(message, 700, BOT)

    kinds = [part.type for part in cut.content]
    assert kinds == ["text", "tool_call", "tool_result", "text"]
    result_part = cut.content[2]
    assert isinstance(result_part, ToolResultPart)
    assert str(result_part.content).endswith("[This result is cut here.]")
    assert tokens_of(cut, BOT) <= 700


def test_a_call_is_dropped_with_a_result_that_does_not_fit() -> None:
    rows: list[JsonValue] = ["x" * 100 for _ in range(50)]
    result = ToolResultPart(tool_call_id="c1", content={"rows": rows})
    message = message_of("m", "z" * 2000, CALL, result, actor_id=BOT)

    cut = cut_message(message, 560, BOT)

    assert [part.type for part in cut.content] == ["text", "text"]


def test_files_keep_their_names_in_a_cut_message() -> None:
    picture = ImagePart(source=STORED, media_type="image/png")
    state = StructuredDataPart(schema_id=STATE, data={"api": "x", "item": 1})
    named = with_bridge_metadata(
        message_of("m", state, picture, "x" * 8000),
        BridgeMetadata(parts={"1": PartDetails(name="plan.png")}),
    )

    cut = cut_message(named, 2000)

    assert cut.content[0] == picture
    assert read_bridge_metadata(cut)[0].parts["0"].name == "plan.png"


@pytest.mark.parametrize("text", ["word " * 100, "日本語" * 100, "x" * 300, "ä" * 50 + "x" * 50])
@pytest.mark.parametrize("max_tokens", [-1, 0, 1, 7, 60])
def test_the_beginning_of_a_text_never_exceeds_its_tokens(text: str, max_tokens: int) -> None:
    begun = first_tokens(text, max_tokens)

    assert text.startswith(begun)
    assert text_tokens(begun) <= max(max_tokens, 0)

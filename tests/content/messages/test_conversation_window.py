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
KEPT = MediaSource(file_id="blob:1")
CALL = ToolCallPart(id="c1", name="look_up", arguments={"of": "a"})


def message_of(name: str, *parts: ContentPart | str, who: str = "u1") -> Message:
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    actor = Actor(id=who, role="human")
    return Message(message_id=name, timestamp="2026-11-22T12:00:00Z", actor=actor, content=content)


def taken(budget: int, *messages: Message, reader: str = "") -> Window:
    window = Window(budget, reader)
    for message in reversed(messages):
        if not window.take(message):
            break
    return window


def texts(message: Message) -> list[str]:
    return [part.text for part in message.content if isinstance(part, TextPart)]


def test_the_newest_that_fit_are_taken_whole() -> None:
    messages = [message_of(f"m{n}", "x" * 400) for n in range(10)]

    window = taken(350, *messages)

    assert [message.message_id for message in window.messages()] == ["m7", "m8", "m9"]
    assert window.messages()[0] == messages[7]
    assert window.cut
    assert window.tokens == 3 * 108
    assert not taken(2000, *messages).cut


@pytest.mark.parametrize(
    ("part", "details", "tokens"),
    [
        (ImagePart(source=KEPT, media_type="image/png"), {}, 1500),
        (AudioPart(source=KEPT, media_type="audio/ogg"), {"duration_s": 60.0}, 1921),
        (VideoPart(source=KEPT, media_type="video/mp4"), {"duration_s": 10.0}, 3001),
        (AudioPart(source=KEPT, media_type="audio/ogg"), {}, 1500),
        (FilePart(source=KEPT, media_type="application/pdf"), {"size": 400_000}, 10_001),
        (FilePart(source=KEPT, media_type="text/csv"), {"size": 8000}, 2001),
        (TextPart(text="four" * 10), {}, 10),
        (TextPart(text="日本語"), {}, 3),
    ],
)
def test_every_kind_of_part_is_counted(part: ContentPart, details: Any, tokens: int) -> None:
    assert part_tokens(part, PartDetails(**details)) == tokens


def test_of_a_payload_and_its_fallback_one_counts() -> None:
    payload = StructuredDataPart(schema_id="application/x+json", data={"a": "x" * 4000})
    both = with_bridge_metadata(
        message_of("m", payload, "short"), BridgeMetadata.model_validate({"fallbacks": {"0": [1]}})
    )

    assert tokens_of(both) == tokens_of(message_of("m", "short"))


def test_what_an_agent_keeps_for_itself_counts_for_it_alone() -> None:
    state = StructuredDataPart(schema_id=STATE, data={"api": "x", "item": "y" * 400})
    message = message_of("m", "Hi", state, who=BOT)

    assert tokens_of(message, BOT) > 100
    assert tokens_of(message, "agent:other") < 20


def test_a_message_larger_than_the_budget_is_cut_with_a_mark() -> None:
    long = message_of("m", "word " * 4000)

    window = taken(600, message_of("older", "Hello"), long)

    (cut,) = window.messages()
    begun, mark = texts(cut)
    assert begun.startswith("word word")
    assert begun.endswith("word")
    assert mark == "[This message is cut here: all of it is about 5008 tokens.]"
    assert 500 < tokens_of(cut) <= 600


def test_an_older_message_larger_than_the_budget_is_cut_to_what_is_left() -> None:
    window = taken(1000, message_of("older", "y" * 9000), message_of("m", "x" * 1600))

    older, newest = window.messages()
    assert newest == message_of("m", "x" * 1600)
    assert "cut here" in texts(older)[-1]
    assert window.tokens <= 1000
    assert window.cut


def test_calls_and_results_are_kept_together_or_not_at_all() -> None:
    call = message_of("m1", CALL, who=BOT)
    result = message_of("m2", ToolResultPart(tool_call_id="c1", content="it rains"), "x" * 400)
    alone = message_of("m3", ToolResultPart(tool_call_id="c1", content="it rains"))
    last = message_of("m4", "Well?")

    whole = taken(1000, call, result, last).messages()
    without = taken(140, call, result, last).messages()

    assert whole == (call, result, last)
    assert [message.message_id for message in without] == ["m2", "m4"]
    assert without[0].content == (TextPart(text="x" * 400),)
    assert taken(100, message_of("m0", "y" * 400), alone, last).messages() == (last,)


def test_a_long_result_is_cut_and_stays_with_its_call() -> None:
    result = ToolResultPart(tool_call_id="c1", content='a "b"\n' * 4000)
    message = message_of("m", "Let me see.", CALL, result, "It rains.", who=BOT)

    cut = cut_message(message, 700, BOT)

    kinds = [part.type for part in cut.content]
    assert kinds == ["text", "tool_call", "tool_result", "text"]
    result_part = cut.content[2]
    assert isinstance(result_part, ToolResultPart)
    assert str(result_part.content).endswith("[This result is cut here.]")
    assert tokens_of(cut, BOT) <= 700


def test_a_call_whose_result_has_no_room_is_left_out_with_it() -> None:
    rows: list[JsonValue] = ["x" * 100 for _ in range(50)]
    result = ToolResultPart(tool_call_id="c1", content={"rows": rows})
    message = message_of("m", "z" * 2000, CALL, result, who=BOT)

    cut = cut_message(message, 560, BOT)

    assert [part.type for part in cut.content] == ["text", "text"]


def test_names_of_files_stay_with_them() -> None:
    picture = ImagePart(source=KEPT, media_type="image/png")
    state = StructuredDataPart(schema_id=STATE, data={"api": "x", "item": 1})
    named = with_bridge_metadata(
        message_of("m", state, picture, "x" * 8000),
        BridgeMetadata(parts={"1": PartDetails(name="plan.png")}),
    )

    cut = cut_message(named, 2000)

    assert cut.content[0] == picture
    assert read_bridge_metadata(cut)[0].parts["0"].name == "plan.png"


@pytest.mark.parametrize("text", ["word " * 100, "日本語" * 100, "x" * 300, "ä" * 50 + "x" * 50])
@pytest.mark.parametrize("most", [-1, 0, 1, 7, 60])
def test_a_beginning_is_never_more_than_asked_for(text: str, most: int) -> None:
    begun = first_tokens(text, most)

    assert text.startswith(begun)
    assert text_tokens(begun) <= max(most, 0)

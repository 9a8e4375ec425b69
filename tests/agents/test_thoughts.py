"""What open models and their servers write into answers: thoughts, pictures, calls without ids."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.agents.openai_chat.read import read_response
from bridge.agents.openai_chat.thoughts import (
    RetroactiveThought,
    Thought,
    ThoughtParser,
    split_thoughts,
)
from bridge.agents.openai_chat.write import write_response
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.content.messages.agent_parts import REASONING
from bridge.model.turns import (
    AgentEvent,
    MessageGiven,
    PartGiven,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
    TurnDone,
)
from bridge.router.turns.answer import Answer as RoomAnswer
from bridge.uacs import ImagePart, TextPart
from tests.agents.model.test_agent import inputs_of
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import answer, build, message_from, nothing, room, text_of, tools, turn
from tests.agents.vendors import VENDORS, chat_chunk

CHAT = VENDORS["openai-chat"]
CASES: dict[str, list[Any]] = {
    "<think>a</think>b": [Thought("a", "<think>", "</think>"), "b"],
    "\n<think>\na b\n</think>\n\nc": [Thought("a b", "\n<think>\n", "\n</think>\n\n"), "c"],
    "a\n</think>\n\nb": [Thought("a", "", "\n</think>\n\n"), "b"],
    "a</think>\nb": [Thought("a", "", "</think>\n"), "b"],
    "<think>a": [Thought("a", "<think>", "")],
    "<think>\n\n</think>\n\nb": [Thought("", "<think>\n\n", "</think>\n\n"), "b"],
    "a\n<think>b</think>\nc": ["a\n", Thought("b", "<think>", "</think>\n"), "c"],
    "a\n<think>b": ["a\n<think>b"],
    "Write `<think>` first": ["Write `<think>` first"],
    "Write `</think>`\nlast": ["Write `</think>`\nlast"],
    "```\n<think>a</think>\n```\nb": ["```\n<think>a</think>\n```\nb"],
    "~~~xml\n</think>\n~~~\nb": ["~~~xml\n</think>\n~~~\nb"],
    "    <think>a</think>": ["    <think>a</think>"],
    "x\n    </think>\ny": [Thought("x", "", "\n    </think>\n"), "y"],
    "The tag <think> opens, </think> closes it.": ["The tag <think> opens, </think> closes it."],
    "a</think>": ["a</think>"],
    "1 < 2 <th": ["1 < 2 <th"],
}  # fmt: skip
texts = st.lists(
    st.sampled_from(["<think>", "</think>", "\n", "\n\n", "a", " ", "`", "```", "~~~", "<", "thi",
                     "    ", "word ", "\r\n"])
).map("".join)  # fmt: skip


@pytest.mark.parametrize("content", CASES)
def test_reasoning_tags_are_parsed_except_in_code(content: str) -> None:
    assert split_thoughts(content) == CASES[content]


@given(texts)
def test_the_joined_segments_are_the_original_content(content: str) -> None:
    pieces = split_thoughts(content)

    assert "".join(piece if isinstance(piece, str) else piece.whole for piece in pieces) == content


@given(texts, st.sets(st.integers(0, 60)), st.booleans())
def test_the_chunks_of_a_stream_do_not_change_its_segments(
    content: str, cuts: set[int], first: bool
) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(content)), len(content)]
    pieces = [content[a:b] for a, b in pairwise(edges)]

    assert _read(pieces, first) == _read([content], first)


def _read(chunks: list[str], first: bool) -> list[Any]:
    """Return the pieces of an answer that arrives in chunks, with neighbouring texts joined."""
    parser = ThoughtParser(first=first)
    segments = [segment for chunk in chunks for segment in parser.feed(chunk)] + parser.end()
    pieces: list[Any] = []
    for segment in segments:
        match segment:
            case RetroactiveThought(thought):
                pieces = [thought]
            case str() if pieces and isinstance(pieces[-1], str):
                pieces[-1] += segment
            case _:
                pieces.append(segment)
    return pieces


def _response(**message: Any) -> Any:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {"id": "c1", "object": "chat.completion", "choices": [choice]}


@given(texts)
def test_an_answer_with_reasoning_returns_to_its_api_unchanged(content: str) -> None:
    response = _response(content=content)

    assert write_response(read_response(response, "bot"), "bot") == response


def _thoughts(events: list[Any]) -> list[str]:
    found: list[Any] = [event.part for event in events if isinstance(event, PartGiven)]
    found += [part for event in events if isinstance(event, TextReplaced) for part in event.parts]
    parts: list[Any] = [candidate for candidate in found if candidate.get("schema_id") == REASONING]
    return [one["data"]["text"] for one in parts]


def _chunks(text: str, size: int = 3) -> Answer:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return Answer(
        sse(*(chat_chunk({"content": piece}) for piece in pieces), chat_chunk({}, "stop"))
    )


@pytest.mark.parametrize("size", [1, 3, 7, 100])
async def test_reasoning_inside_the_text_is_not_shown(size: int) -> None:
    text = "<think>\nHm, 2 < 3 </thing>\n</think>\n\nHello `<think>`!"
    async with model_server(_chunks(text, size)) as api:
        events = await answer(CHAT, api.url)

    assert text_of(events) == "Hello `<think>`!"
    assert _thoughts(events) == ["Hm, 2 < 3 </thing>"]
    assert isinstance(events[-1], TurnDone)


async def test_text_that_turns_out_to_be_reasoning_is_withdrawn() -> None:
    async with model_server(_chunks("Let me see.\n</think>\n\nHello!")) as api:
        given = build(CHAT, api.url, tools())
        first = [event async for event in given.run(turn(HELLO), nothing())]
        again = [event async for event in given.run(turn(HELLO), nothing())]

    assert _shown(first) == ["Hello!"]
    assert _thoughts(first) == _thoughts(again) == ["Let me see."]
    assert text_of(again) == "Hello!"
    assert not [one for one in again if isinstance(one, TextReplaced)]


async def test_withdrawing_reasoning_keeps_earlier_answers_of_the_turn() -> None:
    more = MessageGiven(message=message_from("slack:T:U2", "And in Bergen?", "Bob"))
    answers = _chunks("Rain."), _chunks("Let me see.\n</think>\n\nSnow.")
    async with model_server(*answers) as api:
        given = build(CHAT, api.url, tools())
        events = [event async for event in given.run(turn(HELLO), inputs_of(more))]

    assert _shown(events) == ["Rain.\n\nSnow."]
    assert _thoughts(events) == ["Let me see."]


def test_each_answer_of_a_turn_replaces_its_own_text_alone() -> None:
    answers: list[list[AgentEvent]] = [
        [TextDelta(text="One.")],
        [TextDelta(text="Hm."), TextReplaced(text="Two."), TextDelta(text=" Too.")],
        [TextDelta(text="Three.")],
        [TextDelta(text="Hm."), TextReplaced(text="Four.")],
        [PartGiven(part=IMAGE_PART), TextDelta(text="Five.")],
        [TextDelta(text="Hm."), TextReplaced(text="Six.")],
    ]
    paragraphs = Paragraphs()
    events: list[AgentEvent] = []
    for one in answers:
        paragraphs.next()
        events += [passed for event in one for passed in paragraphs.pass_on(event)]

    assert _shown(events) == ["One.\n\nTwo. Too.\n\nThree.\n\nFour.", "Five.\n\nSix."]


def _shown(events: list[AgentEvent]) -> list[str]:
    """The texts that stand in the room."""
    room_answer = RoomAnswer(_any("m"), "bot", 0.0)
    for event in events:
        room_answer.take(event)
    return [one.text for one in room_answer.message().content if isinstance(one, TextPart)]


async def test_an_answer_without_the_expected_reasoning_is_shown() -> None:
    async with model_server(_chunks("Hello!")) as api:
        events = await answer(CHAT, api.url, thinks_first=True)

    assert text_of(events) == "Hello!"
    assert _thoughts(events) == []


HELLO = room(message_from("slack:T1:U1", "Hello?", "Alice Smith"))
PIXEL = "iVBORw0KGgo="
IMAGE = {"type": "image_url", "index": 0,
         "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}  # fmt: skip
IMAGE_PART: Any = {"type": "image", "media_type": "image/png", "source": {"base64": PIXEL}}


def _any(value: Any) -> Any:
    return value


@pytest.mark.parametrize("key", ["delta", "message"])
async def test_images_of_an_answer_become_image_parts(key: str) -> None:
    chunk = chat_chunk({"role": "assistant", "content": "Look:", "images": [IMAGE]}, "stop")
    if key == "message":
        chunk["choices"][0]["message"] = chunk["choices"][0].pop("delta")
    async with model_server(Answer(sse(chunk))) as api:
        events = await answer(CHAT, api.url)

    parts: list[Any] = [event.part for event in events if isinstance(event, PartGiven)]
    pictures = [part for part in parts if part["type"] == "image"]
    assert [picture["source"]["base64"] for picture in pictures] == [PIXEL]
    assert text_of(events) == "Look:"


def test_images_return_to_their_api_unchanged_and_invalid_ones_are_preserved() -> None:
    odd = [IMAGE, {"type": "hologram", "data": [1]}, {"type": "image_url", "image_url": {}}]
    for images in ([IMAGE], odd, [IMAGE, IMAGE]):
        response = _response(content="Look:", images=images)
        message = read_response(response, "bot")
        count = sum(isinstance(part, ImagePart) for part in message.content)

        assert count == sum(image is IMAGE for image in images)
        assert write_response(message, "bot") == response


def _call(name: str | None = None, arguments: Any = "", **more: Any) -> Any:
    function: Any = {"arguments": arguments}
    if name is not None:
        function["name"] = name
    return {"type": "function", "function": function, **more}


TWO = [("f", {"a": 1}), ("f", {"a": 2})]
STREAMS: dict[str, list[Any]] = {
    "one id, two indexes": [
        [_call("f", '{"a": ', index=0, id="x")], [_call(None, "1}", index=0)],
        [_call("f", '{"a": 2}', index=1, id="x")]],
    "one id, one index": [
        [_call("f", '{"a": ', index=0, id="x")], [_call(None, "1}", index=0, id="x")],
        [_call("f", '{"a": 2}', index=0, id="x")]],
    "no index, no id, one chunk": [[_call("f", '{"a": 1}'), _call("f", '{"a": 2}')]],
    "no index, no id, two chunks": [[_call("f", '{"a": 1}')], [_call("f", '{"a": 2}')]],
    "no index, no id, in pieces": [
        [_call("f", "")], [_call(None, '{"a": 1}')], [_call("f", '{"a"')], [_call(None, ": 2}")]],
    "objects": [[_call("f", {"a": 1})], [_call("f", {"a": 2})]],
    "the name again with each piece": [
        [_call("f", '{"a"', index=0, id="x")], [_call("f", ": 1}", index=0, id="x")],
        [_call("f", '{"a": 2}', index=1, id="y")]],
    "all told again at the end": [
        [_call("f", '{"a": 1}', index=0, id="x"), _call("f", '{"a": 2}', index=1, id="y")],
        [_call("f", '{"a": 1}', index=0, id="x"), _call("f", '{"a": 2}', index=1, id="y")]],
    "in turns, told apart by their ids": [
        [_call("f", '{"a": ', id="x")], [_call("f", '{"a": ', id="y")],
        [_call(None, "1}", id="x")], [_call(None, "2}", id="y")]],
}  # fmt: skip
ALIKE: dict[str, list[Any]] = {
    "one id, two indexes": [
        [_call("f", "{}", index=0, id="x")], [_call("f", "{}", index=1, id="x")]],
    "one id, two indexes, all told again at the end": [
        [_call("f", "{}", index=0, id="x")], [_call("f", "{}", index=1, id="x")],
        [_call("f", "{}", index=0, id="x"), _call("f", "{}", index=1, id="x")]],
    "one id, one chunk": [[_call("f", "{}", id="x"), _call("f", "{}", id="x")]],
    "no id, two indexes": [[_call("f", "{}", index=0)], [_call("f", "{}", index=1)]],
    "no index, no id": [[_call("f", "{}")], [_call("f", "{}")]],
    "no index, no id, no arguments": [[_call("f", "")], [_call("f", "")]],
    "no index, no id, null for arguments": [[_call("f", None)], [_call("f", None)]],
}  # fmt: skip
CALLS = [
    *(pytest.param(chunks, TWO, id=name) for name, chunks in STREAMS.items()),
    *(pytest.param(value, [("f", {})] * 2, id=f"alike, {name}") for name, value in ALIKE.items()),
]


@pytest.mark.parametrize(("chunks", "made"), CALLS)
async def test_each_result_belongs_to_its_own_call(chunks: list[Any], made: list[Any]) -> None:
    calls = sse(
        *(chat_chunk({"tool_calls": chunk}) for chunk in chunks), chat_chunk({}, "tool_calls")
    )
    done = sse(chat_chunk({"content": "ok"}, "stop"))
    async with model_server(Answer(calls), Answer(calls), Answer(done)) as api:
        events = await answer(CHAT, api.url)

    called = [event.part for event in events if isinstance(event, ToolCalled)]
    answered = [event.part.tool_call_id for event in events if isinstance(event, ToolAnswered)]
    assert [(one.name, dict(one.arguments)) for one in called] == made * 2
    assert len({one.id for one in called}) == 4
    assert answered == [one.id for one in called]
    for message in api.requests[2]["messages"]:
        if message["role"] == "assistant":
            ids = [tool_call["id"] for tool_call in message["tool_calls"]]
            assert len(set(ids)) == 2
    results = [request for request in api.requests[2]["messages"] if request["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == answered

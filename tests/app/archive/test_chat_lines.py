"""Conversations with agents become examples that each API reads as its own requests."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from bridge.agents.conversation_codecs import MESSAGES_OF, codec_of
from bridge.app.archive.chat_lines import CHAT_FORMATS
from bridge.model import ActorId, Person, message_id_of
from bridge.model.export_records import ArchivedMessage, ExportedChannel, NotWritten
from bridge.model.times import datetime_of
from bridge.ports.exports import WriteOptions
from bridge.uacs import Actor, ImagePart, MediaSource, Message, TextPart, to_timestamp
from tests.archive.conversation import ANN, BOB, HOME

HELPER = Person(id=ActorId("agent:helper"), name="helper", bot=True)
CRITIC = Person(id=ActorId("tin:W1:B7"), name="critic", bot=True)
APIS = {"openai-chat": "openai-chat", "anthropic-chat": "anthropic", "gemini-chat": "gemini",
        "ailoy-chat": "ailoy"}  # fmt: skip
FILE = "blob:sha256-" + "ab" * 32


def said(
    number: int, author: Person, text: str, *, root: int | None = None, at: float | None = None,
    parts: tuple[Any, ...] = (), **more: Any,
) -> ArchivedMessage:  # fmt: skip
    time = 1_700_000_000.0 + (number if at is None else at)
    message = Message(
        message_id=message_id_of(HOME, str(number)),
        timestamp=to_timestamp(datetime_of(time)),
        actor=Actor(id=author.id, role="assistant" if author.bot else "human", name=author.name),
        content=(*parts, TextPart(text=text)),
    )
    root_id = None if root is None else message_id_of(HOME, str(root))
    return ArchivedMessage.of(
        message, author, time=time, place=None, native_id=str(number), root=root_id, **more
    )


def written(
    folder: Path, name: str, *messages: ArchivedMessage,
    files: Callable[[str], BinaryIO | None] = lambda _: None,
) -> tuple[list[Any], list[NotWritten]]:  # fmt: skip
    form = next(form for form in CHAT_FORMATS if form.name == name)
    path = folder / "chat.jsonl"
    writer = form.writer(path, WriteOptions(files=files))
    writer.channel(ExportedChannel(HOME, "home"))
    for message in messages:
        writer.message(message)
    not_written = list(writer.finish())
    return [json.loads(line) for line in path.read_bytes().splitlines()], not_written


@pytest.mark.parametrize("name", APIS)
def test_a_line_is_a_request_of_the_api_with_the_agent_as_assistant(
    tmp_path: Path, name: str
) -> None:
    ((line,), _) = written(
        tmp_path, name, said(1, ANN, "What is up?"), said(2, HELPER, "The sky."),
        said(3, BOB, "And down?"), said(4, HELPER, "The **ground**."), said(5, ANN, "thanks"),
    )  # fmt: skip

    conversation = codec_of(APIS[name]).read_request(line, "assistant")
    spoken = [message for message in conversation.messages if message.actor.role != "system"]
    assert [message.actor.role for message in spoken] == [
        "human", "assistant", "human", "assistant",
    ]  # fmt: skip
    texts = ["".join(p.text for p in m.content if isinstance(p, TextPart)) for m in spoken]
    assert "The sky." in texts[1]
    assert "Ann" in json.dumps(line)
    assert "thanks" not in json.dumps(line)
    assert MESSAGES_OF[APIS[name]] in line


def test_threads_and_pauses_separate_examples_and_each_agent_has_its_own(tmp_path: Path) -> None:
    lines, not_written = written(
        tmp_path, "openai-chat",
        said(1, ANN, "root"), said(2, HELPER, "above", at=2), said(3, BOB, "in thread", root=1),
        said(4, HELPER, "below", root=1), said(5, CRITIC, "I disagree", root=1),
        said(6, ANN, "much later", at=9000), said(7, HELPER, "still here", at=9001),
        said(8, ANN, "alone", at=20_000),
    )  # fmt: skip

    shown = [json.dumps(line) for line in lines]
    assert len(shown) == 4
    words = ("above", "still here", "in thread", "I disagree", "alone")
    assert [sum(word in text for text in shown) for word in words] == [1, 1, 2, 1, 0]
    assert [item.what for item in not_written] == [
        "conversation without an agent", "role demoted",
    ]  # fmt: skip
    roles = [[message["role"] for message in line["messages"]][-1] for line in lines]
    assert roles == ["assistant"] * 4


def test_deleted_messages_and_joins_are_no_part_of_an_example(tmp_path: Path) -> None:
    ((line,), _) = written(
        tmp_path, "openai-chat", said(1, ANN, "question"), said(2, BOB, "gone", deleted=True),
        said(3, HELPER, "answer"),
    )  # fmt: skip

    assert "gone" not in json.dumps(line)


def test_an_answer_without_a_question_is_counted(tmp_path: Path) -> None:
    lines, not_written = written(tmp_path, "ailoy-chat", said(1, HELPER, "hello all"))

    assert (lines, [item.what for item in not_written]) == ([], ["answer without a question"])


@pytest.mark.parametrize("name", APIS)
def test_stored_pictures_are_written_as_their_bytes(tmp_path: Path, name: str) -> None:
    picture = ImagePart(source=MediaSource(file_id=FILE), media_type="image/png")
    ((line,), _) = written(
        tmp_path, name, said(1, ANN, "look", parts=(picture,)), said(2, HELPER, "nice"),
        files=lambda file_id: BytesIO(b"png bytes") if file_id == FILE else None,
    )  # fmt: skip

    assert base64.b64encode(b"png bytes").decode() in json.dumps(line)
    assert FILE not in json.dumps(line)


def test_a_long_conversation_is_cut_into_several_examples(tmp_path: Path) -> None:
    messages = [said(n, HELPER if n % 2 else ANN, f"m{n}", at=n) for n in range(2, 502)]

    lines, _ = written(tmp_path, "openai-chat", *messages)

    assert len(lines) == 3
    assert all(len(line["messages"]) <= 202 for line in lines)

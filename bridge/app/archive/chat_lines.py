"""Conversations with agents as JSON lines of the agents' APIs, for fine-tuning and evaluation.

A line is one example: a thread, or what was said in a channel without a pause of an hour. The
messages of one agent are the assistant's, everybody else is a user under a name. A conversation
with several agents is an example for each of them. Conversations without an agent are left out.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from uuid import NAMESPACE_URL, uuid5

import orjson

from bridge.agents.codec.speakers import agent_id
from bridge.agents.conversation_codecs import ConversationCodec, codec_of
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions
from bridge.uacs import Conversation, ImagePart, MediaSource, Message

_PAUSE = 3600.0  # seconds between two conversations of a channel
_LONGEST = 200  # messages of one example
_THREADS = 2000  # threads that may go on, of which the oldest ends
_ROOTS = 20_000  # messages that may become the root of a thread
_LARGEST_IMAGE = 5_000_000  # bytes that are written into an example
_ASSISTANT = "assistant"


class ChatLines:
    """The format of one API."""

    platform = ""
    reads = False
    writes = True
    payloads = frozenset[str]()

    def __init__(self, api: str, name: str, title: str) -> None:
        self.name = name
        self.title = title
        self._api = api

    def recognises(self, path: Path) -> bool:
        """Nothing: it is only written."""
        del path
        return False

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """It is only written."""
        raise NotImplementedError(f"{self.name} is only written")

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a file of JSON lines."""
        return _Writer(path.open("wb"), codec_of(self._api), options)


CHAT_FORMATS = (
    ChatLines("openai-chat", "openai-chat", "OpenAI chat, JSON lines"),
    ChatLines("anthropic", "anthropic-chat", "Anthropic messages, JSON lines"),
    ChatLines("gemini", "gemini-chat", "Gemini contents, JSON lines"),
    ChatLines("ailoy", "ailoy-chat", "Ailoy chat, JSON lines"),
)


@dataclass
class _Talk:
    """Messages that belong together, and the time of the last."""

    messages: list[Message] = field(default_factory=list[Message])
    last: float = 0.0


class _Writer:
    def __init__(self, file: BinaryIO, codec: ConversationCodec, options: WriteOptions) -> None:
        self._file = file
        self._codec = codec
        self._options = options
        self._talk = _Talk()
        self._threads: OrderedDict[str, _Talk] = OrderedDict()
        self._roots: OrderedDict[str, Message] = OrderedDict()
        self._not_written: Counter[tuple[str, str]] = Counter()

    def person(self, person: ExportedPerson) -> None:
        """The names of authors are in the messages."""

    def channel(self, channel: ExportedChannel) -> None:
        del channel
        self._end_all()

    def message(self, message: ArchivedMessage) -> None:
        if message.deleted or message.message.actor.role == "system":
            return
        said = self._options.cards.with_fallbacks(message.message)
        if message.root is None:
            self._in_channel(said, message.time)
        else:
            self._in_thread(said, message.root, message.time)

    def finish(self) -> Sequence[NotWritten]:
        self._end_all()
        self.close()
        return [
            item
            for (what, written_as), count in self._not_written.items()
            for item in [NotWritten(None, what, written_as)] * count
        ]

    def close(self) -> None:
        self._file.close()

    # --- examples -------------------------------------------------------------------------------

    def _in_channel(self, said: Message, time: float) -> None:
        talk = self._talk
        if talk.messages and (time - talk.last > _PAUSE or len(talk.messages) == _LONGEST):
            self._end(talk)
            talk = self._talk = _Talk()
        talk.messages.append(said)
        talk.last = time
        self._roots[said.message_id] = said
        if len(self._roots) > _ROOTS:
            self._roots.popitem(last=False)

    def _in_thread(self, said: Message, root: str, time: float) -> None:
        talk = self._threads.pop(root, None)
        if talk is not None and len(talk.messages) == _LONGEST:
            self._end(talk)
            talk = None
        if talk is None:
            first = self._roots.get(root)
            talk = _Talk([first] if first else [])
        talk.messages.append(said)
        talk.last = time
        self._threads[root] = talk
        if len(self._threads) > _THREADS:
            self._end(self._threads.popitem(last=False)[1])

    def _end_all(self) -> None:
        self._end(self._talk)
        for talk in self._threads.values():
            self._end(talk)
        self._talk = _Talk()
        self._threads.clear()
        self._roots.clear()

    def _end(self, talk: _Talk) -> None:
        """Write an example for each agent; the messages behind its last one are not part of it."""
        agents = dict.fromkeys(
            message.actor.id for message in talk.messages if message.actor.role == "assistant"
        )
        if talk.messages and not agents:
            self._not_written["conversation without an agent", ""] += 1
        for agent in agents:
            ours = [number for number, m in enumerate(talk.messages) if m.actor.id == agent]
            others = [number for number, m in enumerate(talk.messages) if m.actor.id != agent]
            if not others or others[0] > ours[-1]:
                self._not_written["answer without a question", ""] += 1
                continue
            self._write(talk.messages[others[0] : ours[-1] + 1], agent)

    def _write(self, messages: Sequence[Message], agent: str) -> None:
        told = tuple(self._as_assistant(message, agent) for message in messages)
        conversation = Conversation(
            conversation_id=str(uuid5(NAMESPACE_URL, f"{told[0].message_id} {agent}")),
            created_at=told[0].timestamp,
            updated_at=told[-1].timestamp,
            messages=told,
        )
        request = self._codec.write_request(conversation, _ASSISTANT)
        for loss in request.losses:
            self._not_written[loss.kind.replace("_", " "), loss.shown_as or ""] += 1
        try:
            self._file.write(orjson.dumps(request.body, option=orjson.OPT_APPEND_NEWLINE))
        except TypeError:  # integers beyond 64 bits
            self._file.write(json.dumps(request.body, ensure_ascii=False).encode() + b"\n")

    def _as_assistant(self, message: Message, agent: str) -> Message:
        content = tuple(
            self._with_bytes(part) if isinstance(part, ImagePart) else part
            for part in message.content
        )
        if message.actor.id != agent:
            return message.model_copy(update={"content": content})
        actor = message.actor.model_copy(update={"id": agent_id(_ASSISTANT)})
        return message.model_copy(update={"content": content, "actor": actor})

    def _with_bytes(self, part: ImagePart) -> ImagePart:
        """A stored picture as its bytes; the store's own ids tell nobody else anything."""
        file_id = part.source.file_id
        stream = None if file_id is None else self._options.files(file_id)
        if stream is None:
            return part
        with stream:
            data = stream.read(_LARGEST_IMAGE + 1)
        if len(data) > _LARGEST_IMAGE:
            return part
        source = MediaSource(base64=base64.b64encode(data).decode())
        return part.model_copy(update={"source": source})

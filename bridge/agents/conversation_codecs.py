"""The codecs of the APIs that take a conversation, by kind, without the agents that use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import JsonValue

from bridge.agents.codec.prompt import WrittenRequest
from bridge.uacs import Conversation, Message

MESSAGES_OF = {
    "acp": "input",
    "ailoy": "messages",
    "anthropic": "messages",
    "gemini": "contents",
    "openai-chat": "messages",
    "openai-responses": "input",
}
"""The kinds of these APIs, each with the member of its requests that holds the messages."""


@dataclass(frozen=True)
class ConversationCodec:
    """The pure conversions of one API. The readers raise CodecError for JSON of another form. Their
    second argument is the name of the agent that the assistant's messages belong to."""

    read_request: Callable[[JsonValue, str], Conversation]
    read_response: Callable[[JsonValue, str], Message]
    write_request: Callable[[Conversation, str], WrittenRequest]


@cache
def codec_of(kind: str) -> ConversationCodec:
    """Return the codec of a kind, which is a key of `MESSAGES_OF`; its modules are imported
    once."""
    package = f"bridge.agents.{kind.replace('-', '_')}"
    read: Any = import_module(f"{package}.read")
    write: Any = import_module(f"{package}.write")
    return ConversationCodec(read.read_request, read.read_response, write.write_request)

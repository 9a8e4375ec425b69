"""The pure codecs of the agent APIs by their kinds, without the agents that use them."""

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
"""The APIs that take a conversation, with the member of their requests that holds it."""


@dataclass(frozen=True)
class ConversationCodec:
    """JSON <-> UACS. The readers raise CodecError for what is not of their API; the second argument
    is the name of the agent whose words the assistant's are."""

    read_request: Callable[[JsonValue, str], Conversation]
    read_response: Callable[[JsonValue, str], Message]
    write_request: Callable[[Conversation, str], WrittenRequest]


@cache
def codec_of(kind: str) -> ConversationCodec:
    """Of one of `MESSAGES_OF`."""
    package = f"bridge.agents.{kind.replace('-', '_')}"
    read: Any = import_module(f"{package}.read")
    write: Any = import_module(f"{package}.write")
    return ConversationCodec(read.read_request, read.read_response, write.write_request)

"""The codecs of all APIs side by side, as the tests need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bridge.agents.acp.read as acp_read
import bridge.agents.acp.write as acp_write
import bridge.agents.ailoy.read as ailoy_read
import bridge.agents.ailoy.write as ailoy_write
import bridge.agents.anthropic.read as anthropic_read
import bridge.agents.anthropic.write as anthropic_write
import bridge.agents.gemini.read as gemini_read
import bridge.agents.gemini.write as gemini_write
import bridge.agents.openai_chat.read as chat_read
import bridge.agents.openai_chat.write as chat_write
import bridge.agents.openai_responses.read as responses_read
import bridge.agents.openai_responses.write as responses_write
from bridge.agents.acp.stream import Stream as AcpStream
from bridge.agents.ailoy.stream import Stream as AiloyStream
from bridge.agents.anthropic.stream import Stream as AnthropicStream
from bridge.agents.codec.prompt import WrittenRequest
from bridge.agents.codec.stream_reader import StreamReader
from bridge.agents.gemini.stream import Stream as GeminiStream
from bridge.agents.openai_chat.stream import Stream as ChatStream
from bridge.agents.openai_responses.stream import Stream as ResponsesStream
from bridge.uacs import Conversation, Message


@dataclass(frozen=True)
class Codec:
    """The pure functions of one API, all ways."""

    read_request: Callable[[Any, str], Conversation]
    write_request: Callable[[Conversation, str], WrittenRequest]
    read_response: Callable[[Any, str], Message]
    write_response: Callable[[Message, str], Any]
    stream: Callable[[], StreamReader]


def _codec(read: Any, write: Any, stream: Callable[[], StreamReader]) -> Codec:
    return Codec(
        read.read_request, write.write_request, read.read_response, write.write_response, stream
    )


CODECS = {
    "openai-chat": _codec(chat_read, chat_write, ChatStream),
    "openai-responses": _codec(responses_read, responses_write, ResponsesStream),
    "anthropic": _codec(anthropic_read, anthropic_write, AnthropicStream),
    "gemini": _codec(gemini_read, gemini_write, GeminiStream),
    "ailoy": _codec(ailoy_read, ailoy_write, AiloyStream),
}

ALL_CODECS = {**CODECS, "acp": _codec(acp_read, acp_write, AcpStream)}
"""With those of protocols that are between agents: they have no tools and no instructions."""

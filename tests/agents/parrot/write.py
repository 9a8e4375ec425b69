"""UACS -> Parrot: a conversation as a request. Pure.

Lost: everything but text becomes text. Each is a `Loss`.
"""

from __future__ import annotations

from pydantic import JsonValue

from bridge.agents.codec.prompt import (
    WrittenRequest,
    piece_as_text,
    prompt_of,
    request_settings,
)
from bridge.uacs import Conversation, TextPart

API = "parrot"


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /parrot`."""
    prompt = prompt_of(conversation, agent, API)
    lines: list[JsonValue] = []
    for entry in prompt.entries:
        for piece in entry.pieces:
            part = piece.part
            words = part.text if isinstance(part, TextPart) else piece_as_text(piece, prompt.losses)
            text = "\n".join(filter(None, (entry.header, entry.text(words))))
            lines.append({"from": entry.role, "text": text})
    body = request_settings(conversation, agent, API)
    body["lines"] = lines
    return WrittenRequest(body, tuple(prompt.losses))

"""Parrot -> UACS: a response as a message. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.codec.messages import response_message
from bridge.errors import CodecError
from bridge.uacs import Message, TextPart
from tests.agents.parrot.write import API


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a whole response. Raises CodecError for other JSON."""
    if "text" not in obj(response):
        raise CodecError("/text", "is missing; this is not a response of this API")
    parts = [TextPart(text=text(obj(response)["text"]))]
    return response_message(parts, agent, API, {}, answer_id="")


def read_usage(body: Json) -> Json:
    """Return an empty count: the API has none."""
    del body
    return {}

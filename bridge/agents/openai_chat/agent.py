"""The agent that speaks Chat Completions."""

from __future__ import annotations

from bridge.agents.codec.json_values import Json, arr, obj, present, text
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.model.dialects import Dialect
from bridge.agents.model.openai import CHAT_FILES, model_address
from bridge.agents.openai_chat.fit import MESSAGE_MEMBERS, fitted
from bridge.agents.openai_chat.presets import PRESETS
from bridge.agents.openai_chat.read import read_moderation, read_response, read_usage
from bridge.agents.openai_chat.settings import OpenAIChatSettings
from bridge.agents.openai_chat.stream import Stream
from bridge.agents.openai_chat.write import API, SOUNDS, write_request
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import bearer


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its messages."""
    body: Json = {
        "model": settings.model,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    body |= present(temperature=settings.temperature)
    if settings.max_tokens is not None and isinstance(settings, OpenAIChatSettings):
        body[settings.max_tokens_name] = settings.max_tokens
    return body


def address(settings: ModelSettings) -> str:
    """Return the address of `POST /chat/completions`."""
    return f"{settings.base_url}/chat/completions"


def dialect_of(settings: ModelSettings) -> Dialect:
    """Return what the preset and the settings say that the server refuses."""
    if not isinstance(settings, OpenAIChatSettings):
        return Dialect()
    preset = PRESETS[settings.preset] if settings.preset is not None else None
    return Dialect(
        preset.without if preset else frozenset(), settings.alternating, settings.thinks_first
    )


def _stream(dialect: Dialect, request: Json) -> Stream:
    messages = map(obj, arr(request.get("messages")))
    calls = (obj(call) for message in messages for call in arr(message.get("tool_calls")))
    used_ids = {text(call.get("id")) for call in calls}
    return Stream(thinks_first=dialect.thinks_first, used_ids=used_ids)


MODEL_API = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    moderation=read_moderation,
    stream=_stream,
    settings_of_request=request_of,
    address=address,
    headers=bearer,
    model_address=model_address,
    files=CHAT_FILES,
    accepts_audio=SOUNDS.__contains__,
    dialect=dialect_of,
    fitted=fitted,
    message_members=MESSAGE_MEMBERS,
    joins_messages=True,
)


agent_type = ModelAgentType(MODEL_API, OpenAIChatSettings)

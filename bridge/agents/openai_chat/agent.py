"""The agent that speaks Chat Completions."""

from __future__ import annotations

from typing import Any

from bridge.agents.http import bearer
from bridge.agents.json_values import Json
from bridge.agents.model_agent import Api, ModelAgent
from bridge.agents.openai_chat.read import read_moderation, read_response, read_usage
from bridge.agents.openai_chat.settings import OpenAIChatSettings
from bridge.agents.openai_chat.stream import Stream
from bridge.agents.openai_chat.write import API, SOUNDS, write_request
from bridge.agents.openai_files import CHAT_FILES
from bridge.agents.settings import ModelSettings
from bridge.ports.agent import AgentTools


def request_of(settings: ModelSettings) -> Json:
    body: Json = {
        "model": settings.model,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.max_tokens is not None and isinstance(settings, OpenAIChatSettings):
        body[settings.max_tokens_name] = settings.max_tokens
    return body


def address(settings: ModelSettings) -> str:
    return f"{settings.base_url}/chat/completions"


API_OF = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    moderation=read_moderation,
    stream=Stream,
    settings_of_request=request_of,
    address=address,
    headers=bearer,
    files=CHAT_FILES,
    hears=SOUNDS.__contains__,
)


class _Type:
    kind = API
    settings = OpenAIChatSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> ModelAgent:
        return ModelAgent(name, API_OF, settings, tools)


agent_type = _Type()

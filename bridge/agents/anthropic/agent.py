"""The agent that speaks Anthropic Messages."""

from __future__ import annotations

from urllib.parse import quote

from bridge.agents.anthropic.files import FILES, headers
from bridge.agents.anthropic.read import read_moderation, read_response, read_usage
from bridge.agents.anthropic.settings import AnthropicSettings
from bridge.agents.anthropic.stream import Stream
from bridge.agents.anthropic.write import API, write_request
from bridge.agents.codec.json_values import Json
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.settings import ModelSettings

_MOST_TOKENS = 8192


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its messages."""
    body: Json = {
        "model": settings.model,
        "stream": True,
        "max_tokens": settings.max_tokens or _MOST_TOKENS,
    }
    if settings.temperature is not None:
        body["temperature"] = min(settings.temperature, 1.0)
    return body


def address(settings: ModelSettings) -> str:
    """Return the address of `POST /v1/messages`."""
    return f"{settings.base_url}/v1/messages"


def model_address(settings: ModelSettings) -> str:
    """Return the address at which the API describes the model."""
    return f"{settings.base_url}/v1/models/{quote(settings.model, safe='')}"


MODEL_API = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    moderation=read_moderation,
    stream=lambda *_: Stream(),
    settings_of_request=request_of,
    address=address,
    headers=headers,
    model_address=model_address,
    files=FILES,
)


agent_type = ModelAgentType(MODEL_API, AnthropicSettings)

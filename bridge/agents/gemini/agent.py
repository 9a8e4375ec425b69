"""The agent that speaks Gemini."""

from __future__ import annotations

from urllib.parse import quote

from bridge.agents.codec.json_values import Json, present
from bridge.agents.gemini.files import FILES, headers
from bridge.agents.gemini.read import read_moderation, read_response, read_usage
from bridge.agents.gemini.settings import GeminiSettings
from bridge.agents.gemini.stream import Stream
from bridge.agents.gemini.write import API, write_request
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.settings import ModelSettings


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its contents."""
    config = present(temperature=settings.temperature, maxOutputTokens=settings.max_tokens)
    return {"generationConfig": config} if config else {}


def address(settings: ModelSettings) -> str:
    """Return the address of `streamGenerateContent`."""
    return f"{model_address(settings)}:streamGenerateContent?alt=sse"


def model_address(settings: ModelSettings) -> str:
    """Return the address of the model. A name with a slash has its own collection:
    `tunedModels/...`."""
    model = settings.model if "/" in settings.model else f"models/{settings.model}"
    return f"{settings.base_url}/v1beta/{quote(model, safe='/')}"


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
    accepts_audio=lambda media_type: True,
)


agent_type = ModelAgentType(MODEL_API, GeminiSettings)

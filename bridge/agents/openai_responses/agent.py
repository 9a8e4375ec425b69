"""The agent that speaks OpenAI Responses."""

from __future__ import annotations

from bridge.agents.codec.json_values import Json, present
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.model.openai import RESPONSES_FILES, model_address
from bridge.agents.openai_responses.read import read_moderation, read_response, read_usage
from bridge.agents.openai_responses.settings import OpenAIResponsesSettings
from bridge.agents.openai_responses.stream import Stream
from bridge.agents.openai_responses.write import API, write_request
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import bearer


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its input. The vendor stores nothing: reasoning comes back
    encrypted and is sent along."""
    return {
        "model": settings.model,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        **present(temperature=settings.temperature, max_output_tokens=settings.max_tokens),
    }


def address(settings: ModelSettings) -> str:
    """Return the address of `POST /responses`."""
    return f"{settings.base_url}/responses"


MODEL_API = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    moderation=read_moderation,
    stream=lambda *_: Stream(),
    settings_of_request=request_of,
    address=address,
    headers=bearer,
    model_address=model_address,
    files=RESPONSES_FILES,
)


agent_type = ModelAgentType(MODEL_API, OpenAIResponsesSettings)

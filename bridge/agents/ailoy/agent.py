"""The agent that posts Ailoy's messages."""

from __future__ import annotations

from bridge.agents.ailoy.read import read_response, read_usage
from bridge.agents.ailoy.settings import AiloySettings
from bridge.agents.ailoy.stream import Stream
from bridge.agents.ailoy.write import API, write_request
from bridge.agents.codec.json_values import Json, present
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import bearer


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its messages."""
    return {
        "stream": True,
        **present(
            model=settings.model or None,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        ),
    }


def address(settings: ModelSettings) -> str:
    """Return the address that requests go to, which is `base_url`."""
    return settings.base_url


MODEL_API = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    stream=lambda *_: Stream(),
    settings_of_request=request_of,
    address=address,
    headers=bearer,
)


agent_type = ModelAgentType(MODEL_API, AiloySettings)

"""The agent that speaks Parrot."""

from __future__ import annotations

from bridge.agents.codec.json_values import Json
from bridge.agents.model.agent import Api, ModelAgentType
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import bearer
from tests.agents.parrot.read import read_response, read_usage
from tests.agents.parrot.settings import ParrotSettings
from tests.agents.parrot.stream import Stream
from tests.agents.parrot.write import API, write_request


def request_of(settings: ModelSettings) -> Json:
    """Return the request beside its lines."""
    return {"model": settings.model}


MODEL_API = Api(
    name=API,
    write_request=write_request,
    read_response=read_response,
    usage=read_usage,
    stream=lambda *_: Stream(),
    settings_of_request=request_of,
    address=lambda settings: f"{settings.base_url}/parrot",
    headers=bearer,
)

agent_type = ModelAgentType(MODEL_API, ParrotSettings)

"""What all settings of the configuration share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from bridge.content.patterns import pattern_of
from bridge.errors import InvalidData


class StrictSettings(BaseModel):
    """Unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _checked(source: str) -> str:
    try:
        pattern_of(source)
    except InvalidData as error:
        raise ValueError(str(error)) from None
    return source


RegularExpression = Annotated[str, AfterValidator(_checked)]

"""What all settings of the configuration share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from bridge.content.text.globs import Glob


class StrictSettings(BaseModel):
    """Unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_text(value: object) -> object:
    number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if number else value


NativeId = Annotated[str, BeforeValidator(_as_text)]
"""YAML reads the ids of some platforms as numbers."""

NativeGlob = Annotated[Glob, BeforeValidator(_as_text)]
"""An id, or a pattern of names."""

"""What all models of the configuration share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from bridge.content.text.globs import Glob


class StrictSettings(BaseModel):
    """A frozen model of settings: an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_text(value: object) -> object:
    number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if number else value


NativeId = Annotated[str, BeforeValidator(_as_text)]
"""An id of a platform; YAML reads some of them as numbers."""

NativeGlob = Annotated[Glob, BeforeValidator(_as_text)]
"""An id of a platform, or a glob of names."""

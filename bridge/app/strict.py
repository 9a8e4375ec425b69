"""What all settings of the configuration share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StrictSettings(BaseModel):
    """Unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

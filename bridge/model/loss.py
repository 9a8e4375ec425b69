"""One thing that a destination could not show, and what was shown instead."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Loss(BaseModel):
    """`path` points into the source (JSON pointer), `kind` names the fallback that was used,
    `what` says what was lost, `shown_as` what stands in its place (empty: nothing)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    kind: str
    what: str
    shown_as: str = ""

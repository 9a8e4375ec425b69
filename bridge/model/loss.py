"""One element that a destination could not show, and its replacement."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Loss(BaseModel):
    """A loss: `path` is a JSON pointer into the source, `kind` names the fallback, `what` describes
    the lost element, and `shown_as` its replacement (empty: none)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    kind: str
    what: str
    shown_as: str = ""

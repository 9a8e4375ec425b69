"""The author of a message: a person, an agent, the system or a tool."""

from __future__ import annotations

from typing import Annotated, Literal

from bridge.uacs.objects import Optional, UacsObject, absent
from bridge.uacs.values import Text

Role = Literal["human", "assistant", "system", "tool"]


class Actor(UacsObject):
    """A participant; `id` is stable and unique within a conversation (seed, section V)."""

    id: Text
    role: Role
    name: Annotated[Text | None, Optional()] = absent()

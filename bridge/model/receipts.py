"""What a platform answered: the native ids of what now stands there."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Receipt(BaseModel):
    """`native_id` is the platform's id of copy number `slot`; `thread` is where it stands.

    `deleted` marks a copy that was taken away.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slot: int = 0
    native_id: str
    thread: str | None = None
    deleted: bool = False

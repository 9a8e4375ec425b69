"""What a platform answered: the native ids of what now stands there."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

# Where files stand in messages apart, these have slots of their own: an edit makes more words of a
# message or fewer, and its files keep their copies all the same.
FIRST_SLOT_OF_FILES = 1000


class Receipt(BaseModel):
    """`native_id` is the platform's id of copy number `slot`; `thread` is where it stands.

    `deleted` marks a copy that was taken away.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slot: int = 0
    native_id: str
    thread: str | None = None
    deleted: bool = False

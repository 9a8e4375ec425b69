"""The answer of a platform: the native ids of the copies."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

# Files in messages of their own have slots of their own: an edit may need more or fewer messages
# for the text, and the files keep their copies.
FIRST_SLOT_OF_FILES = 1000


class Receipt(BaseModel):
    """A native copy: `native_id` is the platform's id of copy number `slot`, `thread` its thread.

    `deleted`: the copy was deleted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slot: int = 0
    native_id: str
    thread: str | None = None
    deleted: bool = False

"""What a platform can show and how fast it can be spoken to, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Level(StrEnum):
    """How far a platform shows a feature."""

    FULL = "full"
    PARTIAL = "partial"
    DROPPED = "dropped"
    REJECTED = "rejected"


class Rate(BaseModel):
    """At most `count` requests in any `seconds` seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int
    seconds: float


class Capabilities(BaseModel):
    """One platform's abilities. `features` has a level for each name the router asks about:
    author_name, author_picture, threads, replies, edit, delete, delete_others (what people said),
    whispers, mentions, group_mentions, people_pictures (whether its own people have pictures that
    others may show), broadcast (an answer in a thread that its channel shows, too; elsewhere it
    stands in the channel, and says what it answers).

    - `label`: as people write the platform's name; empty: its id with a capital letter.
    - `text_limit` in `text_unit`s per native message; longer text is split. `bytes` are those of
      UTF-8.
    - `echo`: our own posts come back as events.
    - `history`: what was said can be read back (catch-up, settling).
    - `citations`: how many sources a message may cite in the platform's own way.
    - `stream_pace`: seconds between two edits of a message that is still being written.
    - `budgets`: rule name -> rates; a call names the rules it counts against.
    - `link_marks`: texts of which each address of a message holds one (`chat.example/archives/`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: str
    label: str = ""
    features: dict[str, Level]
    text_limit: int
    text_unit: Literal["characters", "utf16", "bytes"]
    echo: bool
    history: bool
    citations: int = 0
    stream_pace: float
    budgets: dict[str, tuple[Rate, ...]]
    link_marks: tuple[str, ...] = ()

"""The features and limits of a platform, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Level(StrEnum):
    """How completely a platform supports a feature."""

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
    """The features and limits of one platform.

    - `label`: the platform's name for people; empty: its id with a capital letter.
    - `features`: the level of each feature: author_name, author_picture, threads, replies, edit,
      delete, delete_others (messages of people), whispers, mentions, group_mentions,
      people_pictures (whether people have pictures that other platforms may show), broadcast (an
      answer in a thread that its channel shows, too; on other platforms it is posted in the channel
      and names the message that it answers).
    - `text_limit` in `text_unit`s per native message; longer text is split. `bytes` are those of
      UTF-8.
    - `echo`: our own posts come back as events.
    - `history`: messages can be read back (catch-up, settling).
    - `citations`: the maximum number of sources that a message may cite natively.
    - `stream_pace`: seconds between two edits of a growing message.
    - `rate_limits`: the rates of each rule; a call names the rules that it counts against.
    - `link_substrings`: texts, one of which each address of a message contains
      (`chat.example/archives/`).
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
    rate_limits: dict[str, tuple[Rate, ...]]
    link_substrings: tuple[str, ...] = ()

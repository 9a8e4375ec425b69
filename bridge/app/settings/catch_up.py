"""Settings of `catch_up`: what is done about the time in which nobody listened."""

from __future__ import annotations

from pydantic import Field

from bridge.app.settings.rooms import StrictSettings


class CatchUpSettings(StrictSettings):
    """What is done about the time in which nobody listened."""

    most_posts: int = Field(
        default=5000,
        ge=1,
        description="Posts of one channel that are caught up with; older ones are counted, and "
        "said to be missing.",
    )
    look_back_hours: float = Field(
        default=24.0,
        ge=0,
        description="How old a message may be whose edits and deletions are looked for; 0: none.",
    )
    look_back_messages: int = Field(
        default=2000, ge=1, description="Of one channel, at most so many messages are compared."
    )
    look_back_requests: int = Field(
        default=500, ge=1, description="Requests that one look back of an account may make."
    )
    requests_per_minute: float = Field(
        default=30.0, gt=0, description="How fast an account looks back: nothing is less urgent."
    )
    announce_after: float = Field(
        default=60.0,
        ge=0,
        description="Seconds that a gap lasts at least to be worth a word in its rooms, where "
        "nothing can be read back.",
    )
    deaf_after: float = Field(
        default=300.0,
        gt=0,
        description="Seconds of silence after which an account is probed for what it did not hear.",
    )
    orphan_wait: float = Field(
        default=30.0,
        ge=0,
        description="Seconds that an edit or a reaction waits for a message that is not known.",
    )

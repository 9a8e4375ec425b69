"""Settings of what the archive keeps, and for how long."""

from __future__ import annotations

from pydantic import Field

from bridge.app.settings.strict import StrictSettings


class KeepSettings(StrictSettings):
    """How long messages, their native payloads and their files are kept."""

    messages_days: float | None = Field(
        default=None,
        gt=0,
        description="Days after which the bridge erases messages with all that belongs to them; "
        "null: never.",
    )
    payloads_days: float | None = Field(
        default=None,
        ge=0,
        description="Days after which it removes native payloads; never later than the message; "
        "null: with the message.",
    )
    files_days: float | None = Field(
        default=None,
        gt=0,
        description="Days after which it removes stored files of messages, which then only tell "
        "that there was a file; never later than the message; null: with the message.",
    )


class ArchiveSettings(StrictSettings):
    """Settings of the archive."""

    keep: KeepSettings = Field(
        default=KeepSettings(), description="How long everything is kept that no room's keep names."
    )
    access_log_days: float | None = Field(
        default=365.0,
        ge=0,
        description="Days for which the bridge keeps the log of who read or exported what; 0: it "
        "writes none; null: for ever.",
    )
    payloads_outside_hours: float | None = Field(
        default=24.0,
        ge=0,
        description="Hours after which the bridge removes native payloads of channels that are in "
        "no room; 0: at the next daily removal; null: as those of rooms.",
    )

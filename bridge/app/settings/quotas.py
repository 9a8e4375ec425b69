"""Quotas: what agents may cost, by room, agent and person."""

from __future__ import annotations

from pydantic import Field

from bridge.app.settings.strict import StrictSettings
from bridge.router.turns.quotas import Limit, Quota


class LimitSettings(StrictSettings):
    """The limits of one window; what is left out has none."""

    messages: int | None = Field(default=None, ge=0, description="Turns that begin.")
    tokens: int | None = Field(default=None, ge=0, description="Tokens that models read and write.")
    money: float | None = Field(
        default=None, ge=0, description="Their cost, in the currency of the agents' `prices`."
    )


class QuotaSettings(StrictSettings):
    """Limits in two sliding windows."""

    hour: LimitSettings = Field(default=LimitSettings(), description="In any hour.")
    day: LimitSettings = Field(default=LimitSettings(), description="In any 24 hours.")


def quota_of(settings: QuotaSettings) -> Quota:
    """The quota as the router takes it."""
    return Quota(_limit(settings.hour), _limit(settings.day))


def _limit(settings: LimitSettings) -> Limit:
    return Limit(settings.messages, settings.tokens, settings.money)

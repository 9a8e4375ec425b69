"""What agents may cost: budgets of rooms, agents and people, and the prices of models."""

from __future__ import annotations

from pydantic import Field

from bridge.app.settings.strict import StrictSettings
from bridge.router.turns.quotas import Budget, Limit


class LimitSettings(StrictSettings):
    """The most of each; what is left out has no limit."""

    messages: int | None = Field(default=None, ge=0, description="Questions that are answered.")
    tokens: int | None = Field(default=None, ge=0, description="Tokens read and written by models.")
    money: float | None = Field(
        default=None, ge=0, description="What that costs, in the currency of the agents' `prices`."
    )


class BudgetSettings(StrictSettings):
    """Sliding windows."""

    hour: LimitSettings = Field(default=LimitSettings(), description="In any hour.")
    day: LimitSettings = Field(default=LimitSettings(), description="In any 24 hours.")


def budget_of(wanted: BudgetSettings) -> Budget:
    return Budget(_limit(wanted.hour), _limit(wanted.day))


def _limit(wanted: LimitSettings) -> Limit:
    return Limit(wanted.messages, wanted.tokens, wanted.money)

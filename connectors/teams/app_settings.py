"""The configuration of a Teams bot that many tenants install."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from connectors.teams.settings import TeamsSettings


class TeamsAppSettings(TeamsSettings):
    """One bot registration for many tenants. Its messaging endpoint is <public_url>/teams/messages;
    one account serves all tenants."""

    home_tenant: str | None = Field(
        default=None,
        description="The tenant of a single-tenant registration, which issues the bot's own token; "
        "leave it out for a multi-tenant registration.",
    )
    app_url: str | None = Field(
        default=None,
        description="Where people add the app: its page in the Teams store; left out, the bridge's "
        "page offers the app package.",
    )

    @model_validator(mode="after")
    def _has_no_tenant(self) -> Self:
        if self.tenant_id is not None:
            raise ValueError("tenant_id would refuse all other tenants; write home_tenant instead")
        return self

    @property
    def authority(self) -> str:
        return self.home_tenant or "botframework.com"

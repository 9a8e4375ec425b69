"""Settings of the manifest with which an agent describes itself to other agents."""

from __future__ import annotations

from pydantic import Field

from bridge.app.settings.strict import StrictSettings


class ManifestSettings(StrictSettings):
    """What other agents learn about an agent (Open Floor assistant manifest 1.0.1)."""

    organization: str = Field(
        default="", description="Who offers it; empty: the host of web.public_url."
    )
    synopsis: str = Field(default="", max_length=300, description="What it does, in one sentence.")
    role: str = Field(default="", description="Its role, such as Book Specialist.")
    department: str = Field(default="", description="The part of the organization that it is of.")
    keyphrases: tuple[str, ...] = Field(
        default=(), description="Words by which others find it: books, authors."
    )
    descriptions: tuple[str, ...] = Field(
        default=(), description="What it can do, a sentence for each."
    )
    languages: tuple[str, ...] = Field(
        default=(), description="The languages that it speaks, as BCP 47 tags: en, et."
    )

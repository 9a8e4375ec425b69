"""The label of Teams that says that a message was made by AI. Pure.

An entity of the activity (Microsoft Learn, "Add AI-generated label", 2026-08); Teams shows "AI
generated" beside the bot's name.
"""

from __future__ import annotations

from pydantic import JsonValue

from connectors.teams.rich import Body

_LABEL: dict[str, JsonValue] = {
    "type": "https://schema.org/Message",
    "@type": "Message",
    "@context": "https://schema.org",
    "additionalType": ["AIGeneratedContent"],
}


def with_ai_label(body: Body) -> Body:
    """The activity with the label beside its other entities."""
    entities = body.get("entities")
    others = entities if isinstance(entities, list) else []
    return {**body, "entities": [*others, dict(_LABEL)]}

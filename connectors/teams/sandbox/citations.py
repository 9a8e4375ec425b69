"""Validation of citations in a bot's message.

msteams-docs, "Bot messages with AI-generated content" (2026-08): at most 20, names of 80 and
extracts of 160 characters, both required.
"""

from __future__ import annotations

from typing import Any

from connectors.teams.sandbox import refusals
from connectors.teams.sandbox.state import Json

MAX_CITATIONS, LONGEST_NAME, LONGEST_ABSTRACT = 20, 80, 160
_MESSAGE = "https://schema.org/Message"


def check_citations(activity: Json) -> None:
    """Raise the Refusal of the first invalid citation."""
    entities = activity.get("entities")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict) and entity.get("type") == _MESSAGE:
            _check(entity.get("citation"))


def _check(claims: Any) -> None:
    if claims is None:
        return
    if not isinstance(claims, list) or len(claims) > MAX_CITATIONS:
        raise refusals.coded(
            400, "BadSyntax", f"citation must be a list of at most {MAX_CITATIONS}"
        )
    for claim in claims:
        if not isinstance(claim, dict) or not _is_claim(claim):
            raise refusals.coded(400, "BadSyntax", f"Invalid citation: {claim!r}")


def _is_claim(claim: Json) -> bool:
    appearance = claim.get("appearance")
    if claim.get("@type") != "Claim" or not isinstance(claim.get("position"), int):
        return False
    if not isinstance(appearance, dict) or appearance.get("@type") != "DigitalDocument":
        return False
    url = appearance.get("url", "https://")
    return (
        _fits(appearance.get("name"), LONGEST_NAME)
        and _fits(appearance.get("abstract"), LONGEST_ABSTRACT)
        and isinstance(url, str)
        and url.startswith(("https://", "http://"))
    )


def _fits(text: Any, longest: int) -> bool:
    return isinstance(text, str) and 0 < len(text) <= longest

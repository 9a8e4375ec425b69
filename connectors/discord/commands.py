"""The command `/bridge`: what Discord shall know of it, and what was given. Pure.

Source: Discord docs, "Application Commands" (2026-08).
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

COMMAND: Json = {
    "name": "bridge",
    "type": 1,  # typed
    "description": "Ask what this channel is bridged to, or change it.",
    "options": [
        {"type": 3, "name": "command", "description": "help tells what you may ask for."},
    ],
    "contexts": [0],  # servers
}
ANSWER = "interaction.answer"


def command_in(data: Json) -> tuple[str, str]:
    """The command's name with its slash, and the text behind it."""
    given = data.get("data")
    inner: Json = given if isinstance(given, dict) else {}
    options = inner.get("options")
    first = options[0] if isinstance(options, list) and options else None
    text = first.get("value") if isinstance(first, dict) else None
    return f"/{inner.get('name') or ''}", text if isinstance(text, str) else ""


def is_known(found: Json) -> bool:
    """Whether it is as we want it; Discord adds fields of its own."""
    if any(found.get(name) != COMMAND[name] for name in ("type", "description", "contexts")):
        return False
    options = found.get("options")
    kept = [one for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    names = ("type", "name", "description")
    shown = [{name: one.get(name) for name in names} for one in kept]
    return shown == COMMAND["options"] and not any(one.get("required") for one in kept)

"""The command `/bridge`: how it is registered, and how an interaction's command is read. Pure.

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
    """Return the command's name with its slash, and the text of its first option."""
    command_data = data.get("data")
    command: Json = command_data if isinstance(command_data, dict) else {}
    options = command.get("options")
    first = options[0] if isinstance(options, list) and options else None
    text = first.get("value") if isinstance(first, dict) else None
    return f"/{command.get('name') or ''}", text if isinstance(text, str) else ""


def is_registered(command: Json) -> bool:
    """Return whether a registered command equals `COMMAND`; Discord's own fields are ignored."""
    if any(command.get(name) != COMMAND[name] for name in ("type", "description", "contexts")):
        return False
    options = command.get("options")
    command_options = (
        [option for option in options if isinstance(option, dict)]
        if isinstance(options, list)
        else []
    )
    names = ("type", "name", "description")
    compared_options = [{name: option.get(name) for name in names} for option in command_options]
    return compared_options == COMMAND["options"] and not any(
        option.get("required") for option in command_options
    )

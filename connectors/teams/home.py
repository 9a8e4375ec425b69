"""An activity, attachment or card -> an activity that can be sent to Teams again. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from connectors.teams.capabilities import READ_ONLY

_ADAPTIVE = "application/vnd.microsoft.card.adaptive"
_CONNECTOR = "application/vnd.microsoft.teams.card.o365connector"


def without_read_only(native: JsonValue) -> JsonValue:
    """Return an activity without the fields that the service fills in."""
    match native:
        case {"type": "AdaptiveCard"}:
            return _activity({"contentType": _ADAPTIVE, "content": native})
        case {"@type": "MessageCard"}:
            return _activity({"contentType": _CONNECTOR, "content": native})
        case {"contentType": str()}:
            return _activity(native)
        case dict():
            return {key: value for key, value in native.items() if key not in READ_ONLY}
        case _:
            return native


def _activity(attachment: JsonValue) -> JsonValue:
    return {"type": "message", "attachments": [attachment]}

"""A Slack message, or a bare list of blocks -> what may be sent to Slack again. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from connectors.slack.capabilities import READ_ONLY, READ_ONLY_IN_VIEW


def without_read_only(native: JsonValue) -> JsonValue:
    """The same JSON, less what Slack fills in itself."""
    match native:
        case list():
            return {"blocks": native}
        case {"type": "modal" | "home"}:
            return {key: value for key, value in native.items() if key not in READ_ONLY_IN_VIEW}
        case dict():
            return {key: value for key, value in native.items() if key not in READ_ONLY}
        case _:
            return native

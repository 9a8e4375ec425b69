"""A Slack message or a bare list of blocks -> the JSON that can be sent to Slack again. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from connectors.slack.capabilities import READ_ONLY, READ_ONLY_IN_VIEW
from connectors.slack.cards.read_json import unfolded


def without_read_only(native: JsonValue) -> JsonValue:
    """The same JSON without the fields that Slack fills in.

    Lists that a form encodes as strings become lists, as chat.postMessage takes them in JSON.
    """
    match unfolded(native):
        case list() as blocks:
            return {"blocks": blocks}
        case {"type": "modal" | "home"} as view:
            return {key: value for key, value in view.items() if key not in READ_ONLY_IN_VIEW}
        case dict() as message:
            return {key: value for key, value in message.items() if key not in READ_ONLY}
        case _:
            return native

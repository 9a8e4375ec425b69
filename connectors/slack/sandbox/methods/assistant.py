"""assistant.threads.setStatus: the status of a thread while an app works on an answer.

Source: docs.slack.dev page of the method (2026-08): with chat:write, also in channels; up to ten
loading messages; a reply of the app clears the status, as do two minutes.
"""

from __future__ import annotations

from connectors.slack.sandbox.methods import chat
from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.state import Status, at_of

MAX_LOADING_MESSAGES = 10


def set_status(call: Call) -> Json:
    channel = call.channel(name="channel_id")
    call.need_member(channel)
    at = at_of(call.args.required("thread_ts"))
    root = None if at is None else channel.messages.get(at)
    if root is None or root.parent is not None:
        raise ApiError("invalid_thread_ts")
    if "status" not in call.args.values:
        raise ApiError("invalid_arguments")
    if len(call.args.items("loading_messages", "invalid_arguments") or ()) > MAX_LOADING_MESSAGES:
        raise ApiError("invalid_arguments")
    if any(call.args.text(name) for name in ("username", "icon_url", "icon_emoji")):
        call.need("chat:write.customize")
    if (icon := call.args.text("icon_url")) and not icon.startswith(("https://", "http://")):
        raise ApiError("invalid_arguments")
    status = call.args.text("status")
    channel.statuses.pop(root.at, None)
    if status:
        channel.statuses[root.at] = Status(status, call.changes.now(), chat.identity(call))
    return {}

"""A change in a workspace -> the events for each installed app. Pure.

Envelopes as in docs.slack.dev "Events API" (2026-08).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from connectors.slack.sandbox.shapes import message_json
from connectors.slack.sandbox.state import App, Channel, Message, Workspace, at_of, ts_of

Json = dict[str, Any]
_SUBSCRIPTIONS = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event; an app receives it if it has the `subscription`."""

    subscription: str
    channel: str
    body: Json


def receives(app: App, event: Event, channel: Channel) -> bool:
    """Whether the app receives the event; an app that never connected receives none."""
    subscribed = app.bot_user in channel.members and event.subscription in app.events
    return subscribed and app.active and app.listening


def event_callback(app: App, event: Event, event_id: str) -> Json:
    """The outer envelope, the same over HTTP and Socket Mode."""
    kind: str = event.body["type"]
    happened = at_of(event.body["event_ts"]) or 0
    return {
        "token": app.verification_token,
        "team_id": app.team,
        "context_team_id": app.team,
        "context_enterprise_id": None,
        "api_app_id": app.id,
        "event": event.body,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": happened // 1_000_000,
        "authorizations": [
            {
                "enterprise_id": None, "team_id": app.team, "user_id": app.bot_user,
                "is_bot": True, "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": _event_context(kind, app.team, app.id, event.channel),
    }  # fmt: skip


def posted(channel: Channel, message: Message, raw: Json, root: Json | None) -> Event:
    """`message`; a broadcast reply is a `thread_broadcast` with its root."""
    body = raw | _place(channel, message.ts)
    if message.files:
        body["subtype"] = "file_share"
    if message.parent is not None:
        body["parent_user_id"] = channel.messages[message.parent].user
    if root is not None:
        body["root"] = root
    return Event(_SUBSCRIPTIONS[channel.kind], channel.id, body)


def mentioned(channel: Channel, at: int, raw: Json) -> Event:
    """`app_mention`, which repeats a `message` that mentions the app; it has no channel_type."""
    place = {"channel": channel.id, "event_ts": ts_of(at)}
    return Event("app_mention", channel.id, raw | {"type": "app_mention"} | place)


def changed(channel: Channel, at: int, now: Json, before: Json) -> Event:
    body: Json = {
        "type": "message", "subtype": "message_changed", "hidden": True, "ts": ts_of(at),
        "message": now, "previous_message": before,
    }  # fmt: skip
    return Event(_SUBSCRIPTIONS[channel.kind], channel.id, body | _place(channel, ts_of(at)))


def deleted(channel: Channel, at: int, before: Json) -> Event:
    body: Json = {
        "type": "message", "subtype": "message_deleted", "hidden": True, "ts": ts_of(at),
        "deleted_ts": before["ts"], "previous_message": before,
    }  # fmt: skip
    return Event(_SUBSCRIPTIONS[channel.kind], channel.id, body | _place(channel, ts_of(at)))


def joined(workspace: Workspace, channel: Channel, user: str, at: int) -> Event:
    letter = "G" if channel.kind == "group" else "C"
    body: Json = {
        "type": "member_joined_channel", "user": user, "channel": channel.id,
        "channel_type": letter, "team": workspace.id, "event_ts": ts_of(at),
    }  # fmt: skip
    return Event("member_joined_channel", channel.id, body)


def left(workspace: Workspace, channel: Channel, user: str, at: int) -> Event:
    event = joined(workspace, channel, user, at)
    kind = "member_left_channel"
    return Event(kind, channel.id, event.body | {"type": kind})


def renamed(channel: Channel, at: int) -> Event:
    kind = "group_rename" if channel.kind == "group" else "channel_rename"
    named: Json = {
        "id": channel.id, "name": channel.name, "name_normalized": channel.name,
        "created": channel.created, "is_channel": channel.kind == "channel", "is_mpim": False,
    }  # fmt: skip
    return Event(kind, channel.id, {"type": kind, "channel": named, "event_ts": ts_of(at)})


def reacted(
    kind: Literal["reaction_added", "reaction_removed"],
    channel: Channel, message: Message, user: str, name: str, at: int,
) -> Event:  # fmt: skip
    item = {"type": "message", "channel": channel.id, "ts": message.ts}
    body: Json = {
        "type": kind, "user": user, "reaction": name, "item": item, "event_ts": ts_of(at),
        "item_user": message.user,
    }  # fmt: skip
    return Event(kind, channel.id, body)


def stopped(channel: Channel, thread: str, streaming: list[str], user: str, at: int) -> Event:
    """A person pressed Stop; `streaming` are the messages that were growing."""
    kind = "agent_session_stopped"
    body: Json = {
        "type": kind, "channel": channel.id, "thread_ts": thread, "user": user,
        "streaming_message_ts": [*streaming], "event_ts": ts_of(at),
    }  # fmt: skip
    return Event(kind, channel.id, body)


def pinned(
    workspace: Workspace, channel: Channel, message: Message, user: str, at: int, *, pinned: bool
) -> Event:
    """`pin_added` and `pin_removed`, with the whole message."""
    kind = "pin_added" if pinned else "pin_removed"
    item = {
        "type": "message", "created": message.pinned_at // 1_000_000,
        "created_by": message.pinned_by, "channel": channel.id,
        "message": message_json(message, workspace.id),
    }  # fmt: skip
    count = sum(message.pinned_by is not None for message in channel.messages.values())
    body: Json = {
        "type": kind, "user": user, "channel_id": channel.id, "item": item,
        "item_user": message.user, "pin_count": count if pinned else count - 1,
        "event_ts": ts_of(at),
    }  # fmt: skip
    if not pinned:
        body["has_pins"] = count > 1
    return Event(kind, channel.id, body)


def fit_for(app: App, event: Event, author: App | None) -> Event:
    """The event without metadata that the app may not read: another app's, without the scope."""
    if author is app or "metadata.message:read" in app.scopes:
        return event
    body = _without_metadata(event.body)
    for name in ("message", "previous_message"):
        if name in body:
            body[name] = _without_metadata(body[name])
    return Event(event.subscription, event.channel, body)


def root_of(channel: Channel, message: Message, team: str) -> Json | None:
    if message.parent is None or not message.broadcast:
        return None
    return message_json(channel.messages[message.parent], team)


def _without_metadata(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "metadata"}


def _place(channel: Channel, event_ts: str) -> Json:
    return {"channel": channel.id, "event_ts": event_ts, "channel_type": channel.kind}


@lru_cache(maxsize=4096)
def _event_context(kind: str, team: str, app: str, channel: str) -> str:
    """Opaque in the docs; in practice "4-" and the unpadded base64 of these four values."""
    facts = json.dumps({"et": kind, "tid": team, "aid": app, "cid": channel}, separators=(",", ":"))
    return "4-" + base64.b64encode(facts.encode()).decode().rstrip("=")

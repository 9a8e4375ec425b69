"""REST: pinned messages (docs: resources/message, and the older routes below `/pins`)."""

from __future__ import annotations

from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.errors import missing_permissions, too_many_pins
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.sandbox.routes.messages import visible_message
from connectors.discord.sandbox.state import Channel, Message

_MAX_PINS = 250


def pin(call: Call) -> Answer:
    message = _message(call)
    if message.pinned_at is None:
        if len(_pinned(message.channel)) >= _MAX_PINS:
            raise too_many_pins()
        call.changes.pin(message, call.app.user)


def unpin(call: Call) -> Answer:
    message = _message(call)
    if message.pinned_at is not None:
        call.changes.unpin(message)


def list_pins(call: Call) -> Answer:
    messages = _pinned(call.channel(Permission.READ_MESSAGE_HISTORY))
    items = [
        {"pinned_at": message.pinned_at, "message": visible_message(call, message)}
        for message in messages
    ]
    return {"items": items[:50], "has_more": len(items) > 50}


def list_pins_old_route(call: Call) -> Answer:
    messages = _pinned(call.channel(Permission.READ_MESSAGE_HISTORY))
    return [visible_message(call, message) for message in messages[:50]]


def _message(call: Call) -> Message:
    channel = call.channel(Permission.READ_MESSAGE_HISTORY)
    if channel.guild is not None:
        may = call.may(channel, Permission.PIN_MESSAGES)
        if not may:
            raise missing_permissions()
    return call.message(channel)


def _pinned(channel: Channel) -> list[Message]:
    messages = [message for message in channel.messages.values() if message.pinned_at is not None]
    return sorted(messages, key=lambda message: message.pinned_at or "", reverse=True)


_NEW = "/channels/{channel_id}/messages/pins"
_OLD = "/channels/{channel_id}/pins"
PIN_ROUTES = [
    Route("GET", _NEW, "pin.list", list_pins),
    Route("PUT", _NEW + "/{message_id}", "pin.add", pin),
    Route("DELETE", _NEW + "/{message_id}", "pin.remove", unpin),
    Route("GET", _OLD, "pin.list", list_pins_old_route),
    Route("PUT", _OLD + "/{message_id}", "pin.add", pin),
    Route("DELETE", _OLD + "/{message_id}", "pin.remove", unpin),
]

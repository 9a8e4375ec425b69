"""One Web API call for its method: caller, arguments, workspace."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from connectors.slack.sandbox.arguments import ApiError, Arguments
from connectors.slack.sandbox.sockets import Sockets
from connectors.slack.sandbox.state import App, Channel, Message, Slack, Workspace
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.uploads import Uploads
from connectors.slack.sandbox.views import Views

Json = dict[str, Any]
Item = TypeVar("Item")
_LONGEST_NUMBER = 18  # digits; a longer text is not one of our cursors
KIND_SCOPES = {"channel": "channels", "group": "groups", "im": "im"}


@dataclass(slots=True)
class Call:
    """The input of a method, which returns the JSON without `ok` or raises ApiError."""

    slack: Slack
    changes: StateChanges
    sockets: Sockets
    workspace: Workspace
    app: App
    args: Arguments
    base_url: str
    uploads: Uploads
    views: Views

    def need(self, scope: str) -> None:
        if scope not in self.app.scopes:
            raise ApiError(
                "missing_scope", needed=scope, provided=",".join(sorted(self.app.scopes))
            )

    def channel(self, *, name: str = "channel", by_name: bool = False) -> Channel:
        """The requested channel, if the app may see it. Raises ApiError."""
        channel_id = self.args.required(name)
        channel = self.workspace.channels.get(channel_id)
        if channel is None and by_name:
            channel = self.workspace.by_name.get(channel_id.removeprefix("#"))
        if channel is None or not self.may_see(channel):
            raise ApiError("channel_not_found")
        return channel

    def may_see(self, channel: Channel) -> bool:
        return channel.kind == "channel" or self.app.bot_user in channel.members

    def need_kind(self, channel: Channel, right: str) -> None:
        """Require the scope for this kind of channel: channels:history, groups:history, im:history
        ..."""
        self.need(f"{KIND_SCOPES[channel.kind]}:{right}")

    def writable_channel(self) -> Channel:
        """The channel of the call, which the app is in and which is not archived."""
        channel = self.channel()
        self.need_member(channel)
        if channel.archived:
            raise ApiError("is_archived")
        return channel

    def need_member(self, channel: Channel) -> None:
        if self.app.bot_user not in channel.members:
            raise ApiError("not_in_channel")

    def message(self, channel: Channel, name: str = "ts") -> Message:
        target = channel.find(self.args.required(name))
        if target is None or target.removed:
            raise ApiError("message_not_found")
        return target


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its function, the scope that it always needs, and its requests per minute."""

    run: Callable[[Call], Json]
    per_minute: int
    scope: str | None = None


def page(
    call: Call, items: Sequence[Item], default: int, maximum: int
) -> tuple[Sequence[Item], str]:
    """One page of a list and the cursor of the next ("" at the end)."""
    start = 0
    if cursor := call.args.text("cursor"):
        start = read_cursor(cursor, "start")[1]
    end = start + call.args.limit(default, maximum)
    return items[start:end], cursor_of("start", end) if end < len(items) else ""


def cursor_of(kind: str, number: int) -> str:
    """A cursor: base64 of a short text, as in Slack."""
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def read_cursor(cursor: str, *kinds: str) -> tuple[str, int]:
    try:
        kind, _, number = base64.b64decode(cursor, validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError) as error:
        raise ApiError("invalid_cursor") from error
    if kind not in kinds or not number.isdecimal() or len(number) > _LONGEST_NUMBER:
        raise ApiError("invalid_cursor")
    return kind, int(number)

"""One stored payload, and the questions that every reader asks about it. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from bridge.errors import UndecodableEvent
from bridge.model import (
    ActorId,
    ChannelRef,
    Echo,
    OperationId,
    Person,
    Place,
    Raw,
    Receipt,
)
from connectors.slack import ids
from connectors.slack.capabilities import METADATA_TYPE
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, object_at, objects_at, text_at, whole_at

_CHANNELS = (
    ("event", "channel"),
    ("event", "channel", "id"),
    ("event", "item", "channel"),
    ("event", "channel_id"),
    ("channel_id",),
    ("channel", "id"),
    ("container", "channel_id"),
)
_PICTURES = ("image_192", "image_72", "image_64", "image_48", "image_36")
_LAST_SECOND = 10**11  # far beyond the range of datetime; bounds the work of int()


def parse_payload(payload: bytes) -> Json:
    """The JSON object of the bytes.

    Accepts lone surrogates and NaN, as Bolt does. Raises UndecodableEvent.
    """
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError:
        value = json.loads(payload.decode("utf-8", "replace"), parse_constant=_nothing)
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise UndecodableEvent(f"Slack payload must be a JSON object, not {type(value).__name__}")
    return value


def channel_of(body: Json) -> str:
    """The channel id of a payload of any kind, "" when there is none."""
    return next((channel for place in _CHANNELS if (channel := text_at(body, *place))), "")


def team_of(body: Json, identity: Identity | None) -> str:
    """The workspace that delivered the payload: ours, unless it is clearly another one.

    In channels shared with another company `team_id` may name that company, while `authorizations`
    names our workspace; one socket or URL of a widely installed app receives events of all
    workspaces.
    """
    teams = [
        text_at(authorization, "team_id") for authorization in objects_at(body, "authorizations")
    ]
    teams += [text_at(body, "context_team_id")]
    team = text_at(body, "team_id") or text_at(body, "team", "id")
    if identity and (identity.team in teams or identity.team == team or not any([*teams, team])):
        return identity.team
    return next((name for name in [*teams, team] if name), identity.team if identity else "")


def echo_in(post: Json, identity: Identity | None) -> Echo | None:
    """The echo of one of our operations: a post of our bot with our metadata; else None."""
    metadata = object_at(post, "metadata")
    ours = identity is not None and text_at(post, "bot_id") == identity.bot
    if not ours or metadata.get("event_type") != METADATA_TYPE:
        return None
    operation, slot = operation_in(metadata)
    ts, thread = text_at(post, "ts"), text_at(post, "thread_ts")
    return Echo(
        operation=operation,
        bridge=text_at(metadata, "event_payload", "bridge"),
        receipt=Receipt(slot=slot, native_id=ts, thread=thread if thread not in ("", ts) else None),
    )


def operation_in(metadata: Json) -> tuple[OperationId | None, int]:
    """The operation and the slot that the metadata of a post claims."""
    if metadata.get("event_type") != METADATA_TYPE:
        return None, 0
    payload = object_at(metadata, "event_payload")
    operation = text_at(payload, "operation")
    return OperationId(operation) if operation else None, max(whole_at(payload, "slot") or 0, 0)


@dataclass(frozen=True)
class Payload:
    """One payload: `body` is all of it, `inner` its event. `identity` is None until Slack has
    answered who we are."""

    raw: Raw
    body: Json
    inner: Json
    team: str
    identity: Identity | None

    @staticmethod
    def of(raw: Raw, identity: Identity | None) -> Payload:
        """Parse the payload of an inbox row. Raises UndecodableEvent."""
        body = parse_payload(raw.payload)
        team = raw.channel.workspace if raw.channel else team_of(body, identity)
        return Payload(raw, body, object_at(body, "event"), team, identity)

    @property
    def channel(self) -> ChannelRef:
        """The channel of the payload."""
        return self.raw.channel or ids.channel_ref(self.team, channel_of(self.body))

    @property
    def time(self) -> datetime:
        """When it happened: the time of the event, else of the envelope, else of our receipt."""
        ts = text_at(self.inner, "event_ts") or text_at(self.inner, "ts")
        if ids.is_ts(ts):
            return ids.time_of(ts)
        seconds = whole_at(self.body, "event_time")
        if seconds is not None and 0 < seconds < _LAST_SECOND:
            return ids.time_of(ids.ts_at(seconds))
        return ids.time_of(ids.ts_of(self.raw.order_key))

    def edited_at(self, post: Json) -> datetime | None:
        """When a message that was read back was last edited; None when it was not edited.

        `edited.ts` has whole seconds: the result lies within that second, and not after the read.
        """
        edited, read_at = text_at(post, "edited", "ts"), self.body.get("read_at")
        if not ids.is_ts(edited):
            return None
        begun = ids.time_of(edited)
        if not isinstance(read_at, int | float) or not 0 < read_at < _LAST_SECOND:
            return begun
        read = ids.time_of(ids.ts_at(read_at))
        return max(begun, min(begun + timedelta(microseconds=999_999), read))

    def common(self, post: Json | None = None) -> dict[str, Any]:
        """The fields of every event; for a post with its thread."""
        root = text_at(post, "thread_ts")
        thread = root if root and root != text_at(post, "ts") else None
        place = Place(channel=self.channel, thread=thread)
        return {"account": self.raw.account, "place": place, "time": self.time}

    def actor(self) -> ActorId:
        """The person who acted. Raises UndecodableEvent when the event has no user."""
        user = text_at(self.inner, "user") or text_at(self.inner, "user", "id")
        if not user:
            raise UndecodableEvent(f"Slack event {self.inner.get('type')!r} has no 'user'")
        return ids.actor_id(self.team, user)

    def target(self, *path: str) -> str:
        """The ts of the message that the event is about. Raises UndecodableEvent when there is
        none."""
        ts = text_at(self.inner, *path)
        if not ids.is_ts(ts):
            raise UndecodableEvent(
                f"Slack event {self.inner.get('type')!r} has no timestamp at {'/'.join(path)!r}"
            )
        return ts

    def author(self, post: Json) -> Person:
        """The author as far as the payload names one; a missing name is the id."""
        user, bot = text_at(post, "user"), text_at(post, "bot_id")
        username = text_at(post, "username") if bot or not user else ""
        profile = object_at(post, "bot_profile" if bot else "user_profile")
        native = user or bot or ids.NOBODY
        if username:
            native = ids.borrowed_name(bot or native, username)
        names = (
            username,
            *(text_at(profile, key) for key in ("display_name", "real_name", "name")),
        )
        return Person(
            id=ids.actor_id(self.team, native),
            name=next((name for name in names if name.strip()), native),
            picture=picture_of(object_at(post, "icons"), object_at(profile, "icons"), profile),
            bot=bool(bot or username),
        )

    def is_ours(self, post: Json) -> bool:
        """Whether our app, bot or bot user made the post, by `auth.test` and the envelope."""
        app, bot, user = (text_at(post, key) for key in ("app_id", "bot_id", "user"))
        app = app or text_at(post, "bot_profile", "app_id")
        our_bots = {text_at(self.body, "our_bot_id"), self.identity.bot if self.identity else ""}
        return bool(
            (app and app == text_at(self.body, "api_app_id"))
            or (bot and bot in our_bots)
            or (user and user in self.our_users())
        )

    def our_users(self) -> set[str]:
        """The ids of our own bot users in the envelope and from `auth.test`."""
        authorizations = objects_at(self.body, "authorizations")
        users = {
            text_at(authorization, "user_id")
            for authorization in authorizations
            if authorization.get("is_bot") is True
        }
        return users | {self.identity.user} if self.identity else users

    def addresses_us(self, post: Json) -> bool:
        """Whether the post mentions our bot or is a direct message to it."""
        direct = ids.is_direct(self.channel.channel) or self.inner.get("channel_type") == "im"
        if direct or self.inner.get("type") == "app_mention":
            return True
        text = text_at(post, "text")
        return any(f"<@{user}>" in text or f"<@{user}|" in text for user in self.our_users())


def person_of(actor: ActorId, user: Json, borrowed: str | None = None) -> Person | None:
    """The person of a user object, under the `borrowed` name if there is one; None for an object
    without a name."""
    profile = object_at(user, "profile")
    names = (
        borrowed,
        text_at(profile, "display_name"),
        text_at(profile, "real_name"),
        text_at(user, "real_name"),
        text_at(user, "name"),
    )
    name = next((name for name in names if name and name.strip()), None)
    if name is None:
        return None
    is_bot = user.get("is_bot") is True or borrowed is not None
    return Person(id=actor, name=name, picture=picture_of(profile), bot=is_bot)


def picture_of(*sources: Json) -> str | None:
    """The first picture URL among the sizes in these objects."""
    urls = (text_at(source, size) for source in sources if source for size in _PICTURES)
    return next((url for url in urls if url.startswith(("https://", "http://"))), None)


def _nothing(_constant: str) -> None:
    """None for NaN and Infinity, which are not JSON."""

"""Activity JSON -> its fields and its inbox row. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from bridge.errors import InvalidUacs, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, Person, Place, Raw
from bridge.uacs import to_datetime
from connectors.teams import ids

KIND = "activity"

Json = dict[str, Any]


@dataclass(frozen=True)
class BotIdentity:
    """The account and app id of a bot; `tenant` is the default for activities that name none."""

    account: AccountId
    app_id: str
    tenant: str | None = None


def parse_activity(payload: bytes) -> Json:
    """Return the activity. Raises UndecodableEvent if the payload is not a JSON object."""
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise UndecodableEvent(f"The activity is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UndecodableEvent(f"The activity is a JSON {type(value).__name__}, not an object")
    return value


def object_of(value: Json, key: str) -> Json:
    """Return the object at `key`, or {}."""
    member = value.get(key)
    return member if isinstance(member, dict) else {}


def objects(value: Json, key: str) -> list[Json]:
    """Return the objects of the list at `key`; other items are left out."""
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def string(value: Json, key: str) -> str:
    """Return the string at `key`, or an empty one."""
    text = value.get(key)
    return text if isinstance(text, str) else ""


class Activity:
    """The fields that most decoders need; a missing field is empty."""

    def __init__(self, json: Json, identity: BotIdentity) -> None:
        self.json = json
        self.identity = identity
        self.type = string(json, "type")
        self.id = string(json, "id")
        self.conversation = string(object_of(json, "conversation"), "id")
        self.data = object_of(json, "channelData")
        self.author = object_of(json, "from")

    @property
    def tenant(self) -> str:
        return tenant_of(self.json) or self.identity.tenant or ""

    @property
    def channel(self) -> ChannelRef:
        return ids.channel_ref(self.tenant, self.conversation)

    @property
    def about(self) -> ChannelRef:
        """The channel that the activity concerns.

        Teams sends events about a channel in the General channel of its team.
        """
        channel = string(object_of(self.data, "channel"), "id")
        of_team = self.type == "conversationUpdate" and channel
        return ids.channel_ref(self.tenant, channel) if of_team else self.channel

    def place(self, message: str) -> Place:
        """Return where `message` stands. Raises UndecodableEvent without conversation or tenant."""
        if not self.conversation:
            raise UndecodableEvent(f"{self!r} has no conversation")
        if not self.tenant:
            raise UndecodableEvent(f"{self!r} names no tenant; set tenant_id for this account")
        return ids.place_of(self.tenant, self.conversation, message)

    def __repr__(self) -> str:
        return f"Activity {self.id!r} of type {self.type!r}"

    def time(self) -> datetime:
        """Return the `timestamp`, or the time in the id of a post.

        Raises UndecodableEvent if the activity has neither.
        """
        try:
            return to_datetime(string(self.json, "timestamp"))
        except InvalidUacs:
            milliseconds = ids.milliseconds_of(self.id)
            if milliseconds is None:
                text = f"{self!r} has no readable timestamp"
                raise UndecodableEvent(text) from None
            return datetime.fromtimestamp(milliseconds / 1000, UTC)

    def order(self) -> int:
        """Return its place in the conversation, in milliseconds since 1970; 0 if unknown."""
        named = ids.milliseconds_of(self.id) if self.type == "message" else None
        if named is not None:
            return named
        try:
            return int(self.time().timestamp() * 1000)
        except UndecodableEvent:
            return 0

    def actor(self) -> ActorId:
        """Return the id of the author. Raises UndecodableEvent if the activity names none."""
        return self.actor_of(string(self.author, "id"))

    def actor_of(self, account: str) -> ActorId:
        if not account:
            raise UndecodableEvent(f"{self!r} has no account id")
        return ids.actor_id(self.tenant, account)

    def person(self, account: Json) -> Person:
        own_id = string(account, "id")
        bot = ids.is_bot(own_id) or string(account, "role") == "bot"
        name = string(account, "name").strip() or own_id
        return Person(id=self.actor_of(own_id), name=name, bot=bot)

    def event_fields(self, message: str = "") -> Json:
        """Return the fields that every event has: account, place and time."""
        return {
            "account": self.identity.account,
            "place": self.place(message or self.id),
            "time": self.time(),
        }


def is_installation(activity: Json) -> bool:
    """Return whether the activity tells that the app was added to a team or chat."""
    return _installation_action(activity) in ("add", "add-upgrade")


def is_removal(activity: Json) -> bool:
    """Return whether the activity tells that the app was removed from a team or chat."""
    return _installation_action(activity) == "remove"


def _installation_action(activity: Json) -> str:
    is_update = string(activity, "type") == "installationUpdate"
    return string(activity, "action") if is_update else ""


def tenant_of(activity: Json) -> str:
    """Return the tenant that an activity comes from; empty if the activity does not name it."""
    named = string(object_of(activity, "conversation"), "tenantId")
    return named or string(object_of(object_of(activity, "channelData"), "tenant"), "id")


def raw_of(activity: Json, identity: BotIdentity) -> Raw:
    """Return the inbox row of an activity, with the credentials moved out of the payload."""
    read = Activity(activity, identity)
    payload, credentials = _without_credentials(activity)
    time = string(activity, "timestamp")
    return Raw(
        account=identity.account,
        kind=KIND,
        dedupe_key=ids.dedupe_key(read.type, read.conversation, read.id, time, payload),
        order_key=ids.order_key(read.order()),
        channel=read.about if read.conversation and read.tenant else None,
        volatile=read.type == "typing",
        payload=payload,
        credentials=credentials,
    )


# JSON pointers of values that must not be stored in plain text, by the name of the invoke ("": any
# activity); `*` is any element of a list. A file's downloadUrl needs no further authentication.
CREDENTIAL_PATHS: dict[str, tuple[str, ...]] = {
    "": ("/attachments/*/content/downloadUrl",),
    "fileConsent/invoke": ("/value/uploadInfo/uploadUrl",),
    "signin/verifyState": ("/value/state",),
    "signin/tokenExchange": ("/value/token",),
    "adaptiveCard/action": ("/value/state", "/value/authentication/token"),
}


def _without_credentials(activity: Json) -> tuple[bytes, dict[str, str]]:
    credentials: dict[str, str] = {}
    cleaned: Any = activity
    name = string(activity, "name") if string(activity, "type") == "invoke" else ""
    for path in {*CREDENTIAL_PATHS[""], *CREDENTIAL_PATHS.get(name, ())}:
        cleaned = _remove_at(cleaned, path.split("/")[1:], "", credentials)
    return orjson.dumps(cleaned), credentials


def _remove_at(value: Any, path: Sequence[str], pointer: str, credentials: dict[str, str]) -> Any:
    """Return a copy of `value` with the strings at `path` emptied; `taken` receives them."""
    if not path:
        if isinstance(value, str) and value:
            credentials[pointer] = value
            return ""
        return value
    step, below = path[0], path[1:]
    if step == "*" and isinstance(value, list):
        return [
            _remove_at(item, below, f"{pointer}/{i}", credentials) for i, item in enumerate(value)
        ]
    if isinstance(value, dict) and step in value:
        return value | {step: _remove_at(value[step], below, f"{pointer}/{step}", credentials)}
    return value

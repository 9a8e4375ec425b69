"""Reads saved answers of Microsoft Graph, and the export of users and teams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Paragraph, Text
from bridge.errors import ExportUnreadable, InvalidUacs, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, MessagePosted, Person
from bridge.model.export_records import (
    ChannelKind,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.runtime.json_stream import parsed
from bridge.uacs import to_datetime
from connectors.teams import ids
from connectors.teams.activity import BotIdentity, Json, object_of, objects, string
from connectors.teams.decode import decode_activity
from connectors.teams.exports.activity_of_message import (
    account_in,
    activity_of,
    conversation_of,
    emoji_of,
    is_system,
)
from connectors.teams.exports.documents import (
    Document,
    dumped,
    fingerprint_of,
    has_messages,
    head_of,
    in_camel_case,
    tenant_in,
)

_LISTS = "people and channels"  # the unit of all of them
_LARGEST_LIST = 16 << 20  # bytes of a file without messages that is read at once
_IDENTITY = BotIdentity(account=AccountId("import"), app_id="")
_CHATS: dict[str, ChannelKind] = {"oneOnOne": "direct", "group": "group", "meeting": "group"}
_ENDINGS: tuple[tuple[str, ChannelKind], ...] = (
    ("@unq.gbl.spaces", "direct"),
    ("@thread.v2", "group"),
)


@dataclass
class _Known:
    """The people and channels whom the files without messages name."""

    people: dict[ActorId, ExportedPerson] = field(default_factory=dict[ActorId, ExportedPerson])
    channels: dict[str, ExportedChannel] = field(default_factory=dict[str, ExportedChannel])


class Reader:
    """One export: a unit of all people and channels, then a unit for each file."""

    def __init__(self, path: Path, files: Sequence[Path], options: ReadOptions) -> None:
        if not files:
            raise ExportUnreadable(f"{path.name}: there are no JSON files")
        root = path if path.is_dir() else path.parent
        self._paths = {file.relative_to(root).as_posix(): file for file in files}
        tenant = options.workspace or tenant_in(files)
        if tenant is None:
            text = "the export does not name its tenant; name the tenant's id with --workspace"
            raise ExportUnreadable(f"{path.name}: {text}")
        self._tenant = tenant
        self._known = _Known()
        self._lists: list[str] = []  # units of the files that were read for it
        for key, file in self._paths.items():
            self._learn(key, file)

    def units(self) -> Sequence[ExportUnit]:
        units: list[ExportUnit] = []
        digest = blake2b(self._tenant.encode(), digest_size=16)
        for key, path in self._paths.items():
            try:
                unit = ExportUnit(key, fingerprint_of(path), path.stat().st_size)
            except OSError:
                unit = ExportUnit(key, "")  # reading it says the reason
            units.append(unit)
            if key in self._lists:
                digest.update(f"{key} {unit.fingerprint}\n".encode())
        return [ExportUnit(_LISTS, digest.hexdigest()), *units]

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        if unit.key == _LISTS:
            yield from self._known.people.values()
            yield from self._known.channels.values()
        elif path := self._paths.get(unit.key):
            yield from _Objects(Document(path, unit.key), self._tenant, self._known).read()

    def close(self) -> None:
        """Nothing stays open between two parts."""

    def _learn(self, key: str, path: Path) -> None:
        """Take people and channels from a file without messages."""
        try:
            if path.stat().st_size > _LARGEST_LIST or has_messages(head_of(path)):
                return
            self._lists.append(key)
            for item in _Objects(Document(path, key), self._tenant, self._known).read():
                if isinstance(item, ExportedPerson):
                    self._known.people.setdefault(item.person.id, item)
                elif isinstance(item, ExportedChannel):
                    self._known.channels.setdefault(item.channel.key, item)
        except (ExportUnreadable, OSError):
            return  # reading its unit says the reason


class _Objects:
    """The objects of one file."""

    def __init__(self, document: Document, tenant: str, known: _Known) -> None:
        self._document = document
        self._tenant = tenant
        self._known = known
        self._people: dict[ActorId, str] = {}  # of whom an item was given, and their names
        self._channels: set[str] = set()

    def read(self) -> Iterator[ExportItem]:
        for number, payload in enumerate(self._document.objects(), 1):
            where = f"{self._document.key}, item {number}"
            try:
                native = parsed(payload)
            except ValueError as error:
                yield NotUnderstood(where, "item that is no valid JSON", str(error))
                continue
            if not isinstance(native, dict):
                yield NotUnderstood(where, "item that is no JSON object", type(native).__name__)
                continue
            native = native if "id" in native else in_camel_case(native)
            yield from self._object(native, payload, where)
            for index, reply in enumerate(objects(native, "replies"), 1):
                reply.setdefault("replyToId", native.get("id"))
                yield from self._object(reply, dumped(reply), f"{where}, reply {index}")

    def _object(self, native: Json, payload: bytes, where: str) -> Iterator[ExportItem]:
        if "body" in native or "messageType" in native:
            yield from self._message(native, payload, where)
        elif (item := _channel_in(native, self._tenant)) is not None:
            if item.channel.key not in self._known.channels:
                self._channels.add(item.channel.key)
                yield item
        elif (person := _person_in(native, self._tenant)) is not None:
            if person.person.id not in self._known.people:
                self._people[person.person.id] = person.person.name
                yield person
        elif not _is_team(native):
            what = "item that is no message, channel, chat or person"
            yield NotUnderstood(where, what, string(native, "@odata.type"))

    # --- messages -------------------------------------------------------------------------------

    def _message(self, native: Json, payload: bytes, where: str) -> Iterator[ExportItem]:
        conversation = conversation_of(native) or self._document.conversation
        if not conversation or not string(native, "id"):
            missing = "id" if conversation else "channel or chat"
            yield NotUnderstood(where, f"message without {missing}", string(native, "id"))
            return
        try:
            posted = self._posted(native, conversation)
        except (UndecodableEvent, ValueError, RecursionError) as error:
            yield NotUnderstood(where, "message with missing or wrong fields", _reason(error))
            return
        yield from self._channel(posted.place.channel)
        yield from self._people_of(native, posted.author)
        yield ExportedMessage(
            posted=posted,
            payload=payload,
            root=posted.place.thread,
            reply_to=posted.reply_to,
            reactions=tuple(self._reactions(native)),
            deleted=isinstance(native.get("deletedDateTime"), str),
        )

    def _posted(self, native: Json, conversation: str) -> MessagePosted:
        """Return the message as the decoder gives it. Raises UndecodableEvent."""
        json = activity_of(native, conversation, self._tenant, self._name_of)
        (event,) = decode_activity(json, _IDENTITY)
        if not isinstance(event, MessagePosted):
            raise UndecodableEvent(f"no message, but {event.type}")
        changed: dict[str, Any] = {}
        if (edited := string(native, "lastEditedDateTime")) and (at := _time(edited)):
            changed["edited_at"] = at
        if is_system(native):
            actor = event.message.actor.model_copy(update={"role": "system"})
            changed["message"] = event.message.model_copy(update={"actor": actor})
        return event.model_copy(update=changed) if changed else event

    def _channel(self, channel: ChannelRef) -> Iterator[ExportedChannel]:
        """Yield the channel, if no file names it."""
        if channel.key not in self._known.channels and channel.key not in self._channels:
            self._channels.add(channel.key)
            yield ExportedChannel(channel, channel.channel, _kind_of(channel.channel))

    def _people_of(self, native: Json, author: Person) -> Iterator[ExportedPerson]:
        """Yield the author, then the people whom the message mentions or who reacted."""
        yield from self._person(author, native.get("from"))
        for key, of in (("mentions", "mentioned"), ("reactions", "user")):
            for item in objects(native, key) if native.get(key) else ():
                identities = object_of(item, of)
                account = account_in({"user": object_of(identities, "user")})
                if own_id := account.get("id"):
                    name = account["name"] or self._name_of(own_id)
                    if name:
                        person = Person(id=ids.actor_id(self._tenant, own_id), name=name)
                        yield from self._person(person, identities)

    def _person(self, person: Person, native: Any) -> Iterator[ExportedPerson]:
        if person.id not in self._known.people and person.id not in self._people:
            self._people[person.id] = person.name
            yield ExportedPerson(person, native)

    def _name_of(self, account: str) -> str | None:
        if not account:
            return None
        actor = ids.actor_id(self._tenant, account)
        if known := self._known.people.get(actor):
            return known.person.name
        name = self._people.get(actor)
        return name if name != account else None

    def _reactions(self, native: Json) -> Iterator[ExportedReaction]:
        for reaction in objects(native, "reactions") if native.get("reactions") else ():
            emoji = emoji_of(reaction)
            account = account_in(object_of(reaction, "user"))
            if emoji and account:
                at = _time(string(reaction, "createdDateTime"))
                actor = ids.actor_id(self._tenant, account["id"])
                yield ExportedReaction(emoji, actor, at.timestamp() if at else None)


def _time(text: str) -> datetime | None:
    try:
        return to_datetime(text)
    except InvalidUacs:
        return None


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, UndecodableEvent) else type(error).__name__


# --- people and channels ------------------------------------------------------------------------


def _channel_in(native: Json, tenant: str) -> ExportedChannel | None:
    """Return a channel of a team, or a chat."""
    own_id = string(native, "id")
    if not ids.is_conversation(own_id):
        return None
    kind = _CHATS.get(string(native, "chatType")) or _kind_of(own_id)
    if string(native, "membershipType") == "private":
        kind = "private"
    about = string(native, "description")
    created = _time(string(native, "createdDateTime"))
    return ExportedChannel(
        channel=ids.channel_ref(tenant, own_id),
        name=string(native, "displayName") or string(native, "topic") or own_id,
        kind=kind,
        topic=text_to_markdown((Paragraph((Text(about),)),)) if about else "",
        created=created.timestamp() if created else None,
        native=native,
    )


def _kind_of(conversation: str) -> ChannelKind:
    for ending, kind in _ENDINGS:
        if conversation.endswith(ending):
            return kind
    return "public"


def _person_in(native: Json, tenant: str) -> ExportedPerson | None:
    """Return a user of the directory, or a member of a team or chat."""
    own_id = string(native, "userId")
    if not own_id and not {"userPrincipalName", "mail"}.isdisjoint(native):
        own_id = string(native, "id")
    name = string(native, "displayName") or string(native, "name")
    if not own_id or not name:
        return None
    return ExportedPerson(Person(id=ids.actor_id(tenant, own_id), name=name), native)


def _is_team(native: Json) -> bool:
    return "groupsId" in native or "internalId" in native or "isArchived" in native

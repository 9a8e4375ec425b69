"""An actor id -> the person, from the roster of a conversation with them and the bot."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from urllib.parse import quote

from bridge.errors import NotFound, Refused
from bridge.model import ActorId, ChannelRef, Person
from bridge.model.refs import join_key
from connectors.teams import ids
from connectors.teams.activity import Json, object_of, string, tenant_of
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender
from connectors.teams.settings import TeamsSettings

_MAX_TRIES = 5  # rosters read for one person
_REMEMBERED = 10_000  # people


class People:
    """The people whom one bot can look up, and the bot's own name.

    It remembers the last conversation of each person, and reads that roster first.
    """

    def __init__(self, settings: TeamsSettings, references: References, sender: Sender) -> None:
        self._settings = settings
        self._references = references
        self._sender = sender
        self._last_conversations: OrderedDict[ActorId, str] = OrderedDict()
        self.own_name = ""

    def learn(self, activity: Json) -> None:
        """Remember the bot's name and the conversation of the author of an activity."""
        recipient = object_of(activity, "recipient")
        if ids.is_own_account(string(recipient, "id"), self._settings.app_id):
            self.own_name = string(recipient, "name") or self.own_name
        tenant = tenant_of(activity) or self._settings.tenant_id
        author = string(object_of(activity, "from"), "id")
        conversation = string(object_of(activity, "conversation"), "id")
        if tenant and author and conversation:
            actor = ids.actor_id(tenant, author)
            self._last_conversations[actor] = ids.split_conversation(conversation)[0]
            self._last_conversations.move_to_end(actor)
            if len(self._last_conversations) > _REMEMBERED:
                self._last_conversations.popitem(last=False)

    async def person(self, actor: ActorId) -> Person | None:
        """Return the person; None if no roster that the bot may read has them."""
        member = await self.member(actor)
        name = string(member, "name").strip()
        bot = ids.is_bot(ids.split_actor(actor)[1])
        return Person(id=actor, name=name, bot=bot) if name else None

    async def email(self, actor: ActorId) -> str | None:
        """Return the address in the tenant's directory; None for guests and unknown people."""
        member = await self.member(actor)
        if string(member, "userRole") in ("guest", "anonymous"):
            return None
        return string(member, "email") or None

    async def member(self, actor: ActorId) -> Json:
        """Return the roster entry of a person; empty if no roster that the bot may read has them.

        Raises PlatformError if Teams cannot be reached.
        """
        tenant, account = ids.split_actor(actor)
        last_conversation = self._last_conversations.get(actor)
        references = [
            reference for reference in await self._references.all() if reference.tenant == tenant
        ]
        first = [
            reference for reference in references if reference.conversation == last_conversation
        ]
        others = [
            reference
            for reference in _by_team(references)
            if reference.conversation != last_conversation
        ]
        for reference in (*first, *others)[:_MAX_TRIES]:
            if string(member := await _ask(account, reference, self._sender), "name").strip():
                return member
        return {}


class Groups:
    """Tells who is a guest; bots can see no other groups."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        """Return the guest group if the person is a guest or belongs to another tenant.

        Bots have no groups. Raises NotFound if no roster that the bot may read has the person.
        """
        tenant, account = ids.split_actor(actor)
        if ids.is_bot(account):
            return frozenset()
        member = await self._people.member(actor)
        if not member:
            raise NotFound(f"No roster that the bot may see has {actor!r}")
        home = string(member, "tenantId")
        outside = string(member, "userRole") in ("guest", "anonymous") or home not in ("", tenant)
        return frozenset([join_key("guest", ids.PLATFORM, tenant)] if outside else ())


class DirectMessages:
    """The personal chats of the bot."""

    def __init__(self, app_id: str, references: References, sender: Sender) -> None:
        self._app_id = app_id
        self._references = references
        self._sender = sender

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_personal(channel)

    async def open(self, actor: ActorId) -> ChannelRef:
        """Return the chat with a person.

        Raises PlatformError, for example if the app is not installed for the person.
        """
        tenant, account = ids.split_actor(actor)
        near = ids.channel_ref(tenant, account)  # any channel of the tenant has its service address
        chat = await self._sender.open_chat(near, ids.bot_account(self._app_id), account)
        url = await self._references.service_url(near) or ""
        await self._references.learn(
            Reference(conversation=chat, tenant=tenant, service_url=url, kind="personal")
        )
        return ids.channel_ref(tenant, chat)


async def _ask(account: str, reference: Reference, sender: Sender) -> Json:
    conversation = quote(reference.conversation, safe="")
    path = f"/v3/conversations/{conversation}/members/{quote(account, safe='')}"
    try:
        return await sender.get(reference.channel, path)
    except (NotFound, Refused):
        return {}


def _by_team(references: list[Reference]) -> list[Reference]:
    """Return one reference of each team: its channels have the same members."""
    return list(
        {reference.team or reference.conversation: reference for reference in references}.values()
    )

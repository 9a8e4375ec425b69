"""The service addresses of conversations, taken from activities and stored.

A bot can post only to a known service address. The address differs by region and can change, so
the store has the newest of each conversation and of each tenant.
"""

from __future__ import annotations

import asyncio

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from bridge.model import ChannelRef
from bridge.ports.key_values import KeyValues
from connectors.teams import ids
from connectors.teams.activity import Json, object_of, string, tenant_of

_INDEX = "references"


class Reference(BaseModel):
    """One conversation and its service address; unknown names and teams are empty."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    conversation: str
    tenant: str
    service_url: str
    bot: str = ""
    kind: str = ""  # personal, groupChat or channel
    name: str = ""
    team: str = ""
    team_name: str = ""

    @property
    def channel(self) -> ChannelRef:
        return ids.channel_ref(self.tenant, self.conversation)


def reference_of(activity: Json, tenant: str | None) -> Reference | None:
    """Return the reference in an activity; None without conversation, tenant or service address."""
    conversation, data = object_of(activity, "conversation"), object_of(activity, "channelData")
    bare, _root = ids.split_conversation(string(conversation, "id"))
    tenant = tenant_of(activity) or tenant
    service_url = string(activity, "serviceUrl")
    if not bare or not tenant or not service_url:
        return None
    channel, team = object_of(data, "channel"), object_of(data, "team")
    ours = string(channel, "id") in ("", bare)  # channelCreated names another channel
    return Reference(
        conversation=bare,
        tenant=tenant,
        service_url=service_url,
        bot=string(object_of(activity, "recipient"), "id"),
        kind=string(conversation, "conversationType"),
        name=(string(channel, "name") if ours else "") or string(conversation, "name"),
        team=string(team, "id"),
        team_name=string(team, "name"),
    )


class References:
    """The references of one account, with a cache in memory."""

    def __init__(self, key_values: KeyValues) -> None:
        self._key_values = key_values
        self._cached: dict[str, Reference] = {}
        self._service_urls: dict[str, str] = {}
        self._indexed: dict[str, None] | None = None
        self._writing = asyncio.Lock()

    async def learn(self, reference: Reference) -> None:
        """Store the new values of a reference; its empty fields keep their old values."""
        old = await self.get(reference.conversation)
        new = _merge(old, reference)
        if new != old:
            async with self._writing:
                await self._keep(new)
        if self._service_urls.get(new.tenant) != new.service_url:
            await self._key_values.put(_tenant_key(new.tenant), new.service_url)
            self._service_urls[new.tenant] = new.service_url

    async def get(self, conversation: str) -> Reference | None:
        """Return the reference of a conversation (without thread); None if it is unknown."""
        if reference := self._cached.get(conversation):
            return reference
        reference = _read(await self._key_values.get(_key(conversation)))
        if reference:
            self._cached[conversation] = reference
        return reference

    async def service_url(self, channel: ChannelRef) -> str | None:
        """Return the service address of the conversation, else the last one of its tenant."""
        if reference := await self.get(channel.channel):
            return reference.service_url
        tenant = channel.workspace
        if tenant not in self._service_urls and (
            url := await self._key_values.get(_tenant_key(tenant))
        ):
            self._service_urls[tenant] = url
        return self._service_urls.get(tenant)

    async def all(self) -> list[Reference]:
        """Return all references, the oldest first."""
        references = [await self.get(conversation) for conversation in await self._index()]
        return [reference for reference in references if reference]

    async def forget(self, conversation: str) -> None:
        """Delete the reference of a conversation; an unknown one is no error."""
        async with self._writing:
            index = await self._index()
            if conversation in index:
                del index[conversation]
                await self._key_values.put(_INDEX, orjson.dumps(list(index)).decode())
            await self._key_values.remove(_key(conversation))
            self._cached.pop(conversation, None)

    async def _keep(self, reference: Reference) -> None:
        index = await self._index()
        await self._key_values.put(_key(reference.conversation), reference.model_dump_json())
        if reference.conversation not in index:
            index[reference.conversation] = None
            await self._key_values.put(_INDEX, orjson.dumps(list(index)).decode())
        self._cached[reference.conversation] = reference

    async def _index(self) -> dict[str, None]:
        if self._indexed is None:
            self._indexed = dict.fromkeys(orjson.loads(await self._key_values.get(_INDEX) or "[]"))
        return self._indexed


def _merge(old: Reference | None, new: Reference) -> Reference:
    stated = {name: value for name, value in new.model_dump().items() if value}
    return old.model_copy(update=stated) if old else new


def _read(value: str | None) -> Reference | None:
    try:
        return Reference.model_validate_json(value) if value else None
    except ValidationError:
        return None  # written by another version; the next activity replaces it


def _key(conversation: str) -> str:
    return f"reference/{conversation}"


def _tenant_key(tenant: str) -> str:
    return f"service_url/{tenant}"

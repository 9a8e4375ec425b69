"""An id, a link, or the end of either -> ids of archived messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from bridge.app.settings.file import Settings
from bridge.model import ChannelRef, MessageId, channel_of_key, split_key
from bridge.ports.message_links import WritesIdsOtherwise
from bridge.ports.store.whole import Store
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of


async def find_messages(store: Store, settings: Settings, wanted: str) -> Sequence[MessageId]:
    """Messages with this id or link, or with a copy there; may be none or several."""
    wanted = wanted.strip().removeprefix("<").removesuffix(">")  # as links stand in messages
    if await store.message(MessageId(wanted)):
        return [MessageId(wanted)]
    words = _words(wanted)
    found: dict[MessageId, None] = {}
    for channel in await _channels(store, settings, words):
        for word in words:
            if (message := await store.resolve(channel, word)) is not None:
                found[message] = None
    return list(found)


def _words(wanted: str) -> list[str]:
    """The parts of the text that may be a platform's id of a message or a channel."""
    path = wanted.partition("?")[0].partition("#")[0]
    words = [unquote(word) for word in path.split("/") if word]
    if "://" not in wanted and ":" in wanted:
        words += split_key(wanted)
    kinds = [connector_type(name) for name in names_of(CONNECTORS)]
    readers = [kind for kind in kinds if isinstance(kind, WritesIdsOtherwise)]
    return [*words, *(found for kind in readers for word in words for found in kind.ids_in(word))]


async def _channels(store: Store, settings: Settings, words: Sequence[str]) -> list[ChannelRef]:
    """Known channels that the parts name, in any workspace; all known ones if none is named."""
    known = [
        channel_of_key(timeline.name)
        for timeline, _ in await store.conversations()
        if timeline.kind == "channel"
    ]
    workspaces = dict.fromkeys(
        [*((c.platform, c.workspace) for c in known), *_configured(settings)]
    )
    named = [
        ChannelRef(platform=platform, workspace=workspace, channel=word)
        for platform, workspace in workspaces
        for word in words
    ]
    meant = [channel for channel in known if channel.channel in words]
    return list(dict.fromkeys([*(meant or known), *named]))


def _configured(settings: Settings) -> Iterator[tuple[str, str]]:
    for room in settings.rooms.values():
        for member in room.members:
            if member.workspace:
                yield settings.accounts[member.account].platform, member.workspace

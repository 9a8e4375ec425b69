"""An id, a link, or the end of either -> ids of archived messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from bridge.app.settings.sections import Settings
from bridge.model import ChannelRef, MessageId, channel_of_key, split_key
from bridge.ports.message_links import WritesIdsOtherwise
from bridge.ports.store.whole import Store
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of


async def find_messages(
    store: Store, settings: Settings | None, reference: str
) -> Sequence[MessageId]:
    """Messages with this id or link, or with a copy there; may be none or several. The settings
    name channels that the store does not know yet."""
    reference = reference.strip().removeprefix("<").removesuffix(">")  # as links stand in messages
    if await store.message(MessageId(reference)):
        return [MessageId(reference)]
    words = _words(reference)
    message_ids: dict[MessageId, None] = {}
    for channel in await _channels(store, settings, words):
        for word in words:
            if (message := await store.resolve(channel, word)) is not None:
                message_ids[message] = None
    return list(message_ids)


def _words(reference: str) -> list[str]:
    """The parts of the text that may be a platform's id of a message or a channel."""
    path = reference.partition("?")[0].partition("#")[0]
    words = [unquote(word) for word in path.split("/") if word]
    if "://" not in reference and ":" in reference:
        words += split_key(reference)
    kinds = [connector_type(name) for name in names_of(CONNECTORS)]
    readers = [kind for kind in kinds if isinstance(kind, WritesIdsOtherwise)]
    return [
        *words,
        *(native_id for kind in readers for word in words for native_id in kind.ids_in(word)),
    ]


async def _channels(
    store: Store, settings: Settings | None, words: Sequence[str]
) -> list[ChannelRef]:
    """Known channels that the parts name, in any workspace; all known ones if none is named."""
    channels = [
        channel_of_key(timeline.name)
        for timeline, _ in await store.conversations()
        if timeline.kind == "channel"
    ]
    workspaces = dict.fromkeys(
        [
            *((c.platform, c.workspace) for c in channels),
            *(() if settings is None else _configured(settings)),
        ]
    )
    named = [
        ChannelRef(platform=platform, workspace=workspace, channel=word)
        for platform, workspace in workspaces
        for word in words
    ]
    exact_matches = [channel for channel in channels if channel.channel in words]
    return list(dict.fromkeys([*(exact_matches or channels), *named]))


def _configured(settings: Settings) -> Iterator[tuple[str, str]]:
    for room in settings.rooms.values():
        for member in room.members:
            if member.workspace:
                yield settings.accounts[member.account].platform, member.workspace

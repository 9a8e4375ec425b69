"""What a channel or an agent of a room may know of what was said while it was not there."""

from __future__ import annotations

from bridge.model import Delivery, EditMessage, PostMessage
from bridge.model.refs import BRIDGE
from bridge.ports.store.conversations import ConversationStore
from bridge.router.rooms.rooms import Room, Rooms


def may_see_all(room: Room) -> bool:
    """Whether a member knows of everything, whenever it came; so it is, too, in rooms that stand
    under no configuration."""
    return room.options.history == "shared" or room.epoch is None


async def without_older_words(
    delivery: Delivery, rooms: Rooms, store: ConversationStore
) -> Delivery:
    """The delivery without the words that it quotes, where they were said before its channel was in
    the room; who said them is still told. What stands in the channel itself is known there."""
    operation, quoted = delivery.operation, delivery.quoted
    if quoted is None or quoted.native_id is not None or not quoted.excerpt:
        return delivery
    room = rooms.by_id.get(operation.room)
    answered = operation.reply_to if isinstance(operation, PostMessage | EditMessage) else None
    if room is None or answered is None or answered.startswith(f"{BRIDGE}:") or may_see_all(room):
        return delivery
    if await store.came_to(room.id, operation.channel.key, answered):
        return delivery
    return delivery.model_copy(update={"quoted": quoted.model_copy(update={"excerpt": ""})})

"""Contract suite for stores, part: direct messages between platforms."""

from __future__ import annotations

from dataclasses import replace

from bridge.model import AccountId, ChannelRef, RoomId, actor_id_of
from bridge.model.room_records import DirectEnd
from bridge.ports.store.whole import Store

_ANN = actor_id_of("tin", "W1", "U1")
_BOB = actor_id_of("wire", "W2", "U2")
_ALONE = ChannelRef(platform="tin", workspace="W1", channel="alone with Ann")
_END = DirectEnd(_ANN, AccountId("acme"), _ALONE, RoomId("lobby"), 5.0)


class DirectsContract:
    """Inherit it beside `StoreContract`; it needs the fixture `store`."""

    async def test_a_direct_end_is_listed_until_it_is_removed(self, store: Store) -> None:
        theirs = replace(_END, actor=_BOB, at=4.0)
        elsewhere = replace(_END, room=RoomId("attic"), at=6.0)
        for end in (replace(_END, at=3.0), theirs, elsewhere, _END):
            await store.put_direct_end(end)

        assert await store.direct_ends() == [theirs, _END, elsewhere]
        assert await store.remove_direct_ends(_ANN)
        assert not await store.remove_direct_ends(_ANN)
        assert await store.direct_ends() == [theirs]

    async def test_a_direct_pair_is_stored_once_in_either_order(self, store: Store) -> None:
        await store.put_direct_pair(_BOB, _ANN)
        await store.put_direct_pair(_ANN, _BOB)

        assert await store.direct_pairs() == [(_ANN, _BOB)]

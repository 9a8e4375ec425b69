"""Which process is responsible for what: channels, lanes and rows belong to the account of their
channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.model import AccountId, ChannelRef, LaneId, Raw, channel_of_lane
from bridge.model.assignments import UPKEEP, Assignment, account_assignment
from bridge.ports.cluster import Cluster
from bridge.ports.connector import Connector
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.programs import ACCOUNT, is_outside
from bridge.router.rooms.rooms import Rooms


@dataclass(frozen=True)
class Responsibility:
    """Finds the assignment of each thing. All processes have the same rooms, so they agree."""

    rooms: Rooms
    directs: DirectMessages
    cluster: Cluster
    connectors: Mapping[AccountId, Connector]

    def of_channel(self, channel: ChannelRef) -> Assignment:
        """Return the assignment of the account that serves a channel, also of one that has left
        its rooms; of all others, the upkeep."""
        account = (
            self.rooms.account_of(channel)
            or self.directs.account_of(channel)
            or self.rooms.account_seeing(channel.platform, channel.workspace)
        )
        return UPKEEP if account is None else account_assignment(account)

    def of_lane(self, lane: LaneId) -> Assignment:
        return self.of_channel(channel_of_lane(lane))

    def of_payload(self, raw: Raw) -> Assignment:
        """Return the assignment of the account that received a payload. What programs say is the
        upkeep's; what waits in their name for files is its channel's."""
        if raw.account != ACCOUNT:
            return account_assignment(raw.account)
        if raw.channel is None or is_outside(raw.channel):
            return UPKEEP
        return self.of_channel(raw.channel)

    def owns_lane(self, lane: LaneId) -> bool:
        """Whether this process works on a lane."""
        return not self.cluster.is_shared or self.cluster.owns(self.of_lane(lane))

    def call_for_lane(self, lane: LaneId) -> None:
        """Tell the process whose lane it is that there is something new in it."""
        self.cluster.call(self.of_lane(lane), lane)

    def comes_anywhere(self, raw: Raw) -> bool:
        """Whether payloads of this account come to all processes, or this one came to another than
        its owner."""
        if not self.cluster.is_shared:
            return False
        connector = self.connectors.get(raw.account)
        over_http = connector is not None and connector.abilities.http is not None
        return over_http or not self.is_ours(raw)

    def is_ours(self, raw: Raw) -> bool:
        """Whether this process works on a payload."""
        return not self.cluster.is_shared or self.cluster.owns(self.of_payload(raw))

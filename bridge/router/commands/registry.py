"""All commands, built once from their parts: one group for each subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.model import AccountId, RoomId
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router.commands.bans import ban_commands
from bridge.router.commands.channels import Linker, channel_commands
from bridge.router.commands.direct_messages import DirectCommand, direct_commands
from bridge.router.commands.failures import failure_commands
from bridge.router.commands.hand_over import HandOverCommands
from bridge.router.commands.parser import Commands
from bridge.router.commands.pausing import pausing_commands
from bridge.router.commands.people import people_commands
from bridge.router.commands.status import status_commands
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.notices import Notices
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.rooms import Rooms


@dataclass(frozen=True)
class CommandSet:
    """The commands of channels, and the one that people give to our bot alone."""

    channel: Commands
    direct: DirectCommand


def build_commands(
    *,
    store: Store,
    rooms: Rooms,
    connectors: Mapping[AccountId, Connector],
    notices: Notices,
    admins: Sequence[str],
    bans: BansAndPauses,
    forget_floods: Callable[[RoomId], None],
    linking: Linking,
    handovers: HandOverCommands,
    failures: DeliveryFailures,
    direct: DirectCommand,
    linker: Callable[[], Linker],
) -> CommandSet:
    commands = (
        *status_commands(store, rooms, bans),
        *pausing_commands(bans, forget_floods),
        *ban_commands(store, bans),
        *people_commands(linking),
        *handovers.commands(),
        *failure_commands(failures),
        *direct_commands(direct),
        *channel_commands(connectors, linker),
    )
    return CommandSet(Commands(commands, rooms, connectors, notices, admins), direct)

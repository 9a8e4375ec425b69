"""The way of one event, stage by stage: reading `Pipeline` is reading the router.

A stage returns what the next one takes, or `Planned`, with which the way of the event ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args, get_type_hints

from bridge.content.messages.parts import may_hold_files
from bridge.model import MessagePosted
from bridge.router.inbound.addressed import (
    AnswerCommand,
    AnswerDirectCommand,
    AnswerSlashCommand,
    CarryDirectMessage,
    TakePairingCode,
)
from bridge.router.inbound.admission import Admit, BuryDeleted
from bridge.router.inbound.attachments import KeepFiles, WaitForFiles
from bridge.router.inbound.changes import AddFiles, ApplyDeletion, ApplyEdit
from bridge.router.inbound.channel_events import DescribeChannelEvent
from bridge.router.inbound.context import Planned, Received
from bridge.router.inbound.echoes import DropRepeats, SettleOwnEcho
from bridge.router.inbound.feedback import TakeFeedback
from bridge.router.inbound.presses import ForwardPress, StopAnswers
from bridge.router.inbound.reactions import ApplyPin, ApplyReaction
from bridge.router.inbound.routing import NameAuthor, PlaceInTimelines, Route


@dataclass(frozen=True)
class Pipeline:
    """All stages, in the order in which an event passes them.

    A posted message passes `message_commands` and `bury_deleted`; all other events pass
    `other_arrivals` and `changes`, which may make a message of them. `keep_files` is for messages
    with files alone.
    """

    arrivals: tuple[DropRepeats, SettleOwnEcho, AnswerDirectCommand, CarryDirectMessage]
    message_commands: tuple[AnswerCommand, TakePairingCode]
    other_arrivals: tuple[WaitForFiles, AnswerSlashCommand]
    admit: Admit
    bury_deleted: BuryDeleted
    changes: tuple[
        ApplyEdit,
        AddFiles,
        ApplyDeletion,
        ApplyReaction,
        ApplyPin,
        TakeFeedback,
        StopAnswers,
        ForwardPress,
        DescribeChannelEvent,
    ]
    name_author: NameAuthor
    place_in_timelines: PlaceInTimelines
    route: Route
    keep_files: KeepFiles

    async def plan(self, received: Received) -> Planned:
        """Returns what the event changes. Raises whatever a stage raises: the event fails."""
        is_post = isinstance(received.event, MessagePosted)
        for stage in (*self.arrivals, *(self.message_commands if is_post else self.other_arrivals)):
            passed = await stage(received)
            if isinstance(passed, Planned):
                return passed
            received = passed
        admitted = await self.admit(received)
        if isinstance(admitted, Planned):
            return admitted
        if is_post:
            admitted = await self.bury_deleted(admitted)
        for stage in () if is_post else self.changes:
            passed = await stage(admitted)
            if isinstance(passed, Planned):
                return passed
            admitted = passed
        placed = await self.place_in_timelines(await self.name_author(admitted))
        planned = await self.route(placed)
        if may_hold_files(placed.message.message):
            return await self.keep_files(placed, planned)
        return planned


def stage_names() -> Iterator[str]:
    """Returns the names of the stages that a posted message passes, in order."""
    for field, stages in get_type_hints(Pipeline).items():
        if field not in ("other_arrivals", "changes"):
            for stage in get_args(stages) or (stages,):
                yield stage.__name__

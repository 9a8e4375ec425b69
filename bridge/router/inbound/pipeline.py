"""The way of one event, stage by stage: reading `Pipeline` is reading the router.

A stage returns what the next one takes, or `Planned`, with which the way of the event ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args, get_type_hints

from bridge.router.inbound.admission import Admit
from bridge.router.inbound.attachments import KeepFiles, WaitForFiles
from bridge.router.inbound.changes import AddFiles, ApplyDeletion, ApplyEdit
from bridge.router.inbound.channel_events import DescribeChannelEvent
from bridge.router.inbound.context import Planned, Received
from bridge.router.inbound.direct_messages import AnswerDirectCommand, CarryDirectMessage
from bridge.router.inbound.echoes import DropRepeats, SettleOwnEcho
from bridge.router.inbound.feedback import TakeFeedback
from bridge.router.inbound.given_commands import (
    AnswerCommand,
    AnswerSlashCommand,
    TakePairingCode,
)
from bridge.router.inbound.orphans import BuryDeleted
from bridge.router.inbound.presses import HearPress, StopAnswers
from bridge.router.inbound.reactions import ApplyPin, ApplyReaction
from bridge.router.inbound.routing import NameAuthor, PlaceInTimelines, Route


@dataclass(frozen=True)
class Pipeline:
    """All stages, in the order in which an event passes them."""

    before_admission: tuple[
        DropRepeats,
        WaitForFiles,
        SettleOwnEcho,
        AnswerDirectCommand,
        CarryDirectMessage,
        AnswerSlashCommand,
        AnswerCommand,
        TakePairingCode,
    ]
    admit: Admit
    after_admission: tuple[
        BuryDeleted,
        ApplyEdit,
        AddFiles,
        ApplyDeletion,
        ApplyReaction,
        ApplyPin,
        TakeFeedback,
        StopAnswers,
        HearPress,
        DescribeChannelEvent,
    ]
    name_author: NameAuthor
    keep_files: KeepFiles
    place_in_timelines: PlaceInTimelines
    route: Route

    async def plan(self, received: Received) -> Planned:
        """What the event changes. Raises whatever a stage raises: the event fails."""
        for stage in self.before_admission:
            passed = await stage(received)
            if isinstance(passed, Planned):
                return passed
            received = passed
        admitted = await self.admit(received)
        if isinstance(admitted, Planned):
            return admitted
        for stage in self.after_admission:
            passed = await stage(admitted)
            if isinstance(passed, Planned):
                return passed
            admitted = passed
        authored = await self.keep_files(await self.name_author(admitted))
        return await self.route(await self.place_in_timelines(authored))


def stage_names() -> Iterator[str]:
    """The names of the stages, in order."""
    for stages in get_type_hints(Pipeline).values():
        for stage in get_args(stages) or (stages,):
            yield stage.__name__

"""The platform shows that somebody is writing, or works on an answer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bridge.model import AccountId, Byline, Call, ChannelRef


@runtime_checkable
class ShowsTyping(Protocol):
    """It can be shown that somebody is writing."""

    def typing_call(self, channel: ChannelRef) -> Call | None:
        """What shows it for some seconds; None where this channel cannot. Pure."""
        ...


@runtime_checkable
class ShowsWork(Protocol):
    """It can be shown in a thread that somebody works on an answer there, with words for it."""

    def working_call(
        self, account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
    ) -> Call | None:
        """What shows it until the answer comes, at most some minutes; no words: not any more.
        None where this channel cannot. Pure."""
        ...

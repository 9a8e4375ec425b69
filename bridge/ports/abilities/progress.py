"""The platform shows that somebody is writing, or works on an answer."""

from __future__ import annotations

from typing import Protocol

from bridge.model import AccountId, Byline, Call, ChannelRef


class Typing(Protocol):
    """The platform can show that somebody is writing."""

    def typing_call(self, channel: ChannelRef) -> Call | None:
        """The call that shows it for some seconds; None where this channel cannot. Pure."""
        ...


class Progress(Protocol):
    """The platform can show in a thread that somebody works on an answer there, with words for
    it."""

    def working_call(
        self, account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
    ) -> Call | None:
        """The call that shows it until the answer comes, at most some minutes; no words take it
        away. None where this channel cannot. Pure."""
        ...

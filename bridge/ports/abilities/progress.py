"""Shows that somebody is writing, or works on an answer."""

from __future__ import annotations

from typing import Protocol

from bridge.model import AccountId, Byline, Call, ChannelRef


class Typing(Protocol):
    """Shows that somebody is writing."""

    def typing_call(self, channel: ChannelRef) -> Call | None:
        """Return the call that shows it for some seconds; None if this channel cannot. Makes no
        request."""
        ...


class Progress(Protocol):
    """Shows in a thread that somebody works on an answer, with a text."""

    def working_call(
        self, account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
    ) -> Call | None:
        """Return the call that shows the text `words` until the answer comes, for some minutes at
        most; an empty text removes it. Makes no request.

        Returns:
            None if this channel cannot show it.
        """
        ...

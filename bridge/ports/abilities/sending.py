"""Finds posts whose answer was lost, and simplifies posts that the platform refused."""

from __future__ import annotations

from typing import Protocol

from bridge.model import Call, Receipt


class Deliveries(Protocol):
    """Finds out whether a post arrived whose answer was lost."""

    async def find(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """Look for the post among our own posts, and return its receipt; None if it is not there.

        Args:
            call: the call whose answer was lost.
            after: native id of the last post of the lane that is known to have arrived; only newer
                ones are examined. None: those after `since`.
            since: seconds since 1970; None: an hour ago.
            changed: whether the text may have been another one when it was sent. Needed where posts
                are recognised by their text.

        Raises:
            NoHistory: the platform returns no posts; the post is then `unproved`.
            PlatformError: the platform did not answer, or refused.
        """
        ...


class SimplerForms(Protocol):
    """Simplifies a call that the platform refused; it keeps its slot."""

    def in_words(self, call: Call) -> Call | None:
        """Return the call with nothing but its text and files, after `FormRefused`; None if it
        contains nothing else. Makes no request."""
        ...

    def without_files(self, call: Call) -> Call | None:
        """Return the call with the names of its files in place of the files; None if it has no
        files. Makes no request."""
        ...

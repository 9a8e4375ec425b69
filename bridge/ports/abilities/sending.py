"""What can be done about a post whose fate is unknown, or that the platform refused."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bridge.model import Call, Receipt


@runtime_checkable
class FindsSent(Protocol):
    """Whether an unsettled post arrived can be read back."""

    async def find_sent(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """The copy that this post made, looked for among our own posts newer than `after` (the
        native id of the lane's last settled post; None: those since then, in seconds since 1970,
        or of the last hour). None: it is not there. Raises NoHistory where nothing can be read
        back: the post is unproved then.

        `changed`: it may have been sent with other words than the call has now. Only platforms
        that know posts by their words need it.
        """
        ...


@runtime_checkable
class SaysInWords(Protocol):
    """A message that the platform refuses in its form (`FormRefused`) can be said in words."""

    def in_words(self, call: Call) -> Call | None:
        """The same call, in the same slot, with nothing but what it says and its files. None: it
        is words already. Pure."""
        ...


@runtime_checkable
class LeavesFilesOut(Protocol):
    """A message whose files the platform does not take can be said with their names instead."""

    def without_files(self, call: Call) -> Call | None:
        """The same call, in the same slot, without files. None: it has none. Pure."""
        ...

"""What can be done about a post whose fate is unknown, or that the platform refused."""

from __future__ import annotations

from typing import Protocol

from bridge.model import Call, Receipt


class Deliveries(Protocol):
    """Whether an unsettled post arrived can be looked up."""

    async def find(
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


class SimplerForms(Protocol):
    """A call that the platform refuses can be made in a simpler form, in the same slot."""

    def in_words(self, call: Call) -> Call | None:
        """The call with its words and its files alone, for a form that the platform refuses
        (`FormRefused`). None: it is words already. Pure."""
        ...

    def without_files(self, call: Call) -> Call | None:
        """The call with the names of its files in place of the files. None: it has none. Pure."""
        ...

"""Paging through a channel's history shows each message once, for any arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridge.sandbox.platform import SandboxContext
from connectors.slack.sandbox import LocalSlack
from connectors.slack.sandbox.arguments import Arguments
from connectors.slack.sandbox.methods.call import Call
from connectors.slack.sandbox.methods.conversations import history
from connectors.slack.sandbox.sockets import Sockets
from connectors.slack.sandbox.state import Draft, ts_of
from connectors.slack.sandbox.uploads import Uploads
from connectors.slack.sandbox.views import Views

START = 1_700_000_000_000_000


@dataclass
class Reader:
    """Reads Acme's first channel with `count` messages, one tick apart."""

    count: int

    def __post_init__(self) -> None:
        self.local = LocalSlack(SandboxContext("http://sandbox"), now=lambda: START / 1_000_000)
        self.team = self.local.slack.workspaces["T0ACME"]
        channel = self.team.channels["C0ACME001"]
        for number in range(self.count):
            self.local._changes.post(self.team, channel, Draft("U0ACME01", str(number)))  # pyright: ignore[reportPrivateUsage]  # no network in this test

    def page(self, **args: Any) -> dict[str, Any]:
        values = {"channel": "C0ACME001", **args}
        changes = self.local._changes  # pyright: ignore[reportPrivateUsage]  # as above
        sockets = Sockets("http://sandbox")
        arguments = Arguments(values)
        app = self.team.apps[0]
        context = SandboxContext("http://sandbox")
        uploads, views = Uploads(context, self.local.slack, lambda act: act()), Views(changes.now)
        call = Call(
            self.local.slack, changes, sockets, self.team, app, arguments, "", uploads, views
        )  # fmt: skip
        return history(call)

    def all_pages(self, **args: Any) -> list[list[int]]:
        pages: list[list[int]] = []
        while True:
            answer = self.page(**args)
            pages.append([int(message["text"]) for message in answer["messages"]])
            assert answer["has_more"] == ("response_metadata" in answer)
            if not answer["has_more"]:
                return pages
            args["cursor"] = answer["response_metadata"]["next_cursor"]


moments = st.none() | st.integers(-2, 14)


@given(st.integers(0, 12), moments, moments, st.booleans(), st.integers(1, 6))
def test_history_pages_together_are_the_requested_messages(
    count: int, oldest: int | None, latest: int | None, inclusive: bool, limit: int
) -> None:
    args: dict[str, Any] = {"inclusive": inclusive, "limit": limit}
    if oldest is not None:
        args["oldest"] = ts_of(START + oldest * 100)
    if latest is not None:
        args["latest"] = ts_of(START + latest * 100)

    pages = Reader(count).all_pages(**args)

    low = 0 if oldest is None else oldest + (not inclusive)
    high = count - 1 if latest is None else latest - (not inclusive)
    expected = [number for number in range(count) if low <= number <= high]
    assert sorted(number for page in pages for number in page) == expected
    assert all(page == sorted(page, reverse=True) and len(page) <= limit for page in pages)

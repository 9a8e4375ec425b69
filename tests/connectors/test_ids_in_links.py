"""Pasted links and mentions -> the ids of the platforms' APIs."""

from __future__ import annotations

import pytest

from bridge.ports.message_links import WritesIdsOtherwise
from bridge.runtime.discovery import connector_type


@pytest.mark.parametrize(
    ("platform", "word", "ids"),
    [
        ("slack", "p1700000000000100", ["1700000000.000100"]),
        ("slack", "1700000000000100", ["1700000000.000100"]),
        ("slack", "1700000000.000100", []),
        ("discord", "1323802873036800042-1323802873036800099",
         ["1323802873036800042", "1323802873036800099"]),
        ("discord", "1323802873036800042", []),
    ],
)  # fmt: skip
def test_ids_in_links_are_parsed(platform: str, word: str, ids: list[str]) -> None:
    kind = connector_type(platform)

    assert isinstance(kind, WritesIdsOtherwise)
    assert list(kind.ids_in(word)) == ids

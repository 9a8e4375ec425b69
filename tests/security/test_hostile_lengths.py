"""What is long, deep or repeated takes time in proportion, and ends in pieces that fit."""

from __future__ import annotations

import time

import pytest

from bridge.content.markdown import text_to_markdown
from tests.security.test_injection import FROM, TO, delivery

SIZE = 6_000
LIMITS = {"slack": 4000, "discord": 2000, "teams": 80_000}
REPEATED = (
    "*", "*a ", "_a_", "[", "[a](", "> ", ">", "||", "||a", "`", "`a``", "```\n", "- ", "<", "<at>",
    "<div>", "<@", "&lt;", "https://a.b/(", ")", ":a:", "~~a", "\\", "\n", "a\n", "\u200b", "#",
    "<t:1:R>", "<@123456789012345678> ", "[@a](uacs:actor/x) ", "[a]: b\n", "*_~`|[<&", "1. ",
    "|a", "<!--", "<![CDATA[", "<a href='", "\U0001f468\u200d", "\u202e",
)  # fmt: skip


@pytest.mark.parametrize("unit", REPEATED, ids=range(len(REPEATED)))
def test_nothing_takes_long_and_every_piece_fits(unit: str) -> None:
    text = (unit * SIZE)[:SIZE]
    for source, read in FROM.items():
        began = time.process_time()
        markdown = text_to_markdown(read(text))
        assert time.process_time() - began < 1.5, source
        for destination, (encode, check) in TO.items():
            began = time.process_time()
            calls = encode(delivery(destination, markdown)).calls
            assert time.process_time() - began < 1.5, (source, destination)
            for call in calls:
                body = str(call.body.get("text", call.body.get("content")))
                assert len(body) <= LIMITS[destination]
                check(call, "Ann", replies=False)

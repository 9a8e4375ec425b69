"""docs/one-message.md shows what really happens to a message."""

from __future__ import annotations

import pytest

from tests.app.one_message import PAGE, explained

pytestmark = pytest.mark.process


async def test_the_page_is_what_explain_prints_of_a_real_message() -> None:
    page = await explained()

    assert PAGE.read_text() == page, "write it anew: python -m tests.app.one_message"

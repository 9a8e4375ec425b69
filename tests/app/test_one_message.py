"""docs/one-message.md is the real output for a message."""

from __future__ import annotations

from types import FrameType

import pytest

from tests.app.one_message import PAGE, explained
from tests.router.ways import SEND, Way, enters

pytestmark = pytest.mark.process


def is_request(frame: FrameType) -> bool:
    """Whether the HTTP client begins a request."""
    code = frame.f_code
    return code.co_name == "_request" and code.co_filename.endswith("aiohttp/client.py")


async def test_the_page_is_what_explain_prints_of_a_real_message() -> None:
    begins = enters("bridge/router/outbound/lane.py", "run")
    way = Way(("Lanes._run",), begins, is_request, "lane discord:")

    page = await explained(way)

    assert PAGE.read_text() == page, "write it anew: python -m tests.app.one_message"
    assert way.is_over
    assert way.steps == [file for file, _ in SEND[1] if file != "outbound/references.py"]
    assert (way.returns, way.backwards) == ([], set())
    assert len(way.steps) + len(way.connector) <= 10, way.connector

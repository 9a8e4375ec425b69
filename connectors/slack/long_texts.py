"""Long texts are read in one go: nobody looks for garbage meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_LONG = 100_000  # characters


@contextmanager
def in_one_go(text: str) -> Generator[None, None, None]:
    """Reading makes a node for every few characters, and all of them live on: to look for cycles
    among them again and again takes longer than to make them."""
    pauses = len(text) > _LONG and gc.isenabled()
    if pauses:
        gc.disable()
    try:
        yield
    finally:
        if pauses:
            gc.enable()

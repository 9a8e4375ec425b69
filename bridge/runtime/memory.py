"""Keeps the garbage collector from stopping the event loop: a full collection of the objects of
SDKs, models and ten thousand rooms takes more than 0.5 s (CPython 3.11)."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


def settle_memory() -> None:
    """Exclude all objects of the start from garbage collections. For a process that runs one
    bridge."""
    gc.collect()
    gc.freeze()


def settle_more() -> None:
    """Exclude what came since, as after a reload; takes no time, and does not collect first."""
    gc.freeze()


@contextmanager
def uncollected() -> Generator[None]:
    """Run without garbage collections: what makes some 100,000 objects, nearly all of which stay
    or are freed by reference counting, would be interrupted by many full ones."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

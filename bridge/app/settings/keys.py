"""The key that seals secrets in the store: from the environment, else from a file beside it."""

from __future__ import annotations

import os
from pathlib import Path

from bridge.store.seal import load_or_make_key, text_to_key

KEY_VARIABLE = "UACS_BRIDGE_KEY"


def key_for(store: Path) -> bytes:
    """The key that seals secrets in this store; makes the key file if there is no key yet."""
    if text := os.environ.get(KEY_VARIABLE):
        return text_to_key(text)
    return load_or_make_key(store.with_suffix(".key"))


def known_key(store: Path) -> bytes | None:
    """The key if there is one, else None. Makes nothing: for commands that only read."""
    if os.environ.get(KEY_VARIABLE) or store.with_suffix(".key").exists():
        return key_for(store)
    return None

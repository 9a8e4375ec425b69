"""How the optional parts of the bridge are installed, in one place for every message about them."""

from __future__ import annotations

import importlib.util


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def how_to_install(extra: str) -> str:
    """What to do about an extra that is missing: the bridge is installed from its source."""
    return f"run `pip install '.[{extra}]'` in the folder of the bridge's source"

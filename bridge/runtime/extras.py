"""How to install the optional parts of the bridge; every message about a missing one uses this
text."""

from __future__ import annotations

import importlib.util


def has_module(name: str) -> bool:
    """Tell whether a module can be imported, without importing it."""
    return importlib.util.find_spec(name) is not None


def how_to_install(extra: str) -> str:
    """Return the advice for a missing extra; the bridge is installed from its source."""
    return f"run `pip install '.[{extra}]'` in the folder of the bridge's source"

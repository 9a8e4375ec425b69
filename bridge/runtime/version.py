"""The version of the bridge."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def bridge_version() -> str:
    """Return the version of the installed bridge; "" where it is not installed."""
    try:
        return version("uacs-bridge")
    except PackageNotFoundError:
        return ""

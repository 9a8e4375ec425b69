"""Checks that the packages `bridge` and `connectors` were installed together."""

from __future__ import annotations

from pathlib import Path

import bridge
import connectors
from bridge.errors import ConfigError


def place_of_code() -> Path:
    """The folder that holds `bridge`."""
    return Path(bridge.__file__ or "").resolve().parent.parent


def check_one_place(theirs: Path | None = None) -> None:
    """Raises ConfigError unless `bridge` and `connectors` come from the same folder.

    Otherwise they may be of different versions or authors. `theirs` is for tests.
    """
    ours = place_of_code()
    theirs = theirs or Path(connectors.__file__ or "").resolve().parent.parent
    if ours != theirs:
        raise ConfigError(
            f"The packages `bridge` (in {str(ours)!r}) and `connectors` (in {str(theirs)!r}) do "
            "not come from the same place; start in another folder, or install uacs-bridge alone "
            "into a fresh virtual environment"
        )

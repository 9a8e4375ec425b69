"""The platforms whose messages the laws judge: those that the installed connectors have twins of.

What the laws must know of a platform is a module of its connector's tests,
`tests/connectors/<platform>/<platform>_<part>.py`, or one of this folder: `seen` (`see`, what a
message shows), `examples` (`EXAMPLES`), `rules` (`faults`, what the platform refuses).
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from bridge.sandbox.installed import local_platform_types

LABELS = {name: local.label for name, local in local_platform_types().items()}
PLATFORMS = tuple(LABELS)


def part_of(platform: str, part: str) -> ModuleType | None:
    """A module about the platform; None where there is none."""
    for folder in (f"tests.connectors.{platform}", "tests.corpus"):
        name = f"{folder}.{platform}_{part}"
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name)
    return None

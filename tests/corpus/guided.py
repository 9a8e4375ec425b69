"""The fuzzer's choices made by coverage: atheris watches which code each message reaches.

atheris is no dependency of the project: `pip install atheris` where it is wanted.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from typing import Any

from tests.corpus.edits import Bytes
from tests.corpus.fuzz import Tally, case_by, report, try_one


def run(cases: int, source: str | None, target: str | None) -> int:
    """Until the cases are counted, or one crashes or hangs."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        print("atheris is not installed: pip install atheris")
        return 2
    tally = Tally()

    def try_input(data: bytes) -> None:
        try_one(tally, *case_by(Bytes(data), data.hex(), source, target))
        if tally.crashes or tally.hangs:
            raise RuntimeError(report(tally, tally.seconds))

    folder = tempfile.mkdtemp(prefix="corpus-fuzz-")
    atheris.instrument_all()
    options = (f"-runs={cases}", "-max_len=128", f"-artifact_prefix={folder}/")
    atheris.Setup([sys.argv[0], *options], try_input)
    atheris.Fuzz()
    return 0

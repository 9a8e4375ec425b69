"""A bridge in a process of its own, to be killed: `python -m tests.e2e.bridge_process CONFIG`.

As `uacs-bridge run`, and it ends when whoever started it is gone. Logs go to standard output.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

from bridge.app.run import run
from bridge.app.settings.file import read_settings


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    asyncio.run(run(read_settings(Path(sys.argv[1]))))


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(3)


if __name__ == "__main__":
    main()

"""`python -m bridge` is the command `uacs-bridge`."""

from __future__ import annotations

from bridge.app.cli import main

if __name__ == "__main__":
    main(prog_name="uacs-bridge")

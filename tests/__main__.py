"""Every check of the project, one after the other: `python -m tests [pytest arguments]`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sys.executable).parent

CHECKS: dict[str, list[str]] = {
    "lint": [str(SCRIPTS / "ruff"), "check", "."],
    "format": [str(SCRIPTS / "ruff"), "format", "--check", "."],
    "layers": [str(SCRIPTS / "lint-imports")],
    "types": [str(SCRIPTS / "basedpyright"), "--pythonpath", sys.executable],
    "tests": [
        sys.executable, "-m", "pytest", "-n", "3", "--dist", "loadfile",
        "--no-loadscope-reorder",  # else the few long ones come last, one after the other
    ],
}  # fmt: skip
AGAIN = [sys.executable, "-m", "pytest", "--last-failed", "--last-failed-no-failures", "none"]


def main() -> int:
    """Run all checks, whatever the earlier ones say; 0 only when every one is green."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    failed: list[str] = []
    for name, command in CHECKS.items():
        print(f"── {name} ".ljust(80, "─"), flush=True)
        began = time.monotonic()
        extra = sys.argv[1:] if name == "tests" else []
        code = subprocess.run([*command, *extra], cwd=ROOT, env=environment, check=False).returncode
        if name == "tests" and code == 1:
            # Beside others a real process may be late. What fails alone, too, is broken; what does
            # not is named here all the same, and wants a test that waits for what it looks at.
            print("── what failed, once more and alone ".ljust(80, "─"), flush=True)
            code = subprocess.run(AGAIN, cwd=ROOT, env=environment, check=False).returncode
        took = time.monotonic() - began
        print(f"{name}: {'ok' if code == 0 else f'FAILED ({code})'} in {took:.0f} s", flush=True)
        if code:
            failed.append(name)
    print("all checks are green" if not failed else f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

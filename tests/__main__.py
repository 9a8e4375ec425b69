"""Every check of the project: `python -m tests [pytest arguments]`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sys.executable).parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}

CHECKS: dict[str, list[str]] = {
    "lint": [str(SCRIPTS / "ruff"), "check", "."],
    "format": [str(SCRIPTS / "ruff"), "format", "--check", "."],
    "layers": [str(SCRIPTS / "lint-imports")],
    "tests": [
        sys.executable, "-m", "pytest", "-n", "4", "--dist", "loadfile",
        "--no-loadscope-reorder",  # else the few long ones come last, one after the other
    ],
}  # fmt: skip
# The tests mostly wait: the types are checked meanwhile.
BESIDE = [str(SCRIPTS / "basedpyright"), "--pythonpath", sys.executable]
AGAIN = [sys.executable, "-m", "pytest", "--last-failed", "--last-failed-no-failures", "none"]


@dataclass(frozen=True)
class Ended:
    """A check: its exit code, its duration in seconds."""

    code: int
    seconds: float

    def __str__(self) -> str:
        return f"{'FAILED (' + str(self.code) + ')' if self.code else 'ok'} in {self.seconds:.0f} s"


def main() -> int:
    """Run all checks, whatever the earlier ones say; 0 only when every one is green."""
    ended: dict[str, Ended] = {}
    with ThreadPoolExecutor(1) as beside:
        types = beside.submit(_run, BESIDE, quiet=True)
        for name, command in CHECKS.items():
            _title(name)
            ended[name] = _tests(command) if name == "tests" else _run(command)
            print(f"{name}: {ended[name]}", flush=True)
        _title("types")
        ended["types"] = types.result()
        print(f"types: {ended['types']}", flush=True)
    failed = [name for name, one in ended.items() if one.code]
    print("all checks are green" if not failed else f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _tests(command: list[str]) -> Ended:
    """Beside others a real process may be late. What fails alone, too, is broken; what does not is
    named all the same, and wants a test that waits for what it looks at."""
    first = _run([*command, *sys.argv[1:]])
    if first.code != 1:
        return first
    _title("what failed, once more and alone")
    again = _run(AGAIN)
    return Ended(again.code, first.seconds + again.seconds)


def _run(command: list[str], *, quiet: bool = False) -> Ended:
    """`quiet`: what it says is told only if it failed, in one piece."""
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, check=False, text=True,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )  # fmt: skip
    if quiet and done.returncode:
        print(done.stdout, flush=True)
    return Ended(done.returncode, time.monotonic() - began)


def _title(text: str) -> None:
    print(f"── {text} ".ljust(80, "─"), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

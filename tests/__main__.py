"""Every check of the project: `python -m tests [--fast | --whole | --search ROUNDS] [pytest
arguments]`.

--fast    lint, layers, types and the tests that start no program and no browser and read no corpus,
          with a fifth of the examples and of large input: the inner loop of a developer
--whole   all examples and input of full size, of which every other run takes half; by hand
--search  the property tests alone, so many rounds, each with other random examples; by hand, for
          as long as one likes. Everywhere else property tests take the same examples every time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.examples import FAST as FAST_TESTS
from tests.examples import WHOLE as WHOLE_TESTS

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sys.executable).parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
# Compiled tests are kept: otherwise each of pytest's workers rewrites every assertion anew.
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)

LINTERS: dict[str, list[str]] = {
    "lint": [str(SCRIPTS / "ruff"), "check", "."],
    "format": [str(SCRIPTS / "ruff"), "format", "--check", "."],
    "layers": [str(SCRIPTS / "lint-imports")],
}
# The tests mostly wait: the types are checked meanwhile, on what the tests leave.
YIELDING = ["nice", "-n", "10"] if shutil.which("nice") else []
TYPES = [*YIELDING, str(SCRIPTS / "basedpyright"), "--pythonpath", sys.executable]
PYTEST = [
    sys.executable, "-m", "pytest", "-n", "4", "--dist", "loadfile",
    "--no-loadscope-reorder",  # else the few long ones come last, one after the other
]  # fmt: skip
# Fast tests wait little, and each worker takes some seconds to collect them.
FAST = ["-n", "3", "-m", "not long and not process and not browser and not corpus"]
SEARCHED = ["-m", "hypothesis and not long"]
SEARCH = "UACS_SEARCH"  # set: property tests take other examples in every round


@dataclass(frozen=True)
class Ended:
    """A check: its exit code, its duration in seconds."""

    code: int
    seconds: float

    def __str__(self) -> str:
        return f"{'FAILED (' + str(self.code) + ')' if self.code else 'ok'} in {self.seconds:.0f} s"


def main(arguments: Sequence[str]) -> int:
    """Run all checks, whatever the earlier ones say; 0 only when every one is green."""
    match [*arguments]:
        case ["--search", rounds, *rest] if rounds.isdigit():
            return _search(int(rounds), rest)
        case ["--search", *_]:
            print("say how many rounds: python -m tests --search 10", file=sys.stderr)
            return 2
        case ["--fast", *rest]:
            ENVIRONMENT.pop("UACS_CORPUS", None)
            ENVIRONMENT[FAST_TESTS] = "1"
            return _check([*PYTEST, *FAST, *rest])
        case ["--whole", *rest]:
            ENVIRONMENT[WHOLE_TESTS] = "1"
            return _check([*PYTEST, *rest])
        case rest:
            return _check([*PYTEST, *rest])


def _check(tests: list[str]) -> int:
    ended: dict[str, Ended] = {}
    with ThreadPoolExecutor(1) as beside:
        types = beside.submit(_run, TYPES, quiet=True)
        for name, command in (LINTERS | {"tests": tests}).items():
            _title(name)
            ended[name] = _run(command)
            print(f"{name}: {ended[name]}", flush=True)
        _title("types")
        ended["types"] = types.result()
        print(f"types: {ended['types']}", flush=True)
    failed = [name for name, result in ended.items() if result.code]
    print("all checks are green" if not failed else f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _search(rounds: int, rest: list[str]) -> int:
    """Each round has a seed of its own, which is told, so that a find can be played again."""
    failed: list[int] = []
    first = int(time.time())
    for seed in range(first, first + rounds):
        _title(f"examples of seed {seed}")
        seeded = [*PYTEST, *SEARCHED, f"--hypothesis-seed={seed}", *rest]
        if _run(seeded, more={SEARCH: "1", WHOLE_TESTS: "1"}).code:
            failed.append(seed)
    print(f"failed with seeds {failed}" if failed else f"{rounds} rounds found nothing")
    return 1 if failed else 0


def _run(command: list[str], *, quiet: bool = False, more: dict[str, str] | None = None) -> Ended:
    """`quiet`: the output is printed only if the check failed, in one piece."""
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT | (more or {}), check=False, text=True,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )  # fmt: skip
    if quiet and done.returncode:
        print(done.stdout, flush=True)
    return Ended(done.returncode, time.monotonic() - began)


def _title(text: str) -> None:
    print(f"── {text} ".ljust(80, "─"), flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

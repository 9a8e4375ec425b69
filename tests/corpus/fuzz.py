"""Broken payloads by the thousand: each gives a sound translation or one CodecError, in time.

`python -m tests.corpus fuzz --cases N [--seed S] [--first I] [--workers 2]`: case number I of seed
S is always the same message. `--guided` lets atheris choose the numbers by coverage.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import Pool
from types import FrameType
from typing import Any

from bridge.app.translation.translate import translate
from bridge.errors import CodecError
from tests.corpus import rules
from tests.corpus.edits import Dice, edited
from tests.corpus.examples import EXAMPLES
from tests.corpus.laws import PLATFORMS, TARGETS
from tests.corpus.payloads import Case, cases

LIMIT = 10.0  # seconds of CPU for one message; edits make some of 10 MB
_BATCH = 200
_LONGEST = 10_000  # characters of a corpus payload that is edited


class _TooLong(BaseException):
    """The time is over; no `except Exception` may stop it."""


@dataclass(slots=True)
class Tally:
    """What became of the cases; `findings` name each kind of failure with its first number."""

    cases: int = 0
    refused: int = 0
    crashes: int = 0
    hangs: int = 0
    unsendable: int = 0
    seconds: float = 0.0
    findings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, other: Tally) -> None:
        for name in ("cases", "refused", "crashes", "hangs", "unsendable", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for cause, numbers in other.findings.items():
            self.findings.setdefault(cause, []).extend(numbers)

    def found(self, cause: str, number: str) -> None:
        self.findings.setdefault(cause, []).append(number)


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if options.guided:
        from tests.corpus.guided import run

        return run(options.cases, options.source, options.target)
    began = time.monotonic()
    ends = options.first + options.cases
    jobs = [
        (options.seed, first, min(_BATCH, ends - first), options.source, options.target)
        for first in range(options.first, ends, _BATCH)
    ]
    whole = Tally()
    with Pool(options.workers) as pool:
        for number, batch in enumerate(pool.imap_unordered(_batch, jobs)):
            whole.add(batch)
            if time.monotonic() - began > 60 * options.minutes:
                pool.terminate()
                break
            if sys.stderr.isatty() or number % 50 == 49:
                print(f"{whole.cases} cases", file=sys.stderr, flush=True)
    print(report(whole, time.monotonic() - began))
    return 1 if whole.findings else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus fuzz")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e9, help="the longest that it may take")
    parser.add_argument("--from", dest="source", choices=PLATFORMS)
    parser.add_argument("--to", dest="target", choices=TARGETS)
    parser.add_argument("--guided", action="store_true", help="by coverage, with atheris")
    return parser.parse_args(arguments)


def report(whole: Tally, took: float) -> str:
    """The counts, and the causes with the numbers of their first cases."""
    lines = [
        f"{whole.cases} cases in {took:.0f} s ({whole.cases / max(took, 0.001):.0f}/s): "
        f"{whole.refused} refused with CodecError, {whole.crashes} crashes, {whole.hangs} hangs, "
        f"{whole.unsendable} messages that may not be sent"
    ]
    for cause, numbers in sorted(whole.findings.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(numbers):6}  {cause}  e.g. {', '.join(sorted(numbers)[:3])}")
    return "\n".join(lines)


def _batch(job: tuple[str, int, int, str | None, str | None]) -> Tally:
    seed, first, count, source, target = job
    tally = Tally()
    for number in range(first, first + count):
        try_one(tally, *case_of(f"{seed}:{number}", source, target))
    return tally


def case_of(number: str, source: str | None = None, target: str | None = None) -> tuple[Case, str]:
    """The message of this number, and where it goes."""
    return case_by(random.Random(number), number, source, target)


def case_by(
    dice: Dice, name: str, source: str | None = None, target: str | None = None
) -> tuple[Case, str]:
    """The message that the dice choose, and where it goes."""
    platform: str = dice.choice(PLATFORMS) if source is None else source
    to: str = dice.choice(TARGETS) if target is None else target
    return Case(platform, name, edited(dice, seeds(platform))), to


@cache
def seeds(platform: str) -> tuple[Any, ...]:
    """Our own examples, and what the corpus has, if it is there; not what is huge already."""
    real = [case.payload for case in cases(platform)]
    return (
        *EXAMPLES[platform].values(),
        *(payload for payload in real if len(str(payload)) < _LONGEST),
    )


def try_one(tally: Tally, case: Case, target: str) -> None:
    """Translate one broken message and count what became of it."""
    number = case.name
    way = f"{case.platform} -> {target}"
    tally.cases += 1
    began = time.perf_counter()
    try:
        with _in_time():
            done = translate(case.payload, source=case.platform, target=target, through_tree=True)
    except CodecError:
        tally.refused += 1
        return
    except _TooLong:
        tally.hangs += 1
        tally.found(f"{way}: more than {LIMIT:.0f} s", number)
        return
    except Exception as error:  # noqa: BLE001  # a crash is what is looked for
        tally.crashes += 1
        tally.found(f"{way}: {_cause(error)}", number)
        return
    finally:
        tally.seconds += time.perf_counter() - began
    for what in _unsendable(target, done.messages, case):
        tally.unsendable += 1
        tally.found(f"{way}: {what}", number)


def _unsendable(target: str, messages: Sequence[Any], case: Case) -> Iterator[str]:
    try:
        wrong = [what for message in messages for what in rules.broken(target, message)]
        wrong += rules.unsafe(target, messages, case)
    except Exception as error:  # noqa: BLE001  # rules written for sound messages
        yield f"rules fail: {_cause(error)}"
        return
    yield from Counter(rules.cause(what) for what in wrong)


def _cause(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame
        for frame in frames
        if "/connectors/" in frame.filename or "/bridge/" in frame.filename
    ]
    last = (ours or list(frames))[-1]
    place = "/".join(last.filename.rsplit("/", 3)[-3:])
    return f"{type(error).__name__} in {place}:{last.name}: {rules.cause(str(error))}"


@contextmanager
def _in_time() -> Generator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)  # CPU time: others may keep the machine busy
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)

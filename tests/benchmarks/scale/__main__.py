"""Prints the tables of docs/scale.md: `python -m tests.benchmarks.scale [--seed NUMBER]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tests.benchmarks.scale.needs import CHEAP, DEAR, EXPECTED, Needs, needs
from tests.benchmarks.scale.runs import FAULTY, PER_ACCOUNT, RUNS, Result, Run, simulate

VOLUMES = (1e7, 1e8, 1e9)


def main() -> None:
    """Simulate everything; takes two minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed: int = parser.parse_args().seed
    print(_row("messages a day", "deployment", "CPU", "database", "median", "p95", "p99",
               "p99 of quiet channels", "backlog", "breaks first"))  # fmt: skip
    print(_row(*["---"] * 10))
    for run in RUNS:
        print(_run_row(run, simulate(run, seed)), flush=True)
    print()
    print(_row("fault", "p95", "p99", "p99 of quiet channels", "most waiting", "lost",
               "out of order"))  # fmt: skip
    print(_row(*["---"] * 7))
    for run in FAULTY:
        print(_fault_row(run, simulate(run, seed)), flush=True)
    print()
    _print_needs([needs(volume, round(volume / PER_ACCOUNT)) for volume in VOLUMES])
    print()
    _print_needs([needs(1e9, 100_000, assumed) for assumed in (CHEAP, EXPECTED, DEAR)])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _run_row(run: Run, result: Result) -> str:
    return _row(
        f"{run.volume:.0e}", run.deployment.name, f"{result.cpu:.0%}", f"{result.database:.0%}",
        _seconds(result.median), _seconds(result.p95), _seconds(result.p99),
        _seconds(result.quiet_p99), f"{result.backlog / result.messages:.1%}", result.first(),
    )  # fmt: skip


def _fault_row(run: Run, result: Result) -> str:
    return _row(
        run.title, _seconds(result.p95), _seconds(result.p99), _seconds(result.quiet_p99),
        f"{result.most:,}", str(result.lost), str(result.out_of_order),
    )  # fmt: skip


def _print_needs(columns: Sequence[Needs]) -> None:
    lines = {
        "messages a day": [f"{own.volume:.0e}" for own in columns],
        "accounts": [f"{own.accounts:,}" for own in columns],
        "messages/s at the peak": [f"{own.peak:,.0f}" for own in columns],
        "cells": [str(own.cells) for own in columns],
        "processes": [str(own.processes) for own in columns],
        "accounts per process": [f"{own.accounts_per_process:.0f}" for own in columns],
        "memory of the processes": [_bytes(own.memory) for own in columns],
        "hours of a core a day": [f"{own.cpu_hours:,.0f}" for own in columns],
        "rows a day and cell": [f"{own.rows:.1e}" for own in columns],
        "database of a cell, 30 days": [_bytes(own.database) for own in columns],
        "archived messages a day": [_bytes(own.archived) for own in columns],
        "files a day": [f"{own.files:.0e}" for own in columns],
        "bytes of files a day": [_bytes(own.file_bytes) for own in columns],
        "PUT / GET a day": [f"{own.files:.0e} / {own.gets:.0e}" for own in columns],
    }
    for number, (name, values) in enumerate(lines.items()):
        print(_row(name, *values))
        if number == 0:
            print(_row(*["---"] * (len(values) + 1)))


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _bytes(size: float) -> str:
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} B"


if __name__ == "__main__":
    main()

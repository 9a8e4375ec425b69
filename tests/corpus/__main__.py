"""All laws over the corpus, with every failure grouped by its cause.

`python -m tests.corpus [--from slack] [--to teams] [--law 3] [--case NAME] [--examples N]`;
`python -m tests.corpus fidelity` writes docs/fidelity.md; `fuzz` tries broken payloads.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from multiprocessing import Pool

from tests.corpus.bars import below
from tests.corpus.laws import TARGETS, Fault, Verdict, home_faults, judge, stable_faults
from tests.corpus.payloads import Case, cases, corpus
from tests.corpus.tally import sums, table


def main(arguments: Sequence[str]) -> int:
    if corpus() is None:
        print("UACS_CORPUS names no folder of payloads")
        return 2
    if arguments[:1] == ["fidelity"]:
        from tests.corpus.fidelity import write_page

        return write_page()
    if arguments[:1] == ["fuzz"]:
        from tests.corpus.fuzz import main as fuzz

        return fuzz(arguments[1:])
    return _laws(_options(arguments))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus")
    parser.add_argument("--from", dest="source", help="one platform only")
    parser.add_argument("--to", dest="target", help="one target only")
    parser.add_argument("--law", default="", help="faults whose law begins so")
    parser.add_argument("--case", default="", help="messages whose name has this in it")
    parser.add_argument("--examples", type=int, default=3, help="of each cause")
    parser.add_argument("--cause", default="", help="causes with this in them")
    return parser.parse_args(arguments)


def _laws(options: argparse.Namespace) -> int:
    chosen = [case for case in cases(options.source) if options.case in case.name]
    targets: list[str] = [options.target] if options.target else list(TARGETS)
    verdicts: list[Verdict] = []
    faults: list[Fault] = []
    with Pool(2) as pool:
        jobs = [(case, targets) for case in chosen]
        for some, more in pool.imap(_verdicts_of, jobs, chunksize=16):
            verdicts += some
            faults += more
    faults += [fault for verdict in verdicts for fault in verdict.faults]
    displayed = [
        fault
        for fault in faults
        if fault.law.startswith(options.law) and options.cause in fault.cause
    ]
    for line in _grouped(displayed, options.examples):
        print(line)
    print(table(verdicts))
    for way, total in sorted(sums(verdicts).items()):
        print("\n".join(below(way, total)) or f"{' -> '.join(way)} clears all bars")
    return 1 if displayed else 0


def _verdicts_of(job: tuple[Case, list[str]]) -> tuple[list[Verdict], list[Fault]]:
    case, targets = job
    more = list(home_faults(case))
    more += [fault for target in targets for fault in stable_faults(case, target)]
    return [judge(case, target) for target in targets], more


def _grouped(faults: Sequence[Fault], examples: int) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in faults:
        groups[fault.law, fault.cause].append(fault)
    law = ""
    for (name, cause), faults_of in sorted(
        groups.items(), key=lambda group: (group[0][0], -len(group[1]))
    ):
        if name != law:
            law = name
            yield f"\n== {law}: {sum(len(f) for (n, _), f in groups.items() if n == name)}"
        files = len({fault.case for fault in faults_of})
        yield f"{len(faults_of):5} in {files} files  {cause}"
        for fault in faults_of[:examples]:
            yield f"          {fault.case}: {fault.what}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes docs/fidelity.md: how each element is converted between platforms, as measured.

`python -m tests.corpus fidelity` runs the whole corpus and writes the page anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path

from bridge.model import Loss
from tests.corpus.examples import EXAMPLES
from tests.corpus.laws import PLATFORMS, TARGETS, Verdict, judge, owner_of
from tests.corpus.payloads import Case, cases
from tests.corpus.platforms import LABELS
from tests.corpus.tally import Sums, sums

PAGE = Path(__file__).parents[2] / "docs" / "fidelity.md"

_INTRO = """# Fidelity

This page shows how rich content is converted between platforms. `python -m tests.corpus fidelity` writes it: it translates every message of a corpus of real payloads (public repositories and documentation) and counts the results; the examples are our own, and are counted for a platform without payloads in the corpus (IRC). An element is *kept* if nothing of it was lost, *degraded* if something was lost and a substitute represents it, *dropped* if there is no substitute. A `Loss` names every degraded or dropped element, with its text; `uacs-bridge translate --report` shows the losses of your own message. A message that returns to its own platform stays unchanged; UACS keeps every native payload unchanged.

## In numbers

- **words**: the share of visible words that the output contains; a Loss names the others.
- **in order**: the share of visible words that keep the source's order.
- **usable**: the share of buttons, links, menus and inputs that people can use on the target.
- **full nodes with a loss**: the share of nodes with a loss, among those that the target claims to show in full.
- **nodes again**: the share of the card's nodes that are present again, in order, after the card was written for its own platform and read back.
"""  # noqa: E501


def write_page() -> int:
    with Pool(2) as pool:
        jobs = [(case, target) for case in cases() for target in TARGETS if target != "card"]
        verdicts = pool.starmap(judge, jobs, chunksize=32)
    PAGE.write_text(page(verdicts), "utf-8")
    return 0


def page(verdicts: Sequence[Verdict]) -> str:
    """The whole page."""
    lines = [_INTRO, *_numbers(verdicts)]
    ways = [(a, b) for a in PLATFORMS for b in PLATFORMS if a != b]
    for source, target in ways:
        some = [
            verdict
            for verdict in verdicts
            if (verdict.case.platform, verdict.target) == (source, target)
        ]
        lines += [f"\n## {_NAMES[source]} to {_NAMES[target]}\n", *_elements(source, target, some)]
    return "\n".join([*lines, ""])


_NAMES = {**LABELS, "uacs": "UACS"}


def _numbers(verdicts: Iterable[Verdict]) -> Iterator[str]:
    heads = ("from", "to", "messages", "words", "in order", "usable", "full nodes with a loss")
    yield f"| {' | '.join(heads)} | nodes again |"
    yield "|---|---|---|---|---|---|---|---|"
    for (source, target), total in sorted(sums(verdicts).items()):
        home = f"{total.share('nodes_kept', 'nodes'):.1%}" if source == target else ""
        yield (
            f"| {_NAMES[source]} | {_NAMES[target]}{' (through the tree)' if home else ''} "
            f"| {total.messages - total.refused} | {total.share('kept', 'words'):.2%} "
            f"| {total.share('in_order', 'ordered'):.2%} | {_usable(total)} "
            f"| {_lossy(total)} | {home} |"
        )


def _usable(total: Sums) -> str:
    return f"{total.share('usable', 'acts'):.1%} of {total.acts}" if total.acts else ""


def _lossy(total: Sums) -> str:
    return f"{total.share('full_lost', 'full'):.1%} of {total.full}" if total.full else ""


# --- elements -------------------------------------------------------------------------------


def _elements(source: str, target: str, verdicts: Sequence[Verdict]) -> Iterator[str]:
    counts, kinds = _element_counts(verdicts)
    yield "| element | seen | kept | degraded | dropped | losses |"
    yield "|---|---|---|---|---|---|"
    for kind in sorted(counts):
        fates = counts[kind]
        total = fates.total()
        shares = " | ".join(_share(fates[how], total) for how in ("kept", "degraded", "dropped"))
        names = ", ".join(f"`{name}`" for name, _ in kinds[kind].most_common(3))
        yield f"| `{kind}` | {total} | {shares} | {names} |"
    yield from _examples(source, target)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if part else ""


def _element_counts(
    verdicts: Iterable[Verdict],
) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """For each kind of element how many were kept, degraded, dropped, and by which losses."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        lost: dict[str, list[Loss]] = defaultdict(list)
        for loss in verdict.losses:
            lost[owner_of(verdict.elements, loss.path).at].append(loss)
        for element in verdict.elements:
            losses = lost.get(element.at, [])
            kinds[element.kind].update(loss.kind for loss in losses)
            counts[element.kind][_fate(losses)] += 1
    return counts, kinds


def _fate(losses: Sequence[Loss]) -> str:
    if not losses:
        return "kept"
    return "degraded" if all(loss.shown_as for loss in losses) else "dropped"


def _examples(source: str, target: str) -> Iterator[str]:
    """What our own small examples lose on this way."""
    yield "\nLosses of our examples in this direction:\n"
    yield "| example | kind | lost | shown as |"
    yield "|---|---|---|---|"
    for name, payload in EXAMPLES[source].items():
        for loss in judge(Case(source, name, payload), target).losses:
            cells = (loss.kind, _cell(loss.what), _cell(loss.shown_as))
            yield f"| `{name}` | {' | '.join(cells)} |"


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= 80 else f"{line[:79]}…"

"""What it costs to look at an agent's words for secrets: with the quick look before, and without.

`python -m tests.benchmarks.secrets`: both in one run, in turns, on words as a model says them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from bridge.app import redaction
from bridge.app.redaction import HIDDEN, hide_secrets

_WORDS = (
    "The bot reads [page 7](https://docs.example.com/pages/intro?x=1&y=2) and says that **this** "
    "is `that`, which is basic: 3.14 is no version of v1.2.3.\n\n- one\n- two\n\n"
)
_ROUNDS, _CALLS = 15, 400


def _whole(text: str) -> str:
    return redaction._shapes().secrets.sub(HIDDEN, text)  # pyright: ignore[reportPrivateUsage]


def _microseconds(look: Callable[[str], str], text: str) -> float:
    began = time.process_time()
    for _ in range(_CALLS):
        look(text)
    return 1e6 * (time.process_time() - began) / _CALLS


def main() -> None:
    for length in (200, 400, 800):
        text = (_WORDS * (length // len(_WORDS) + 1))[:length]
        times = [
            (_microseconds(_whole, text), _microseconds(hide_secrets, text)) for _ in range(_ROUNDS)
        ]
        whole, quick = (statistics.median(time) for time in zip(*times, strict=True))
        ratios = sorted(ours / other for ours, other in times)
        print(
            f"{length} characters: whole {whole:.1f} us, with the quick look {quick:.1f} us, "
            f"{statistics.median(ratios):.0f} times ({ratios[0]:.0f}-{ratios[-1]:.0f})"
        )


if __name__ == "__main__":
    main()

"""CPU of formatted text: 2 KB of each dialect to and from Markdown, against chat-sdk.

`python -m tests.benchmarks --only cards dialects`, with an interpreter as `cards` wants it; where
chat-sdk is missing the ratios are left out. Both sides parse to a tree and write from a tree: a
conversion is both; `read` and `write` are its parts. Bar: 4 times chat-sdk's rate.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.model import ChannelRef
from connectors.discord.text import Names, discord_to_text, text_to_discord
from connectors.slack.text import mrkdwn_to_text, text_to_mrkdwn
from connectors.teams.text import html_to_text, teams_to_text, text_to_html, text_to_teams
from tests.benchmarks.turns import Work, compared, in_turns

PAIRS = 31
BAR = 4.0  # times chat-sdk's rate

_REPEATS = 10
_NAMES = Names(ChannelRef(platform="discord", workspace="1", channel="2"))

# All that both sides know: headings, styles, links, code, lists, boxes, a quote, a table, a rule.
SAMPLE = """\
# Release 4.2.1

The build of **main** passed *all* checks and waits for approval. Read \
[the notes](https://example.com/releases/4.2.1) first, and then look at `deploy.yml` once more: \
the timeouts have changed.

## What is new

- Faster start: the cache is now kept between **two** runs
- The `--dry-run` flag says what *would* be done
  - for every region
  - and for every ~~old~~ new service
- Logs at https://example.com/builds/1204/log are kept for 30 days

1. Check the dashboard
2. Press **Approve**
3. Wait for the message in the channel

> The last deployment took three minutes and twelve seconds.
> Nobody noticed anything, which is how it should be.

```python
def deploy(region: str, *, dry_run: bool = False) -> int:
    for service in services(region):
        print(f"deploying {service.name} to {region}")
        if not dry_run:
            service.deploy()
    return len(services(region))
```

| Service | Version | Duration |
| --- | --- | --- |
| billing-api | 4.2.1 | 3 min 12 s |
| shop | 1.18.0 | 58 s |
| search | 2.0.4 | 1 min 40 s |

### Open questions

- [x] Who watches the dashboard on Friday?
- [ ] Do we **still** need the old [runbook](https://example.com/runbook)?

The numbers of last week are below those of the week before, but that was expected: two teams \
were away, and the *new* billing-api has only been switched on for a tenth of all customers. If \
the numbers stay as they are until Thursday, we go on with the second tenth; if not, we look at \
the traces together and decide then what to do.

Everybody who has been on call in the last month should read the chapter on ***silent failures*** \
in the handbook: it explains in detail how the three cases of last month came to pass, why the \
alarms stayed silent, and what we have changed since then. Questions go to Alice or Bob, or into \
the thread below this message.

---

See you on Thursday, and thank you all for a **very** calm week.
"""


@dataclass(frozen=True)
class Dialect:
    """A way to write formatted text, and the ways between it and somebody's tree."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True)
class Way:
    """A direction: the work that is done to a text or tree, and what it is done to."""

    name: str
    work: Callable[[Any], object]
    of: Any


MARKDOWN = Dialect("UACS Markdown", markdown_to_text, text_to_markdown)
DIALECTS = (
    Dialect("Slack mrkdwn", partial(mrkdwn_to_text, team="T1"), text_to_mrkdwn),
    Dialect("Discord markdown", partial(discord_to_text, names=_NAMES), text_to_discord),
    Dialect("Teams Markdown", teams_to_text, text_to_teams),
    Dialect("Teams HTML", lambda html: html_to_text(html).document, text_to_html),
)


def measure(pairs: int = PAIRS) -> list[dict[str, Any]]:
    """A row per dialect and direction: medians in microseconds of CPU, the ratio, its spread."""
    theirs = _chat_sdk()
    rows: list[dict[str, Any]] = []
    for dialect in (MARKDOWN, *DIALECTS):
        native = dialect.write(markdown_to_text(SAMPLE))
        ours = _ways(dialect, MARKDOWN, native)
        others = _ways(theirs[dialect.name], theirs[MARKDOWN.name], native) if theirs else ours
        rows += [
            _row(dialect, way, other if theirs else None, pairs)
            for way, other in zip(ours, others, strict=True)
        ]
    return rows


def _ways(dialect: Dialect, markdown: Dialect, native: str) -> list[Way]:
    tree = markdown.read(SAMPLE)
    parts = [Way("read", dialect.read, native), Way("write", dialect.write, tree)]
    if dialect is markdown:
        return parts
    return [
        Way("from Markdown", lambda text: dialect.write(markdown.read(text)), SAMPLE),
        Way("to Markdown", lambda text: markdown.write(dialect.read(text)), native),
        *parts,
    ]


def _row(dialect: Dialect, way: Way, other: Way | None, pairs: int) -> dict[str, Any]:
    works = [_fresh(variant) for variant in (way, other) if variant]
    times = in_turns(works, pairs, _REPEATS)
    row = {
        "dialect": dialect.name,
        "direction": way.name,
        "pairs": pairs,
        "us": round(statistics.median(times[0]), 1),
    }
    return row | (compared(times[0], times[1], BAR) if other else {})


def _fresh(way: Way) -> Work:
    """A text is another each time: nothing that was kept of the last one helps."""
    if not isinstance(way.of, str):
        return partial(way.work, way.of)
    numbers = count()
    return lambda: way.work(f"{way.of}\n\nNumber {next(numbers)}")


# --- chat-sdk -------------------------------------------------------------------------------


def _chat_sdk() -> dict[str, Dialect]:
    """chat-sdk's readers and writers by the names of our dialects; none where it is missing."""
    try:
        shared: Any = import_module("chat_sdk.shared.markdown_parser")
        slack, discord, teams = map(_converter, ("Slack", "Discord", "Teams"))
    except ImportError:
        return {}
    pairs = {
        "UACS Markdown": (shared.parse_markdown, shared.stringify_markdown),
        # Its `from_ast` gives Markdown; mrkdwn is what it writes to a `response_url`.
        "Slack mrkdwn": (slack.to_ast, lambda tree: slack.to_response_url_text({"ast": tree})),
        "Discord markdown": (discord.to_ast, discord.from_ast),
        # It reads HTML and Markdown of Teams alike, and writes only Markdown.
        "Teams Markdown": (teams.to_ast, teams.from_ast),
        "Teams HTML": (teams.to_ast, teams.from_ast),
    }
    return {name: Dialect(name, *ways) for name, ways in pairs.items()}


def _converter(platform: str) -> Any:
    module = import_module(f"chat_sdk.adapters.{platform.lower()}.format_converter")
    return getattr(module, f"{platform}FormatConverter")()


# --- for people -----------------------------------------------------------------------------


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people."""
    head = "dialect          direction            us  chat-sdk us  ratio (min-max)    bar"
    return "\n".join([head, *map(_line, rows)])


def _line(row: dict[str, Any]) -> str:
    spread = f"({row['ratio_min']}-{row['ratio_max']})" if "ratio" in row else "no chat-sdk here"
    return (
        f"{row['dialect']:<16} {row['direction']:<13} {row['us']:>9} "
        f"{row.get('chat_sdk_us', '-'):>12} {row.get('ratio', '-'):>6} {spread:<11} >= {BAR:g}"
    )


if __name__ == "__main__":
    print(table(measure()))

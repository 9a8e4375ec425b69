"""`python -m tests.pictures OUT [PLATFORM=FILE ...]`: cards and their translations as pictures.

Without files: cards of our own, and with UACS_CORPUS a spread of real ones. Needs Chromium. The
demo's renderers draw them. Look at the pictures; keep none that shows third parties' payloads.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.app.demo import showing
from tests.pictures.cards import CARDS
from tests.pictures.drawing import draw, drawing_page

FOLDERS = {
    "slack": ("slack/blocks",),
    "discord": ("discord/messages",),
    "teams": ("adaptive", "teams/cards"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", nargs="*", help="PLATFORM=FILE, e.g. slack=card.json")
    parser.add_argument("--each", type=int, default=12, help="real cards of each folder")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with showing.browser() as browser:
        page = drawing_page(browser)
        for name, source, payload in cards(options.files, options.each):
            draw(page, source, payload)
            page.screenshot(path=str(options.out / f"{name}.png"), full_page=True)
            print(options.out / f"{name}.png")


def cards(files: list[str], per_page: int) -> Iterator[tuple[str, str, Any]]:
    """Name, platform and payload of each card to be shown."""
    for file in files:
        source, _, path = file.partition("=")
        yield Path(path).stem, source, json.loads(Path(path).read_text())
    if files:
        return
    yield from ((name, "card", card) for name, card in CARDS.items())
    if corpus := os.environ.get("UACS_CORPUS"):
        for source, folders in FOLDERS.items():
            for folder in folders:
                yield from spread(Path(corpus) / folder, source, per_page)


def spread(folder: Path, source: str, count: int) -> Iterator[tuple[str, str, Any]]:
    """Files of every size, the larger ones first: they have most in them."""
    files = sorted(folder.glob("*.json"), key=lambda path: -path.stat().st_size)
    for path in files[:: max(1, len(files) // count)][:count]:
        yield f"{source}-{path.stem}", source, json.loads(path.read_bytes())


if __name__ == "__main__":
    main()

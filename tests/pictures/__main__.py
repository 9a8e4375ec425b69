"""`python -m tests.pictures OUT [FILE ...]`: cards and their translations as pictures.

Without files: cards of our own, and with UACS_CORPUS a spread of real ones. Needs npm and
Chromium; the renderers are fetched into OUT once. Look at the pictures; keep none of third parties.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bridge.app.translate import translate
from bridge.errors import BridgeError
from tests.pictures.cards import CARDS

# Nothing is fetched from strangers: every picture looks like this one.
_STAND_IN = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" '
    'height="200" fill="#8ab"/><circle cx="320" cy="60" r="30" fill="#fd6"/>'
    '<path d="M0 200 140 70 240 160 300 110 400 200" fill="#465"/></svg>'
)
PLATFORMS = ("slack", "discord", "teams")
RENDERERS = Path(__file__).with_name("renderers")
FOLDERS = {
    "slack": ("slack/blocks",),
    "discord": ("discord/messages",),
    "teams": ("adaptive", "teams/cards"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="*", help="PLATFORM=FILE, e.g. slack=card.json")
    parser.add_argument("--each", type=int, default=12, help="real cards of each folder")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    bundle = bundled(wanted.out / "renderers")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 2000, "height": 900})
        page.route(
            re.compile("^https?://"),
            lambda route: route.fulfill(body=_STAND_IN, content_type="image/svg+xml"),
        )
        for name, source, payload in cards(wanted.files, wanted.each):
            show(page, bundle, source, payload)
            page.screenshot(path=str(wanted.out / f"{name}.png"), full_page=True)
            print(wanted.out / f"{name}.png")
        browser.close()


def bundled(folder: Path) -> tuple[str, str]:
    """The renderers as one script and one style; fetched and put together at the first use."""
    script = folder / "bundle.js"
    if not script.exists():
        shutil.copytree(RENDERERS, folder, dirs_exist_ok=True)
        for command in (
            ["npm", "install", "--no-audit", "--no-fund", "--foreground-scripts"],
            ["node", "node_modules/esbuild/install.js"],
            ["node_modules/.bin/esbuild", "pictures.js", "--bundle", "--outfile=bundle.js",
             "--define:process.env.NODE_ENV=\"production\"", "--log-level=error"],
        ):  # fmt: skip
            subprocess.run(command, cwd=folder, check=True)
    return script.read_text(), script.with_suffix(".css").read_text()


def cards(files: list[Path], each: int) -> Iterator[tuple[str, str, Any]]:
    """Name, platform and payload of each card to be shown."""
    for file in files:
        source, _, path = str(file).partition("=")
        yield Path(path).stem, source, json.loads(Path(path).read_text())
    if files:
        return
    yield from ((name, "card", card) for name, card in CARDS.items())
    if corpus := os.environ.get("UACS_CORPUS"):
        for source, folders in FOLDERS.items():
            for folder in folders:
                yield from spread(Path(corpus) / folder, source, each)


def spread(folder: Path, source: str, count: int) -> Iterator[tuple[str, str, Any]]:
    """Files of every size, the larger ones first: they have most in them."""
    found = sorted(folder.glob("*.json"), key=lambda path: -path.stat().st_size)
    for path in found[:: max(1, len(found) // count)][:count]:
        yield f"{source}-{path.stem}", source, json.loads(path.read_bytes())


def show(page: Page, bundle: tuple[str, str], source: str, payload: Any) -> None:
    script, style = bundle
    own = (RENDERERS / "page.css").read_text()
    page.set_content(f"<style>{style}</style><style>{own}</style><main></main>")
    page.add_script_tag(content=script)
    panes: list[dict[str, Any]] = []
    if source in PLATFORMS:
        panes.append({"title": f"source: {source}", "platform": source, "messages": [payload]})
    panes += [pane(source, target, payload) for target in PLATFORMS]
    page.evaluate(_SHOW, panes)
    page.wait_for_timeout(700)


def pane(source: str, target: str, payload: Any) -> dict[str, Any]:
    try:
        told = translate(payload, source=source, target=target, through_tree=True)
    except BridgeError as error:
        return {"title": f"{target}: {error}", "platform": target, "messages": []}
    losses = "\n".join(f"{one.kind}: {one.what} -> {one.shown_as}" for one in told.losses)
    return {
        "title": target, "platform": target, "messages": list(told.messages), "losses": losses,
    }  # fmt: skip


_SHOW = """panes => {
  for (const pane of panes) {
    const section = document.createElement("section");
    section.className = pane.platform + "-pane";
    section.append(Object.assign(document.createElement("h1"), {textContent: pane.title}));
    for (const message of pane.messages) {
      try { section.append(window.pictures[pane.platform](message)); }
      catch (error) {
        const box = Object.assign(document.createElement("div"), {textContent: String(error)});
        box.className = "unknown";
        section.append(box);
      }
    }
    const losses = Object.assign(document.createElement("pre"), {textContent: pane.losses ?? ""});
    losses.className = "losses";
    section.append(losses);
    document.querySelector("main").append(section);
  }
}"""


if __name__ == "__main__":
    main()

"""A browser's page that draws native payloads with the demo's renderers. Nothing is fetched."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route

import bridge.app.demo
from bridge.app.demo.world import demo_types
from bridge.app.translation.translate import translate
from bridge.content.text.emoji import emoji_by_name
from bridge.errors import BridgeError

_DRAWN = {name: local.demo.static for name, local in demo_types().items() if local.demo}
PLATFORMS = tuple(_DRAWN)
_HERE = "http://pictures.invalid"
_FOLDERS = {
    "static": Path(bridge.app.demo.__file__).parent / "static",
    "page": Path(__file__).parent / "page",
    **{f"platforms/{name}": folder for name, folder in _DRAWN.items()},
}
_SHEETS = (
    "/static/page.css", "/static/rich.css",
    *(f"/platforms/{name}/draw.css" for name in PLATFORMS), "/page/drawing.css",
)  # fmt: skip
_HTML = (
    "<!doctype html><meta charset=utf-8>"
    + "".join(f'<link rel=stylesheet href="{sheet}">' for sheet in _SHEETS)
    + f'<body data-platforms="{" ".join(PLATFORMS)}"><main></main>'
    '<script type=module src="/page/drawing.js"></script>'
)
# Every picture looks like this one.
_STAND_IN = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" '
    'height="200" fill="#8ab"/><circle cx="320" cy="60" r="30" fill="#fd6"/>'
    '<path d="M0 200 140 70 240 160 300 110 400 200" fill="#465"/></svg>'
)


def drawing_page(browser: Browser) -> Page:
    """A page with the renderers loaded; `draw` shows payloads in it."""
    page = browser.new_page(viewport={"width": 1960, "height": 900})
    page.route("**/*", _served)
    page.goto(f"{_HERE}/")
    page.wait_for_function("window.ready")
    return page


def draw(page: Page, source: str, payload: Any) -> None:
    """Show a payload and its translations; `source` is a platform, or `card` for our own tree."""
    panes: list[dict[str, Any]] = []
    if source in PLATFORMS:
        panes.append({"title": f"source: {source}", "platform": source, "messages": [payload]})
    panes += [_pane(source, target, payload) for target in PLATFORMS]
    show(page, panes)


def show(page: Page, panes: list[dict[str, Any]]) -> None:
    """Show native messages side by side: `{"title", "platform", "messages", "losses"}` each."""
    page.evaluate("([panes, emoji]) => window.show(panes, emoji)", [panes, emoji_by_name()])


def _pane(source: str, target: str, payload: Any) -> dict[str, Any]:
    try:
        translated = translate(payload, source=source, target=target, through_tree=True)
    except BridgeError as error:
        return {"title": f"{target}: {error}", "platform": target, "messages": []}
    losses = "\n".join(f"{loss.kind}: {loss.what} -> {loss.shown_as}" for loss in translated.losses)
    return {
        "title": target, "platform": target, "messages": list(translated.messages),
        "losses": losses,
    }  # fmt: skip


def _served(route: Route) -> None:
    address = urlsplit(route.request.url)
    if f"{address.scheme}://{address.netloc}" != _HERE:
        route.fulfill(body=_STAND_IN, content_type="image/svg+xml")
        return
    folder, _, name = address.path.strip("/").rpartition("/")
    if folder not in _FOLDERS:
        route.fulfill(body=_HTML, content_type="text/html")
        return
    file = _FOLDERS[folder] / name
    route.fulfill(path=file, content_type=mimetypes.guess_type(file.name)[0] or "text/plain")

"""The pages of an installation as HTML: begin, done, and what went wrong. Pure; no script.

Their links are relative, so that a proxy may serve the bridge below any path.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

_STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfbfc; --panel: #f1f2f5; --text: #1c1e24; --soft: #5d6270; --line: #dfe1e7;
  --link: #2257c9; --bad: #b3261e;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #17181c; --panel: #202228; --text: #e6e7ea; --soft: #a4a9b6; --line: #34373f;
    --link: #8db4ff; --bad: #f2a19b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); }
main { max-width: 36rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p, ol, ul { margin: 0 0 1rem; overflow-wrap: anywhere; }
form { margin: 1.5rem 0 1rem; }
li { margin: .25rem 0; }
code { background: var(--panel); border-radius: .3rem; padding: .05rem .3rem; font-size: .9em; }
.soft { color: var(--soft); }
.bad { border-left: 4px solid var(--bad); padding-left: .75rem; }
.button {
  display: inline-block; font: inherit; font-weight: 600; cursor: pointer; text-decoration: none;
  background: var(--link); color: var(--ground); border: 0; border-radius: .5rem;
  padding: .7rem 1.25rem; min-height: 2.75rem;
}
a { color: var(--link); text-underline-offset: 2px; }
a:focus-visible, button:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def headers(consent_url: str = "") -> dict[str, str]:
    """Return the headers of every page; its form may lead to the origin of `consent_url`."""
    parts = urlsplit(consent_url)
    # Browsers apply form-action to the redirect that answers a form, too.
    target = f" {parts.scheme}://{parts.netloc}" if parts.netloc else ""
    policy = (
        f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'{target}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }


def start_page(apps: Sequence[tuple[str, str]]) -> str:
    """Return the page with a link for each app: its platform and label."""
    items = "".join(
        f'<li><a href="{escape(platform)}/install">{escape(label)}</a></li>'
        for platform, label in apps
    )
    return _page("Add the bridge", f"<p>Where do you want to add it?</p><ul>{items}</ul>")


def install_page(
    label: str,
    *,
    link: str = "",
    steps: Sequence[str] = (),
    approval: bool = False,
) -> str:
    """Return the page that begins an installation: with a button, or with a `link` to an app whose
    installation does not come back here, and its `steps`."""
    text = (
        "<p>The bridge joins channels of yours with channels elsewhere and with agents. It carries "
        "and keeps only what is said in channels that join one of its rooms.</p>"
    )
    if approval:
        text += "<p>An operator of this bridge approves each installation.</p>"
    if link:
        items = "".join(f"<li>{_with_code(step)}</li>" for step in steps)
        act = f'<p><a class="button" href="{escape(link)}">Add to {escape(label)}</a></p>'
        return _page(f"Add the bridge to {label}", f"{text}{act}<h2>How to</h2><ol>{items}</ol>")
    act = (
        '<form method="post" action="begin">'
        f'<button class="button" type="submit">Add to {escape(label)}</button></form>'
    )
    note = f"{label} asks you next what the bridge may do there. You may have to be an admin."
    return _page(f"Add the bridge to {label}", f'{text}{act}<p class="soft">{escape(note)}</p>')


def done_page(label: str, name: str, steps: Sequence[str], *, waits: bool) -> str:
    """Return the page after an installation; `waits`: an operator has to approve it first."""
    where = f"{name} on {label}" if name else label
    if waits:
        text = (
            "<p>The bridge is installed. It begins to work as soon as an operator approves it; you "
            "can close this page.</p>"
        )
        return _page(f"Waiting for approval: {where}", text)
    items = "".join(f"<li>{_with_code(step)}</li>" for step in steps)
    text = (
        f"<p>The bridge is installed and connects now.</p><h2>What comes next</h2><ol>{items}</ol>"
    )
    return _page(f"Added to {where}", text)


def problem_page(title: str, reason: str, todo: str) -> str:
    """Return the page of an installation that did not happen."""
    text = (
        f'<p class="bad" role="alert">{escape(reason)}</p><p>{escape(todo)}</p>'
        '<p><a href="install">Begin again</a></p>'
    )
    return _page(title, text)


def _with_code(step: str) -> str:
    """The step with its `words` in code."""
    pieces = escape(step).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )


def _page(title: str, content: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{content}</main></body>"
        "</html>\n"
    )

"""HTML and Markdown of Teams <-> the text tree. Pure.

A bot receives formatted text as HTML and sends a mixture of Markdown and HTML (msteams-docs,
"Format your bot messages", 2026-09).
"""

from __future__ import annotations

import pyromark

from bridge.content.text.tree import Document
from connectors.teams.html_reader import Mentioned, ReadHtml, html_to_text
from connectors.teams.html_writer import text_to_html
from connectors.teams.markdown_writer import at_tag, escape_name, escape_text, text_to_teams

__all__ = [
    "Mentioned",
    "ReadHtml",
    "at_tag",
    "escape_name",
    "escape_text",
    "html_to_text",
    "teams_to_text",
    "text_to_html",
    "text_to_teams",
]


def teams_to_text(markdown: str, mentioned: Mentioned | None = None) -> Document:
    """Return the text of what bots write: Markdown is converted to HTML, then read."""
    return html_to_text(pyromark.html(markdown), mentioned).document

"""UACS Markdown <-> the text tree: CommonMark and GFM, read as chats read them. Pure.

A line break is a line break, a bare URL is a link. Our own nodes are links of the scheme `uacs:`.
"""

from __future__ import annotations

from bridge.content.markdown.reader import markdown_to_text
from bridge.content.markdown.writer import text_to_markdown
from bridge.content.text.plain import text_to_plain

__all__ = ["markdown_to_text", "text_to_markdown", "text_to_plain"]

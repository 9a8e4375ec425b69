"""The content of a request (text, blocks, attachments) -> as Slack stores it, or Slack's refusal.

Limits: docs.slack.dev `chat.postMessage` (2026-08). Blocks are checked only when there are some.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from connectors.slack.sandbox.arguments import ApiError, Arguments
from connectors.slack.sandbox.blocks import Faults, checked_attachments, checked_blocks
from connectors.slack.sandbox.blocks.stored import new_id, objects_in
from connectors.slack.sandbox.files import find, may_see
from connectors.slack.sandbox.state import App, Json, Message, Workspace
from connectors.slack.sandbox.text import posted_text, rich_text

LONGEST_TEXT = 40_000  # longer texts are cut, not refused
LONGEST_MARKDOWN = 12_000


def new_content(args: Arguments, team: Workspace, app: App) -> Json:
    """The stored text, blocks and attachments of a new message. Raises ApiError."""
    blocks = _blocks(args, team, app)
    attachments = _attachments(args, team, app)
    if args.has("markdown_text"):
        return _markdown(args, blocks) | {"attachments": attachments}
    text = args.text("text")
    if not text.strip() and not blocks and not attachments:
        raise ApiError("no_text")
    link = args.text("parse") != "none"
    return {
        "text": posted_text(text[:LONGEST_TEXT], link=link),
        "blocks": blocks,
        "attachments": attachments,
    }


def edited_content(args: Arguments, message: Message, team: Workspace, app: App) -> Json:
    """The stored content of an edit: new text drops the old blocks; attachments stay unless given
    (docs)."""
    content = new_content(args, team, app)
    if content["attachments"] is None:
        content["attachments"] = message.attachments
    if content["blocks"] is None and content["text"] and not content["attachments"]:
        content["blocks"] = rich_text(content["text"], new_id())
    return content


def block_context(team: Workspace, app: App) -> Faults:
    """The context for checks of this app's blocks: its files, and the domains of its videos."""

    def knows_file(named: Json) -> bool:
        file = find(team, named)
        return bool(file and file.stored and file.dimensions and may_see(team, app, file))

    def may_embed(url: str) -> bool:
        host = urlsplit(url).hostname or ""
        allowed = "links.embed:write" in app.scopes
        return allowed and any(host == d or host.endswith(f".{d}") for d in app.unfurl_domains)

    return Faults(knows_file=knows_file, may_embed=may_embed)


def _blocks(args: Arguments, team: Workspace, app: App) -> list[Any] | None:
    blocks = args.items("blocks", "invalid_blocks_format")
    if not blocks:
        return blocks
    return with_pictures(checked_blocks(blocks, block_context(team, app)), team)


def _attachments(args: Arguments, team: Workspace, app: App) -> list[Any] | None:
    attachments = args.items("attachments", "invalid_attachments")
    if not attachments:
        return attachments
    checked = checked_attachments(attachments, block_context(team, app))
    for attachment in checked:
        with_pictures(attachment.get("blocks") or [], team)
    return checked


def _markdown(args: Arguments, blocks: list[Any] | None) -> Json:
    markdown = args.text("markdown_text")
    if args.has("text") or blocks:
        raise ApiError("markdown_text_conflict")
    if len(markdown) > LONGEST_MARKDOWN:
        raise ApiError("msg_too_long")
    block = {"type": "markdown", "text": markdown, "block_id": new_id()}
    return {"text": posted_text(markdown), "blocks": [block]}


def with_pictures(blocks: list[Json], team: Workspace) -> list[Json]:
    """Add the size to images that Slack stores, as Slack does."""
    for node in objects_in(blocks):
        if node.get("type") == "image" and "slack_file" in node:
            _measure(node, team)
    return blocks


def _measure(image: Json, team: Workspace) -> None:
    file = find(team, image["slack_file"])
    if file is None or file.dimensions is None:
        return
    width, height = file.dimensions
    image |= {
        "image_width": width, "image_height": height, "image_bytes": file.size,
        "is_animated": False, "fallback": f"{width}x{height}px image",
    }  # fmt: skip

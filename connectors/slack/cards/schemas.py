"""The schema names of Slack's rich payloads: `blocks`, `attachments` and `files`."""

from __future__ import annotations

BLOCKS = "application/vnd.slack.blocks+json"
ATTACHMENTS = "application/vnd.slack.attachments+json"
FILES = "application/vnd.slack.files+json"
PART = "application/vnd.slack.part+json"  # a part of a block, never a payload
TEXT = ""

SCHEMA_IDS: frozenset[str] = frozenset((BLOCKS, ATTACHMENTS, FILES))

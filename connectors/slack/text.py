"""Slack's text formats <-> the text tree: mrkdwn both ways, rich_text in. Pure."""

from __future__ import annotations

from connectors.slack.mrkdwn_reader import mrkdwn_to_text
from connectors.slack.mrkdwn_writer import text_to_mrkdwn
from connectors.slack.rich_text import rich_text_to_text

__all__ = ["mrkdwn_to_text", "rich_text_to_text", "text_to_mrkdwn"]

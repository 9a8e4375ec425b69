"""Discord's markdown <-> the text tree. Pure.

`discord_to_text` never fails; `text_to_discord` gives text that reads back as the same tree.
"""

from __future__ import annotations

from connectors.discord.text_reader import Names, discord_to_text
from connectors.discord.text_writer import escape, text_to_discord

__all__ = ["Names", "discord_to_text", "escape", "text_to_discord"]

"""Rooms that change while the bridge runs: by patterns, commands and direct messages."""

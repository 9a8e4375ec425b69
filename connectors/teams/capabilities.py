"""What Teams can show of a bot and how fast it may be spoken to, as data."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate

TEXT_LIMIT = 28_000  # UTF-16 units; the service takes about 100 KB a message and advises 80 KB

CONVERSATION = "conversation"
APP_AND_TENANT = "app_and_tenant"

CAPABILITIES = Capabilities(
    platform="teams",
    features={
        # A bot has one name and one picture: the author stands in bold before the text.
        "author_name": Level.PARTIAL,
        "author_picture": Level.DROPPED,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,
        "edit": Level.FULL,
        "delete": Level.FULL,
    },
    text_limit=TEXT_LIMIT,
    text_unit="utf16",
    echo=False,
    history=False,  # reading back needs Microsoft Graph
    stream_pace=1.5,
    # msteams-docs, "Optimize your bot with rate limiting", 2026-10; edits count as sends.
    budgets={
        CONVERSATION: (
            Rate(count=7, seconds=1),
            Rate(count=8, seconds=2),
            Rate(count=60, seconds=30),
            Rate(count=1800, seconds=3600),
        ),
        APP_AND_TENANT: (Rate(count=50, seconds=1),),
    },
)

"""Files that people post in Teams -> where their bytes are now.

Source: microsoft.com/.../bots/how-to/bots-filesv4, "Receive files in personal chat" (2026-06).
"""

from __future__ import annotations

from bridge.content.card import Asset
from bridge.model import Raw
from bridge.ports.connector import FileAddress
from connectors.teams.activity import object_of, parsed, string
from connectors.teams.cards.schemas import OWN_FILE


def shared_address(asset: Asset, raw: Raw) -> FileAddress | None:
    """A document of a personal chat opens for whoever has its address, for some minutes: it was
    taken out of the activity before that was kept."""
    own = asset.file_id.removeprefix(OWN_FILE)
    if not own or own == asset.file_id:
        return None
    attachments = parsed(raw.payload).get("attachments")
    for index, one in enumerate(attachments if isinstance(attachments, list) else ()):
        if isinstance(one, dict) and string(object_of(one, "content"), "uniqueId") == own:
            url = raw.credentials.get(f"/attachments/{index}/content/downloadUrl", "")
            return FileAddress(url) if url else None
    return None

"""Files sent to Discord (streamed with a message) and fetched from its CDN.

Source: Discord docs, reference "Uploading Files" and "Signed Attachment CDN URLs" (2026-08).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

from pydantic import JsonValue

from bridge.content.cards.tree import Asset
from bridge.errors import FileError, Refused, StoreUnreachable, Unavailable
from bridge.model import Call, Raw
from bridge.ports.abilities.files import FileAddress
from bridge.ports.files import Files
from connectors.discord.rest import FilePart

_CDN = ("cdn.discordapp.com", "media.discordapp.net")
_SPOILER = "SPOILER_"


class PlatformFiles:
    """The files that people post on Discord."""

    def __init__(self, cdn: str) -> None:
        self._cdn = cdn

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Return the address of an asset on Discord's CDN; None for assets elsewhere.

        Discord's CDN links are signed and expire after a day, so the file is fetched early.
        """
        host = urlsplit(asset.url).hostname or ""
        ours = host in _CDN or asset.url.startswith(f"{self._cdn}/")
        return FileAddress(asset.url) if ours else None


@asynccontextmanager
async def opened(
    files: Files | None, call: Call, body: Mapping[str, JsonValue] | None
) -> AsyncGenerator[tuple[Mapping[str, JsonValue] | None, tuple[FilePart, ...]]]:
    """Yield the body with one `attachments` entry for each file, and the files' byte streams.

    The streams are open while the block lasts. Raises Refused if a file cannot be read, Unavailable
    if it cannot now.
    """
    if not call.files or body is None:
        yield body, ()
        return
    if files is None:
        raise Refused("This bridge keeps no files to send")
    named_in_body = (
        "embeds" in body or "components" in body
    )  # the body refers to the file by name and carries its own spoiler flag
    async with AsyncExitStack() as stack:
        parts: list[FilePart] = []
        for file in call.files:
            try:
                chunks = await stack.enter_async_context(files.blobs.open(file.file_id))
            except FileError as error:
                raise Refused(f"The file {file.name!r} cannot be sent: {error}") from error
            except StoreUnreachable as error:
                raise Unavailable(
                    f"The file {file.name!r} cannot be sent now: {error.public}"
                ) from error
            name = f"{_SPOILER}{file.name}" if file.spoiler and not named_in_body else file.name
            parts.append(FilePart(name, file.media_type, chunks))
        attachments: list[JsonValue] = [
            {"id": index, "filename": part.name, "description": file.alt[:1024] or None}
            for index, (part, file) in enumerate(zip(parts, call.files, strict=True))
        ]
        yield {**body, "attachments": attachments}, tuple(parts)

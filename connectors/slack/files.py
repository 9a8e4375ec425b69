"""Files into Slack and out of it: staged where nobody sees them yet, and where theirs are fetched.

Source: docs.slack.dev "Working with files", files.getUploadURLExternal (2026-08).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from bridge.content.cards.tree import Asset
from bridge.errors import FileError, Refused
from bridge.model import Raw, Upload
from bridge.ports.abilities.files import FileAddress
from bridge.ports.fetch import Bearer
from bridge.ports.files import Files
from connectors.slack.json_values import object_at, text_at
from connectors.slack.send import WebApi

HOSTS = ("files.slack.com", "slack-files.com", "*.slack.com")
_OWN = "slack:"


class PlatformFiles:
    """The files that people post in one workspace."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Slack's own files need the bot's token; all others are open to everybody."""
        file = asset.file_id.removeprefix(_OWN) if asset.file_id.startswith(_OWN) else ""
        url = asset.url
        if file and not url:
            file_object = object_at(await self._api.read("files.info", file=file), "file")
            url = text_at(file_object, "url_private_download") or text_at(
                file_object, "url_private"
            )
        if not url or not (file or asset.private):
            return None
        return FileAddress(url, Bearer(await self._api.token(), (*HOSTS, self._api.host)))


async def stage(api: WebApi, files: Files, upload: Upload) -> str:
    """The id of a file whose bytes Slack has, and nobody sees yet."""
    ticket = await api.read(
        "files.getUploadURLExternal", filename=upload.name, length=str(upload.size),
        **({"alt_txt": upload.alt[:1000]} if upload.alt else {}),
    )  # fmt: skip
    try:
        async with files.blobs.open(upload.file_id) as chunks:
            await api.upload(text_at(ticket, "upload_url"), _each(chunks), upload.size)
    except FileError as error:
        raise Refused(f"The file {upload.name!r} cannot be sent: {error}") from error
    return text_at(ticket, "file_id")


async def _each(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk

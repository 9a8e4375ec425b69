"""Files to and from Slack: staged uploads, and the addresses of files that people post.

Source: docs.slack.dev "Working with files", files.getUploadURLExternal (2026-08).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from bridge.content.cards.tree import Asset
from bridge.errors import FileError, Refused, StoreUnreachable, Unavailable
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
        """The URL and the headers with which a file can be downloaded.

        Files that Slack stores need the bot token; external files are public. Raises PlatformError.
        """
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
    """Upload a file and return its id; nobody sees the file until it is shared.

    Raises Refused when the blob cannot be read, Unavailable when it cannot now, and PlatformError.
    """
    ticket = await api.read(
        "files.getUploadURLExternal", filename=upload.name, length=str(upload.size),
        **({"alt_txt": upload.alt[:1000]} if upload.alt else {}),
    )  # fmt: skip
    try:
        async with files.blobs.open(upload.file_id) as chunks:
            await api.upload(text_at(ticket, "upload_url"), _each(chunks), upload.size)
    except FileError as error:
        raise Refused(f"The file {upload.name!r} cannot be sent: {error}") from error
    except StoreUnreachable as error:
        raise Unavailable(f"The file {upload.name!r} waits: {error.public}") from error
    return text_at(ticket, "file_id")


async def _each(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk

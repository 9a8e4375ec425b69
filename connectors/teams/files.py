"""Addresses of files that people post in Teams, and uploads of files that people accept.

Source: microsoft.com/.../bots/how-to/bots-filesv4 (2026-06); Microsoft Graph, "Upload bytes to the
upload session".
"""

from __future__ import annotations

from bridge.content.cards.tree import Asset
from bridge.errors import FileMissing, Refused
from bridge.model import Raw
from bridge.ports.abilities.files import FileAddress
from bridge.ports.blobs import Blobs
from bridge.ports.fetch import Bearer
from connectors.teams.activity import object_of, parse_activity, string
from connectors.teams.cards.schemas import OWN_FILE
from connectors.teams.consent import Consent
from connectors.teams.send import BotToken, HttpClient, error_of
from connectors.teams.settings import TeamsSettings

_FRAGMENT = 32 * 320 * 1024  # bytes; Graph wants multiples of 320 KiB, 60 MiB at most
_FRAGMENT_S = 120.0


class PlatformFiles:
    """The files and pictures that people post in Teams."""

    def __init__(self, settings: TeamsSettings, token: BotToken) -> None:
        self._settings = settings
        self._token = token

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Return where a file can be fetched; None if it cannot.

        Pictures in messages are at the service's address, and need the bot's token. Raises
        PlatformError if the bot gets no token.
        """
        if asset.file_id:
            return _shared_address(asset, raw)
        if not asset.url or not self._settings.may_be_called(asset.url):
            return None
        token = await self._token.get()
        return FileAddress(asset.url, Bearer(token, self._settings.service_hosts))


def _shared_address(asset: Asset, raw: Raw) -> FileAddress | None:
    """Return the download address of a document in a personal chat.

    The address needs no authentication for some minutes, so it is stored as a credential.
    """
    own = asset.file_id.removeprefix(OWN_FILE)
    if not own or own == asset.file_id:
        return None
    attachments = parse_activity(raw.payload).get("attachments")
    for index, attachment in enumerate(attachments if isinstance(attachments, list) else ()):
        if (
            isinstance(attachment, dict)
            and string(object_of(attachment, "content"), "uniqueId") == own
        ):
            url = raw.credentials.get(f"/attachments/{index}/content/downloadUrl", "")
            return FileAddress(url) if url else None
    return None


async def bring(consent: Consent, blobs: Blobs, http: HttpClient, settings: TeamsSettings) -> None:
    """Upload a file to the address that Teams named, in fragments.

    Raises Refused for an address outside `drive_hosts`, FileMissing if the blob is gone, other
    PlatformError for failed requests.
    """
    url = consent.upload_url
    if not settings.may_take_files(url):
        raise Refused("Teams named an upload address that is not in drive_hosts", code="drive")
    ref = await blobs.stat(consent.file_id)
    if ref is None:
        raise FileMissing(f"The file {consent.name!r} is no longer stored")
    for start in range(0, ref.size, _FRAGMENT):
        end = min(start + _FRAGMENT, ref.size)
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(end - start),
            "Content-Range": f"bytes {start}-{end - 1}/{ref.size}",
        }
        async with blobs.open(consent.file_id, start=start, end=end) as chunks:
            answer = await http.request(
                "PUT", url, data=chunks, headers=headers, deadline=_FRAGMENT_S
            )
        if not answer.good:
            label = f"Uploading the file {consent.name!r}"
            raise error_of(label, answer.status, answer.json(), answer.headers, repeatable=True)

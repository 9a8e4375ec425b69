"""Files of Anthropic's `/v1/files` (beta)."""

from __future__ import annotations

from urllib.parse import quote

from bridge.agents.anthropic.write import IMAGES, PDF
from bridge.agents.codec.json_values import obj, text
from bridge.agents.model.uploads import FileApi, LocalFile, UploadedFile
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import Http, Request
from bridge.agents.transport.multipart import multipart_form
from bridge.content.messages.parts import MediaPart
from bridge.errors import AgentError
from bridge.uacs import FilePart, ImagePart, MediaSource

VERSION = "2023-06-01"
BETA = {"anthropic-beta": "files-api-2025-04-14"}


def headers(key: str) -> dict[str, str]:
    """Return the headers of every request: the API's version, and the key if there is one."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


async def upload(http: Http, settings: ModelSettings, key: str, file: LocalFile) -> UploadedFile:
    """Upload a file. Returns its id. Raises BridgeError."""
    content_type, body = multipart_form({}, file.name, file.media_type, file.content)
    own = {"content-type": content_type, **BETA, **headers(key)}
    created = obj(await http.json(Request(f"{settings.base_url}/v1/files", own, body)))
    if not text(created.get("id")):
        raise AgentError("its API accepted a file without returning an id")
    return UploadedFile(MediaSource(file_id=text(created["id"])))


def takes(part: MediaPart) -> bool:
    """Return whether models read such a file by its id."""
    if isinstance(part, ImagePart):
        return part.media_type in IMAGES
    return isinstance(part, FilePart) and part.media_type in (PDF, "text/plain")


async def delete(http: Http, settings: ModelSettings, key: str, source: MediaSource) -> None:
    """Delete an uploaded file. Raises NotFound if there is none, BridgeError."""
    url = f"{settings.base_url}/v1/files/{quote(source.file_id or '', safe='')}"
    await http.json(Request(url, {**BETA, **headers(key)}, method="DELETE"))


FILES = FileApi(upload, takes, delete, BETA)

"""What OpenAI's two APIs share: the address of a model, and the files of `/files`."""

from __future__ import annotations

from urllib.parse import quote

from bridge.agents.codec.json_values import number, obj, text
from bridge.agents.model.uploads import FileApi, LocalFile, UploadedFile
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import Http, Request, bearer
from bridge.agents.transport.multipart import multipart_form
from bridge.errors import AgentError
from bridge.uacs import FilePart, ImagePart, MediaSource

_DAYS = 30 * 86_400  # seconds: files expire
_PDF = "application/pdf"


def model_address(settings: ModelSettings) -> str:
    """Return the address at which both APIs describe the model."""
    return f"{settings.base_url}/models/{quote(settings.model, safe='')}"


async def upload(http: Http, settings: ModelSettings, key: str, file: LocalFile) -> UploadedFile:
    """Upload a file for 30 days. Returns its id and expiry. Raises BridgeError."""
    fields = {"purpose": "user_data", "expires_after[anchor]": "created_at",
              "expires_after[seconds]": str(_DAYS)}  # fmt: skip
    content_type, body = multipart_form(fields, file.name, file.media_type, file.content)
    headers = {"content-type": content_type, **bearer(key)}
    created = obj(await http.json(Request(f"{settings.base_url}/files", headers, body)))
    if not text(created.get("id")):
        raise AgentError("its API accepted a file without returning an id")
    expires_at = number(created.get("expires_at"))
    return UploadedFile(
        MediaSource(file_id=text(created["id"])), None if expires_at is None else float(expires_at)
    )


async def delete(http: Http, settings: ModelSettings, key: str, source: MediaSource) -> None:
    """Delete an uploaded file. Raises NotFound if there is none, BridgeError."""
    url = f"{settings.base_url}/files/{quote(source.file_id or '', safe='')}"
    await http.json(Request(url, bearer(key), method="DELETE"))


CHAT_FILES = FileApi(
    upload, lambda part: isinstance(part, FilePart) and part.media_type == _PDF, delete
)
RESPONSES_FILES = FileApi(upload, lambda part: isinstance(part, (FilePart, ImagePart)), delete)

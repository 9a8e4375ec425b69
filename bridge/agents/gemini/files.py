"""Files of Gemini's `/upload/v1beta/files`: announced, then sent, and usable when ACTIVE."""

from __future__ import annotations

import asyncio
from datetime import datetime
from urllib.parse import quote, urlsplit

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.model.uploads import FileApi, LocalFile, UploadedFile
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import Http, Request
from bridge.errors import AgentError
from bridge.uacs import MediaSource

_LOOKS = 60  # polls of a file that is not ready, one a second


def headers(key: str) -> dict[str, str]:
    """Return the header with the key; none without a key."""
    return {"x-goog-api-key": key} if key else {}


async def upload(
    http: Http, settings: ModelSettings, key: str, local_file: LocalFile
) -> UploadedFile:
    """Upload a file and wait up to a minute until it is usable. Returns its address and expiry.
    Raises BridgeError."""
    key_header = headers(key)
    file = await _sent(
        http, await _announced(http, settings, key_header, local_file), key_header, local_file
    )
    for _ in range(_LOOKS):
        if text(file.get("state")) != "PROCESSING":
            break
        await asyncio.sleep(1)
        url = f"{settings.base_url}/v1beta/{text(file.get('name'))}"
        file = obj(await http.json(Request(url, key_header, method="GET")))
    if text(file.get("state")) not in ("ACTIVE", "") or not text(file.get("uri")):
        raise AgentError("its API accepted a file but cannot read it")
    return UploadedFile(MediaSource(url=text(file["uri"])), _seconds(file.get("expirationTime")))


async def _announced(
    http: Http, settings: ModelSettings, key_header: dict[str, str], file: LocalFile
) -> str:
    """Return the address that the bytes go to. It must be the same host, because the key goes
    along. Raises AgentError."""
    headers = {
        **key_header,
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": str(len(file.content)),
        "x-goog-upload-header-content-type": file.media_type,
    }
    body: Json = {"file": {"display_name": file.name}}
    request = Request(f"{settings.base_url}/upload/v1beta/files", headers, body)
    async with http.answer(request) as answer:
        url = answer.headers.get("x-goog-upload-url", "")
    if urlsplit(url).netloc != urlsplit(settings.base_url).netloc:
        raise AgentError("its API redirected an upload to another host")
    return url


async def _sent(http: Http, url: str, key_header: dict[str, str], file: LocalFile) -> Json:
    headers = {
        **key_header,
        "content-type": file.media_type,
        "x-goog-upload-offset": "0",
        "x-goog-upload-command": "upload, finalize",
    }
    return obj(obj(await http.json(Request(url, headers, file.content))).get("file"))


def _seconds(value: JsonValue) -> float | None:
    try:
        return datetime.fromisoformat(text(value)).timestamp()
    except ValueError:
        return None


async def delete(http: Http, settings: ModelSettings, key: str, source: MediaSource) -> None:
    """Delete an uploaded file, at the configured host, because the key goes along. Raises NotFound
    if there is none, BridgeError."""
    name = urlsplit(source.url or "").path.rpartition("/")[2]
    url = f"{settings.base_url}/v1beta/files/{quote(name, safe='')}"
    await http.json(Request(url, headers(key), method="DELETE"))


FILES = FileApi(upload, lambda part: "*" not in part.media_type, delete)

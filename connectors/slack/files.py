"""Files into Slack and out of it: staged, shared in one message, and where theirs are fetched.

Source: docs.slack.dev "Working with files", files.getUploadURLExternal (2026-08).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import JsonValue

from bridge.content.card import Asset
from bridge.errors import FileError, Refused, Unavailable
from bridge.model import Call, Receipt, Upload
from bridge.ports.connector import FileAddress, Files
from bridge.ports.fetch import Bearer
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.send import WebApi

HOSTS = ("files.slack.com", "slack-files.com", "*.slack.com")
_OWN = "slack:"


async def address_of(api: WebApi, asset: Asset) -> FileAddress | None:
    """Slack's own files need the bot's token; all others are open to everybody."""
    file = asset.file_id.removeprefix(_OWN) if asset.file_id.startswith(_OWN) else ""
    url = asset.url
    if file and not url:
        told = object_at(await api.read("files.info", file=file), "file")
        url = text_at(told, "url_private_download") or text_at(told, "url_private")
    if not url or not (file or asset.private):
        return None
    return FileAddress(url, Bearer(await api.token(), (*HOSTS, api.host)))


async def share_files(api: WebApi, files: Files | None, call: Call) -> Receipt:
    """Stage every file, then share them in one message. Staged files that are never shared are
    seen by nobody; only the last request makes something that people see."""
    if files is None:
        raise Refused(f"{call.method}: this bridge keeps no files")
    staged: list[JsonValue] = [
        {"id": await _stage(api, files, one), "title": one.name} for one in call.files
    ]
    body: dict[str, JsonValue] = {
        "files": staged,
        "channel_id": call.channel.channel,
        "initial_comment": call.body.get("initial_comment"),
    }
    if call.thread is not None:
        body["thread_ts"] = call.thread
    await api.post_json(call.method, body, once=True)
    first = staged[0]
    ts = await _shared_as(api, str(first["id"]) if isinstance(first, dict) else "", call)
    return Receipt(slot=call.slot, native_id=ts, thread=call.thread)


async def _stage(api: WebApi, files: Files, upload: Upload) -> str:
    """The id of a file whose bytes Slack has, and nobody sees yet."""
    told = await api.read(
        "files.getUploadURLExternal", filename=upload.name, length=str(upload.size),
        **({"alt_txt": upload.alt[:1000]} if upload.alt else {}),
    )  # fmt: skip
    try:
        async with files.blobs.open(upload.file_id) as chunks:
            await api.upload(text_at(told, "upload_url"), _each(chunks), upload.size)
    except FileError as error:
        raise Refused(f"The file {upload.name!r} cannot be sent: {error}") from error
    return text_at(told, "file_id")


async def _each(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk


async def _shared_as(api: WebApi, file: str, call: Call) -> str:
    """The message that shares the file: Slack tells it with the file, not with the answer."""
    try:
        told = object_at(await api.read("files.info", file=file), "file", "shares")
    except Unavailable:
        return f"file:{file}"
    for kind in ("public", "private"):
        shares: Json = object_at(told, kind)
        for share in objects_at(shares, call.channel.channel):
            if ts := text_at(share, "ts"):
                return ts
    return f"file:{file}"

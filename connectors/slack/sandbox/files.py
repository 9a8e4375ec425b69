"""Slack's files: two-step uploads, sharing, and the file object."""

from __future__ import annotations

import mimetypes
import secrets
from pathlib import PurePosixPath
from urllib.parse import quote

from bridge.content.media.types import agreed_type, sniffed_type
from bridge.sandbox.files import StoredFile
from bridge.sandbox.picture_sizes import picture_size
from connectors.slack.sandbox.state import App, Channel, File, Json, Message, Workspace

MAX_BYTES = 1 << 30
MAX_ALT = 1000
_PRETTY = {
    "png": "PNG", "jpg": "JPEG", "gif": "GIF", "pdf": "PDF", "text": "Plain Text",
    "mp4": "MPEG 4 Video", "mp3": "MP3", "zip": "Zip", "docx": "Word Document",
    "xlsx": "Excel Spreadsheet", "pptx": "PowerPoint Presentation", "csv": "CSV", "json": "JSON",
    "html": "HTML", "svg": "SVG", "webp": "WebP", "markdown": "Markdown (raw)", "binary": "Binary",
}  # fmt: skip
_TYPES = {
    "jpeg": "jpg", "txt": "text", "md": "markdown", "htm": "html", "": "binary", "bin": "binary",
}  # fmt: skip
_THUMBS = (64, 80, 160, 360, 480, 720, 960, 1024)
_MEASURED = 360  # thumbnails of this size and larger have a width and height


def new_file(
    team: Workspace, base_url: str, *, name: str, title: str, user: str, app: App | None, now: int,
    size: int, alt: str = "",
) -> File:  # fmt: skip
    """A new file in its workspace, without its bytes."""
    own_id = f"F0{secrets.token_hex(4).upper()}"
    file = File(
        id=own_id, team=team.id, name=name, title=title or name, user=user, created=now, size=size,
        address=f"{base_url}/slack/files-pri/{team.id}-{own_id}",
        permalink=f"https://{team.domain}.slack.com/files/{user}/{own_id}/{quote(name)}",
        app=app, alt=alt,
    )  # fmt: skip
    team.files[own_id] = file
    return file


def fill(file: File, stored: StoredFile, declared: str = "") -> None:
    """Store the bytes, and set the file's type and size from them and from its name."""
    guessed = declared or mimetypes.guess_type(file.name)[0] or ""
    file.stored = stored
    file.size = stored.size
    file.mimetype = agreed_type(guessed, sniffed_type(stored.head))
    file.dimensions = picture_size(stored.head)


def share(file: File, channel: Channel, message: Message) -> None:
    file.shares.setdefault(channel.id, []).append(message.ts)
    file.public = file.public or channel.kind == "channel"


def may_see(team: Workspace, app: App, file: File) -> bool:
    """Whether the app may see the file: it is its own, or it is shared in one of its channels."""
    if file.app is app:
        return True
    channels = (team.channels.get(channel) for channel in file.shares)
    return any(channel and app.bot_user in channel.members for channel in channels)


def find(team: Workspace, named: Json) -> File | None:
    """The file with this `id`, or with this `url`: its private URL or its permalink."""
    if file := team.files.get(str(named.get("id", ""))):
        return file
    url = named.get("url")
    if not isinstance(url, str):
        return None
    return next((f for f in team.files.values() if url in (f.permalink, private_url(f))), None)


def private_url(file: File) -> str:
    return f"{file.address}/{quote(file.name)}"


def file_json(file: File) -> Json:
    """The file object as in events, messages and `files.info`."""
    if file.deleted:
        return {"id": file.id, "mode": "tombstone"}
    kind = filetype(file.name)
    shape: Json = {
        "id": file.id, "created": file.created, "timestamp": file.created, "name": file.name,
        "title": file.title, "mimetype": file.mimetype, "filetype": kind,
        "pretty_type": _PRETTY.get(kind, kind.upper()), "user": file.user, "user_team": file.team,
        "editable": False, "size": file.size, "mode": "hosted", "is_external": False,
        "external_type": "", "is_public": file.public, "public_url_shared": False,
        "display_as_bot": False, "username": "", "url_private": private_url(file),
        "url_private_download": f"{file.address}/download/{quote(file.name)}",
        "media_display_type": "unknown", "permalink": file.permalink,
        "permalink_public": f"https://slack-files.com/{file.team}-{file.id}-{file.id.lower()}",
        "is_starred": False, "has_rich_preview": False, "file_access": "visible",
    }  # fmt: skip
    if file.alt:
        shape["alt_txt"] = file.alt
    if file.spoken_ms is not None:
        shape |= {
            "subtype": "slack_audio", "media_display_type": "audio", "duration_ms": file.spoken_ms,
            "audio_wave_samples": [0] * 100,
        }  # fmt: skip
    return shape | (_thumbs(file) if file.dimensions else {})


def with_shares(file: File, team: Workspace) -> Json:
    """The file object with the shares that `files.info` adds."""
    shape = file_json(file)
    shares: dict[str, dict[str, list[Json]]] = {}
    channels: dict[str, list[str]] = {"channels": [], "groups": [], "ims": []}
    lists = {"channel": "channels", "group": "groups", "im": "ims"}
    for channel_id, stamps in file.shares.items():
        if (channel := team.channels.get(channel_id)) is None:
            continue
        channels[lists[channel.kind]].append(channel_id)
        place = shares.setdefault("public" if channel.kind == "channel" else "private", {})
        place[channel_id] = [_share(channel, ts) for ts in stamps]
    return shape | channels | {"shares": shares, "comments_count": 0}


def filetype(name: str) -> str:
    """Slack's short name of a file type, from the extension."""
    ending = PurePosixPath(name).suffix.removeprefix(".").lower()
    return _TYPES.get(ending, ending)


def _share(channel: Channel, ts: str) -> Json:
    message = channel.find(ts)
    shape: Json = {
        "reply_users": [], "reply_users_count": 0, "reply_count": 0, "ts": ts,
        "channel_name": channel.name, "team_id": channel.team,
        "share_user_id": message.user if message else "", "source": "UNKNOWN",
        "is_silent_share": False,
    }  # fmt: skip
    if message is not None and message.parent is not None:
        shape["thread_ts"] = channel.messages[message.parent].ts
    return shape


def _thumbs(file: File) -> Json:
    """The thumbnails; the local Slack serves the full image at each of their URLs."""
    width, height = file.dimensions or (0, 0)
    stem, dot, ending = file.name.rpartition(".")
    shape: Json = {"original_w": width, "original_h": height}
    for size in _THUMBS:
        if size > _MEASURED and size > max(width, height):
            break
        name = quote(f"{stem}_{size}.{ending}" if dot else f"{file.name}_{size}")
        shape[f"thumb_{size}"] = f"{file.address.replace('files-pri', 'files-tmb')}/{name}"
        if size >= _MEASURED:
            scale = min(1.0, size / max(width, height, 1))
            shape[f"thumb_{size}_w"] = max(1, round(width * scale))
            shape[f"thumb_{size}_h"] = max(1, round(height * scale))
    return shape

"""files.*: two-step uploads, sharing, look-ups.

Sources: docs.slack.dev `files.getUploadURLExternal`, `files.completeUploadExternal` (2026-08).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from connectors.slack.sandbox import files
from connectors.slack.sandbox.arguments import invalid_arguments
from connectors.slack.sandbox.blocks import checked_blocks
from connectors.slack.sandbox.content import LONGEST_TEXT, block_context, with_pictures
from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.state import Channel, Draft, File, at_of
from connectors.slack.sandbox.text import posted_text

MAX_FILES = 100  # in one call; not documented


def get_upload_url(call: Call) -> Json:
    name = call.args.required("filename")
    length = call.args.required("length")
    if not length.isascii() or not length.isdecimal() or int(length[:15]) < 1:
        raise invalid_arguments("must be greater than 0 [json-pointer:/length]")
    if int(length) > files.MAX_BYTES:
        raise ApiError("file_upload_size_restricted")
    alt = call.args.text("alt_txt")
    if len(alt) > files.MAX_ALT:
        raise ApiError("alt_txt_too_large")
    file = files.new_file(
        call.workspace, call.base_url, name=name, title=name, user=call.app.bot_user, app=call.app,
        now=int(call.changes.now()), size=int(length), alt=alt,
    )  # fmt: skip
    return {"upload_url": call.uploads.open(file), "file_id": file.id}


def complete_upload(call: Call) -> Json:
    """The second step: set the titles and share the files.

    Slack shares asynchronously: the answer has no shares yet (slackapi/bolt-js#2115).
    """
    uploads = [_uploaded(call, entry) for entry in _requested_files(call)]
    channels = _channels(call)
    thread = call.args.text("thread_ts")
    if thread and at_of(thread) is None:
        raise ApiError("invalid_thread_ts")
    blocks = _blocks(call)
    for file, title in uploads:
        file.title = title or file.title
        file.completed = True
    uploaded_files = [file for file, _ in uploads]
    answer = {"files": [files.file_json(file) for file in uploaded_files]}
    for channel in channels:
        call.uploads.share_later(partial(_share, call, channel, uploaded_files, thread, blocks))
    return answer


def info(call: Call) -> Json:
    """A file object; Slack discards incomplete uploads, so they are not found."""
    file = _file(call)
    if file.app is not None and not file.completed:
        raise ApiError("file_not_found")
    page: Json = {"comments": [], "response_metadata": {"next_cursor": ""}}
    return {"file": files.with_shares(file, call.workspace)} | page


def delete(call: Call) -> Json:
    file = _file(call)
    if file.app is not call.app:
        raise ApiError("cant_delete_file")
    call.changes.delete_file(call.workspace, file)
    return {}


def _requested_files(call: Call) -> list[Json]:
    entries = call.args.items("files", "invalid_arguments")
    if not entries:
        raise invalid_arguments("missing required field: files")
    if len(entries) > MAX_FILES:
        raise invalid_arguments(f"no more than {MAX_FILES} items allowed [json-pointer:/files]")
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise invalid_arguments(f"missing required field: id [json-pointer:/files/{index}]")
    return entries


def _uploaded(call: Call, entry: Json) -> tuple[File, str]:
    """A file of this app whose bytes have arrived and that was not completed before."""
    file = call.workspace.files.get(entry["id"])
    if file is None or file.app is not call.app or file.stored is None or file.completed:
        raise ApiError("file_not_found")
    return file, str(entry.get("title") or "")


def _channels(call: Call) -> list[Channel]:
    names = call.args.text("channel_id") or call.args.text("channels")
    channels: list[Channel] = []
    for own_id in filter(None, names.replace(" ", "").split(",")):
        channel = call.workspace.channels.get(own_id)
        if channel is None and own_id in call.workspace.people:
            channel = call.workspace.direct(call.app.bot_user, own_id, call.changes.now())
        if channel is None or not call.may_see(channel):
            raise ApiError("channel_not_found")
        if channel.archived:
            raise ApiError("is_archived")
        call.need_member(channel)
        channels.append(channel)
    return channels


def _blocks(call: Call) -> list[Any] | None:
    """Blocks replace the comment."""
    blocks = call.args.items("blocks", "invalid_blocks_format")
    if not blocks:
        return None
    checked = checked_blocks(blocks, block_context(call.workspace, call.app))
    return with_pictures(checked, call.workspace)


def _share(
    call: Call, channel: Channel, uploaded_files: list[File], thread: str, blocks: list[Any] | None
) -> None:
    text = "" if blocks else posted_text(call.args.text("initial_comment")[:LONGEST_TEXT])
    remaining = [file for file in uploaded_files if file.id in call.workspace.files]
    if not remaining:
        return
    draft = Draft(call.app.bot_user, text, app=call.app, blocks=blocks, files=remaining)
    target = channel.find(thread) if thread else None
    if target is not None:
        draft.parent = target.at if target.parent is None else target.parent
    call.changes.post(call.workspace, channel, draft)


def _file(call: Call) -> File:
    file = call.workspace.files.get(call.args.required("file"))
    if file is None or not files.may_see(call.workspace, call.app, file):
        raise ApiError("file_not_found")
    return file

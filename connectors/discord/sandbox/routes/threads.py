"""REST: start threads and forum posts, join and leave them, list archived threads."""

from __future__ import annotations

from bridge.sandbox.limits import Window
from connectors.discord.sandbox.call import Answer, Call, Created, Route
from connectors.discord.sandbox.checks import Form, read_limit
from connectors.discord.sandbox.drafts import Draft, check_not_empty, read_draft
from connectors.discord.sandbox.errors import (
    missing_access,
    thread_exists,
    thread_is_archived,
    wrong_channel_type,
)
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.routes.channels import ARCHIVE_MINUTES
from connectors.discord.sandbox.shapes import thread_json, thread_member_json
from connectors.discord.sandbox.state import Channel, ChannelType
from connectors.discord.sandbox.text import ALL_MENTIONS, allowed_from

_TALK = (ChannelType.TEXT, ChannelType.ANNOUNCEMENT)
_KINDS = (
    ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD,
)  # fmt: skip


def start_from_message(call: Call) -> Answer:
    channel = call.channel()
    if channel.type not in _TALK:
        raise wrong_channel_type()
    call.need(channel, Permission.CREATE_PUBLIC_THREADS)
    message = call.message(channel)
    if message.id in call.state.channels:
        raise thread_exists()
    name, minutes = _read_head(form := call.form())
    form.done()
    thread = call.changes.start_thread_from(message, call.app.user, name, minutes)
    return Created(thread_json(thread, call.app.user.id))


def start_thread(call: Call) -> Answer:
    channel = call.channel()
    if channel.type == ChannelType.FORUM:
        return _start_forum_post(call, channel)
    if channel.type not in _TALK:
        raise wrong_channel_type()
    name, minutes = _read_head(form := call.form())
    # Without a type Discord creates a private thread (docs: start thread without message).
    private = form.choice("type", _KINDS, ChannelType.PRIVATE_THREAD) == ChannelType.PRIVATE_THREAD
    form.done()
    kind = "CREATE_PRIVATE_THREADS" if private else "CREATE_PUBLIC_THREADS"
    call.need(channel, Permission[kind])
    thread = call.changes.start_thread(
        channel, call.app.user, name, minutes=minutes, private=private
    )  # fmt: skip
    return Created(thread_json(thread, call.app.user.id))


def join_thread(call: Call) -> Answer:
    call.changes.join_thread(_live_thread(call), call.app.user)


def leave_thread(call: Call) -> Answer:
    thread = _live_thread(call)
    if thread.thread:
        thread.thread.members.pop(call.app.user.id, None)


def list_archived(call: Call) -> Answer:
    """List archived public threads, the latest first."""
    channel = call.channel(Permission.READ_MESSAGE_HISTORY)
    limit = read_limit(call.query, 50, 100)
    before = call.query.get("before", "~")
    threads = [
        (thread.thread.archive_time, thread)
        for thread in call.state.threads_of(channel)
        if thread.thread and thread.thread.archived and not thread.is_private_thread
    ]
    threads = [item for item in threads if item[0] < before]
    threads.sort(key=lambda item: item[0], reverse=True)
    page = [thread for _, thread in threads[:limit]]
    viewer = call.app.user.id
    joined = [thread for thread in page if thread.thread and viewer in thread.thread.members]
    return {
        "threads": [thread_json(thread, viewer) for thread in page],
        "members": [thread_member_json(thread, viewer) for thread in joined],
        "has_more": len(threads) > limit,
    }


def read_tags(form: Form, channel: Channel) -> list[str]:
    """Return the forum tags of a new post: at most five existing tags."""
    tags_field = form.body.get("applied_tags") or []
    tags = [str(tag) for tag in tags_field] if isinstance(tags_field, list) else []
    known_ids = {tag["id"] for tag in channel.tags}
    if len(tags) > 5:
        form.fail("applied_tags", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.")
    for index, tag in enumerate(tags):
        if tag not in known_ids:
            form.fail(f"applied_tags.{index}", "FORUM_TAG_UNKNOWN", f'Unknown tag "{tag}"')
    return tags


def _start_forum_post(call: Call, channel: Channel) -> Answer:
    call.need(channel, Permission.SEND_MESSAGES)
    name, minutes = _read_head(form := call.form())
    tags = read_tags(form, channel)
    first = form.mapping("message")
    form.done()
    inner = Form(first or {})
    draft: Draft = read_draft(inner, call.parts)
    check_not_empty(inner, draft)
    user = call.app.user
    thread = call.changes.start_thread(channel, user, name, minutes=minutes, tags=tags)
    allowed = allowed_from(draft.allowed_mentions, ALL_MENTIONS)
    shape = call.changes.post(thread, user, draft, allowed=allowed, message_id=thread.id)
    return Created(thread_json(thread, user.id) | {"message": shape})


def _read_head(form: Form) -> tuple[str, int]:
    name = form.text("name", min_length=1, max_length=100, required=True) or ""
    return name, form.choice("auto_archive_duration", ARCHIVE_MINUTES, 1440)


def _live_thread(call: Call) -> Channel:
    channel = call.channel()
    if channel.thread is None:
        raise wrong_channel_type()
    if not permissions_in(channel, call.app.user.id):
        raise missing_access()
    if channel.thread.archived:
        raise thread_is_archived()
    return channel


_FROM_MESSAGE = "/channels/{channel_id}/messages/{message_id}/threads"
_ARCHIVED = "/channels/{channel_id}/threads/archived/public"
_ME = "/channels/{channel_id}/thread-members/@me"
THREAD_ROUTES = [
    Route("POST", _FROM_MESSAGE, "thread.start", start_from_message, Window(10, 10)),
    Route("POST", "/channels/{channel_id}/threads", "thread.start", start_thread, Window(10, 10)),
    Route("GET", _ARCHIVED, "thread.archived", list_archived),
    Route("PUT", _ME, "thread.join", join_thread),
    Route("DELETE", _ME, "thread.leave", leave_thread),
]

"""REST: one channel or thread: read, edit, delete, show typing."""

from __future__ import annotations

from bridge.sandbox.limits import Window
from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.errors import missing_permissions, not_in_a_dm
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.sandbox.shapes import channel_json
from connectors.discord.sandbox.snowflakes import iso_time
from connectors.discord.sandbox.state import Channel, ChannelType, ThreadData

ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


def get_channel(call: Call) -> Answer:
    return channel_json(call.channel(), call.app.user.id)


def edit_channel(call: Call) -> Answer:
    channel = call.channel()
    if channel.guild is None:
        raise not_in_a_dm()
    form = call.form()
    if channel.thread is not None:
        _edit_thread(call, channel, channel.thread, form)
    else:
        call.need(channel, Permission.MANAGE_CHANNELS)
        name = form.text("name", min_length=1, max_length=100)
        topic = form.text("topic", max_length=4096 if channel.type == ChannelType.FORUM else 1024)
        form.done()
        channel.name = name or channel.name
        channel.topic = topic if "topic" in form.body else channel.topic
    return call.changes.change_channel(channel)


def delete_channel(call: Call) -> Answer:
    channel = call.channel()
    if channel.guild is None:  # closes the DM; it opens again with the next message
        return channel_json(channel, call.app.user.id)
    needed = Permission.MANAGE_THREADS if channel.thread else Permission.MANAGE_CHANNELS
    call.need(channel, needed)
    return call.changes.delete_channel(channel)


def start_typing(call: Call) -> Answer:
    channel = call.channel()
    call.need(channel, speak_permission(channel))
    call.changes.type_in(channel, call.app.user)


def speak_permission(channel: Channel) -> Permission:
    """Return the permission to post: in threads SEND_MESSAGES_IN_THREADS."""
    in_thread = channel.thread is not None
    return Permission.SEND_MESSAGES_IN_THREADS if in_thread else Permission.SEND_MESSAGES


def _edit_thread(call: Call, channel: Channel, thread: ThreadData, form: Form) -> None:
    """Edit a thread (docs: resources/channel, modify thread).

    A locked thread needs Manage Threads; without it a bot may unarchive an unlocked thread and
    edit its own.
    """
    if not call.may(channel, Permission.MANAGE_THREADS):
        opens = form.body == {"archived": False} and call.may(channel, speak_permission(channel))
        owns = thread.owner_id == call.app.user.id
        if thread.locked or "locked" in form.body or not (opens or owns):
            raise missing_permissions()
    name = form.text("name", min_length=1, max_length=100)
    minutes = form.choice("auto_archive_duration", ARCHIVE_MINUTES, thread.auto_archive_minutes)
    form.done()
    channel.name = name or channel.name
    thread.auto_archive_minutes = minutes
    thread.locked = form.flag("locked") if "locked" in form.body else thread.locked
    if "archived" in form.body and form.flag("archived") != thread.archived:
        thread.archived = form.flag("archived")
        thread.archive_time = iso_time(call.state.now())


CHANNEL_ROUTES = [
    Route("GET", "/channels/{channel_id}", "channel.get", get_channel),
    Route("PATCH", "/channels/{channel_id}", "channel.edit", edit_channel, Window(5, 15)),
    Route("DELETE", "/channels/{channel_id}", "channel.delete", delete_channel),
    Route("POST", "/channels/{channel_id}/typing", "channel.typing", start_typing, Window(5, 5)),
]

"""chat.*: posting, editing and deleting, with Slack's refusals.

Limits: docs.slack.dev `chat.postMessage` (2026-08).
"""

from __future__ import annotations

import orjson

from connectors.slack.sandbox.content import LONGEST_TEXT, edited_content, new_content
from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.shapes import icons_of, message_json
from connectors.slack.sandbox.state import Channel, Draft, Message, at_of, ts_of
from connectors.slack.sandbox.streaming import is_growing
from connectors.slack.sandbox.text import posted_text

LONGEST_UPDATE = 4_000
LARGEST_METADATA = 16_384  # bytes of JSON; Slack documents the error, but not the number
_TRUNCATED = (
    "[WARN] Your message was truncated but still posted. "
    "The `text` field accepts up to 40,000 characters."
)
SILENT_SUBTYPES = ("channel_join", "channel_leave")


def post_message(call: Call) -> Json:
    channel = destination(call)
    content = new_content(call.args, call.workspace, call.app)
    draft = Draft(call.app.bot_user, app=call.app, **content, **identity(call))
    draft.metadata = metadata(call)
    draft.parent = thread(call, channel)
    draft.broadcast = draft.parent is not None and call.args.flag("reply_broadcast")
    message, posted = call.changes.post(call.workspace, channel, draft)
    raw = posted.raw
    if draft.broadcast and draft.parent is not None:
        root = message_json(channel.messages[draft.parent], call.workspace.id)
        raw = raw | {"root": root}
    return {"channel": channel.id, "ts": message.ts, "message": raw} | _truncation(call)


def post_ephemeral(call: Call) -> Json:
    """Post a message that one person sees; apps receive no event."""
    channel = destination(call)
    user = call.args.required("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    content = new_content(call.args, call.workspace, call.app)
    draft = Draft(call.app.bot_user, app=call.app, **content, **identity(call))
    draft.parent = thread(call, channel)
    return {"message_ts": call.changes.whisper(channel, draft, user).ts}


def update(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel)
    if message.app is not call.app:
        raise ApiError("cant_update_message")
    if is_growing(message, call.changes.now()):
        raise ApiError("streaming_state_conflict")
    if channel.archived:
        raise ApiError("is_archived")
    if len(call.args.text("text")) > LONGEST_UPDATE:
        raise ApiError("msg_too_long")
    fields = _edited_fields(call, message)
    call.changes.edit(call.workspace, channel, message, fields, _editor(message))
    raw = message_json(message, call.workspace.id)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": raw}


def delete(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel)
    if message.app is not call.app or is_growing(message, call.changes.now()):
        raise ApiError("cant_delete_message")
    call.changes.delete(call.workspace, channel, message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel, "message_ts")
    link = f"https://{call.workspace.domain}.slack.com/archives/{channel.id}/p"
    link += message.ts.replace(".", "")
    if message.parent is not None:
        link += f"?thread_ts={ts_of(message.parent)}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def me_message(call: Call) -> Json:
    channel = destination(call)
    text = posted_text(call.args.text("text"))
    if not text.strip():
        raise ApiError("no_text")
    draft = Draft(call.app.bot_user, text, app=call.app, subtype="me_message")
    message, _ = call.changes.post(call.workspace, channel, draft)
    return {"channel": channel.id, "ts": message.ts}


def destination(call: Call) -> Channel:
    """The channel to post to: by its id or name, or by a person's id for the direct messages."""
    target = call.args.required("channel")
    if target in call.workspace.people:
        return call.workspace.direct(call.app.bot_user, target, call.changes.now())
    channel = call.channel(by_name=True)
    if channel.archived:
        raise ApiError("is_archived")
    if call.app.bot_user not in channel.members and "chat:write.public" not in call.app.scopes:
        raise ApiError("not_in_channel")
    return channel


def _truncation(call: Call) -> Json:
    """The warning that Slack adds when it cut a text (api.slack.com changelog, 2018-04)."""
    if len(call.args.text("text")) <= LONGEST_TEXT:
        return {}
    about = {"messages": [_TRUNCATED], "warnings": ["message_truncated"]}
    return {"warning": "message_truncated", "response_metadata": about}


def metadata(call: Call) -> Json | None:
    metadata = call.args.mapping("metadata", "invalid_metadata_format")
    if not metadata:
        return None
    if not isinstance(metadata.get("event_type"), str):
        raise ApiError("invalid_metadata_format")
    if not isinstance(metadata.setdefault("event_payload", {}), dict):
        raise ApiError("invalid_metadata_format")
    if len(orjson.dumps(metadata)) > LARGEST_METADATA:
        raise ApiError("metadata_too_large")
    return metadata


def identity(call: Call) -> Json:
    """Another name and picture for apps with the scope; without it Slack ignores them."""
    if "chat:write.customize" not in call.app.scopes:
        return {}
    args, icons = call.args, None
    if args.has("icon_emoji"):
        emoji = f":{args.text('icon_emoji').strip(':')}:"
        icons = {"emoji": emoji}
    elif args.has("icon_url"):
        icons = icons_of(args.text("icon_url"))
    return {"username": args.text("username") or None, "icons": icons}


def thread(call: Call, channel: Channel) -> int | None:
    """The time of the parent; for a reply, of its parent.

    A valid ts without a message is not an error: Slack posts to the channel (observed by several
    clients, e.g. python-slack-sdk #840).
    """
    thread_ts = call.args.text("thread_ts")
    if not thread_ts:
        return None
    at = at_of(thread_ts)
    if at is None or "." not in thread_ts:
        messages = [f"[ERROR] {thread_ts} is not a valid thread_ts"]
        raise ApiError("invalid_thread_ts", response_metadata={"messages": messages})
    target = channel.messages.get(at)
    if target is None:
        return None
    if target.subtype in SILENT_SUBTYPES:
        raise ApiError("cannot_reply_to_message")
    parent = target if target.parent is None else channel.messages[target.parent]
    if parent.locked:
        raise ApiError("restricted_action_thread_locked")
    return parent.at


def _edited_fields(call: Call, message: Message) -> Json:
    """New text drops the old blocks; attachments and metadata stay unless given (docs)."""
    files = _remaining_files(call, message)
    if not any(call.args.has(name) for name in ("text", "markdown_text", "blocks", "attachments")):
        if "metadata" not in call.args.values and not files:
            raise ApiError("no_text")
        return files | ({"metadata": metadata(call)} if "metadata" in call.args.values else {})
    content = edited_content(call.args, message, call.workspace, call.app)
    if "metadata" in call.args.values:
        content["metadata"] = metadata(call)
    return content | files


def _remaining_files(call: Call, message: Message) -> Json:
    """The files that the message shows after the edit, from `file_ids`."""
    file_ids = call.args.items("file_ids", "invalid_arguments")
    if file_ids is None:
        return {}
    files = [call.workspace.files.get(str(own_id)) for own_id in file_ids]
    if any(file is None or file.app is not call.app for file in files):
        raise ApiError("file_not_found")
    return {"files": [file for file in files if file is not None]}


def _editor(message: Message) -> str:
    borrowed = message.username is not None or message.icons is not None
    return message.app.bot_id if borrowed and message.app else message.user

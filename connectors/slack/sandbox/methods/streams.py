"""chat.startStream, appendStream, stopStream: growing messages, and Slack's refusals.

Sources: docs.slack.dev pages of these methods (2026-08); python-slack-sdk #1859 for their lifetime
and for the refusals of chat.update and chat.delete while a stream is open.
"""

from __future__ import annotations

from typing import Any

from connectors.slack.sandbox.blocks import checked_blocks
from connectors.slack.sandbox.blocks.stored import new_id
from connectors.slack.sandbox.content import LONGEST_MARKDOWN, block_context
from connectors.slack.sandbox.methods import chat
from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.shapes import message_json
from connectors.slack.sandbox.state import Channel, Draft, LiveText, Message
from connectors.slack.sandbox.streaming import is_growing
from connectors.slack.sandbox.text import unescape

MAX_BLOCKS = 50
LONGEST_FIELD = 256
_MODES = ("timeline", "plan", "dense")
_STATUSES = ("pending", "in_progress", "complete", "error")


def start_stream(call: Call) -> Json:
    """Begin a stream, which is always a reply in a thread; in channels it names its recipient."""
    channel = chat.destination(call)
    call.args.required("thread_ts")
    _recipient(call, channel)
    if call.args.text("task_display_mode", "timeline") not in _MODES:
        raise ApiError("invalid_arguments")
    draft = Draft(call.app.bot_user, "", app=call.app, **chat.identity(call))
    draft.parent = chat.thread(call, channel)
    if draft.parent is None:
        raise ApiError("thread_not_found")
    live = LiveText(begun=call.changes.now())
    _take(live, call)
    draft.text, draft.blocks = _final_content(live)
    draft.facts = {"streaming_state": "in_progress"}
    message, _ = call.changes.post(call.workspace, channel, draft)
    message.live = live
    return {"channel": channel.id, "ts": message.ts}


def append_stream(call: Call) -> Json:
    channel, message, live = _growing(call)
    if not (call.args.has("markdown_text") or call.args.has("chunks")):
        raise ApiError("no_text")
    _take(live, call)
    _show(call, channel, message, live)
    return {"channel": channel.id, "ts": message.ts}


def stop_stream(call: Call) -> Json:
    channel, message, live = _growing(call)
    _take(live, call)
    blocks = call.args.items("blocks", "invalid_blocks_format") or []
    if len(blocks) > MAX_BLOCKS:
        raise ApiError("invalid_blocks")
    live.blocks += checked_blocks(blocks, block_context(call.workspace, call.app))
    message.metadata = chat.metadata(call) or message.metadata
    live.state = "completed"
    text, final_blocks = _final_content(live)
    facts = {"streaming_state": "completed"}
    final = {"text": text, "blocks": final_blocks, "facts": facts}
    call.changes.settle(call.workspace, channel, message, final)
    raw = message_json(message, call.workspace.id)
    return {"channel": channel.id, "ts": message.ts, "message": raw}


def _growing(call: Call) -> tuple[Channel, Message, LiveText]:
    channel = call.channel()
    message = call.message(channel)
    if message.app is not call.app:
        raise ApiError("message_not_owned_by_app")
    growing = is_growing(message, call.changes.now())
    if message.live is not None and message.live.state == "stopped":
        raise ApiError("stopped_by_user")
    if message.live is None or not growing:
        raise ApiError("message_not_in_streaming_state")
    return channel, message, message.live


def _recipient(call: Call, channel: Channel) -> None:
    if channel.kind == "im":
        return
    user, team = call.args.text("recipient_user_id"), call.args.text("recipient_team_id")
    if not team:
        raise ApiError("missing_recipient_team_id")
    if not user:
        raise ApiError("missing_recipient_user_id")
    if team != call.workspace.id:
        raise ApiError("team_not_found")
    if user not in call.workspace.people:
        raise ApiError("user_not_found")


def _take(live: LiveText, call: Call) -> None:
    """Add the content of the call: only text, or chunks of every type."""
    chunks = call.args.items("chunks", "invalid_chunks")
    text = call.args.text("markdown_text")
    if text and chunks:
        raise ApiError("cannot_provide_both_markdown_text_and_chunks")
    if text:
        _append(live, text)
    for chunk in chunks or ():
        _take_chunk(live, chunk, call)


def _take_chunk(live: LiveText, chunk: Any, call: Call) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text" and isinstance(chunk.get("text"), str):
        _append(live, chunk["text"])
    elif kind == "task_update":
        _update_task(live, chunk)
    elif kind == "plan_update" and _is_short(chunk.get("title")):
        live.plan = chunk["title"]
    elif kind == "blocks" and isinstance(chunk.get("blocks"), list):
        live.blocks += checked_blocks(chunk["blocks"], block_context(call.workspace, call.app))
        if len(live.blocks) > MAX_BLOCKS:
            raise ApiError("invalid_blocks")
    else:
        raise ApiError("invalid_chunks")


def _update_task(live: LiveText, chunk: Json) -> None:
    """Replace the title and status; append details and output."""
    own_id, title = chunk.get("id"), chunk.get("title")
    fields = [chunk.get(name, "") for name in ("details", "output")]
    is_known = chunk.get("status", "pending") in _STATUSES and isinstance(own_id, str) and own_id
    if not is_known or not _is_short(title) or not all(map(_is_text, fields)):
        raise ApiError("invalid_chunks")
    task = live.tasks.setdefault(str(own_id), {"details": "", "output": ""})
    task |= {"title": title, "status": chunk.get("status", "pending")}
    task["details"] += fields[0]
    task["output"] += fields[1]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_FIELD


def _is_short(value: object) -> bool:
    return _is_text(value) and bool(value)


def _append(live: LiveText, text: str) -> None:
    if len(live.text) + len(text) > LONGEST_MARKDOWN:
        raise ApiError("msg_too_long")
    live.text += text


def _show(call: Call, channel: Channel, message: Message, live: LiveText) -> None:
    text, blocks = _final_content(live)
    call.changes.grow(call.workspace, channel, message, {"text": text, "blocks": blocks})


def _final_content(live: LiveText) -> tuple[str, list[Json]]:
    """The text for notifications, and the blocks that readers see."""
    blocks: list[Json] = [_task_card(own_id, task) for own_id, task in live.tasks.items()]
    if live.text:
        text = unescape(live.text)
        blocks.append({"type": "markdown", "text": text, "block_id": new_id()})
    return live.text, [*blocks, *live.blocks]


def _task_card(own_id: str, task: Json) -> Json:
    card = {"type": "task_card", "task_id": own_id, "block_id": new_id()}
    return card | {"title": task["title"], "status": task["status"]}

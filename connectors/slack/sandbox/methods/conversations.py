"""conversations.*: lists, facts, history, threads, members, joining.

Paging as in docs.slack.dev "Pagination" and `conversations.history` (2026-08).
"""

from __future__ import annotations

from connectors.slack.sandbox.methods.call import ApiError, Call, Json, cursor_of, page, read_cursor
from connectors.slack.sandbox.shapes import channel_json, message_json
from connectors.slack.sandbox.state import Channel, Message

MAX_PER_PAGE = 999
_KINDS = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}


def list_channels(call: Call) -> Json:
    types = call.args.text("types", "public_channel").replace(" ", "").split(",")
    if unknown := [kind for kind in types if kind not in _KINDS]:
        raise ApiError("invalid_types", arg=unknown[0])
    kinds = {_KINDS[kind] for kind in types}
    for kind in kinds:
        call.need({"channel": "channels", "group": "groups"}.get(kind, kind) + ":read")
    channels = [c for c in call.workspace.channels.values() if c.kind in kinds and call.may_see(c)]
    if call.args.flag("exclude_archived"):
        channels = [channel for channel in channels if not channel.archived]
    return _channel_page(call, channels)


def of_user(call: Call) -> Json:
    """users.conversations: the channels in which the bot, or the given person, is a member."""
    user = call.args.text("user") or call.app.bot_user
    kinds = {_KINDS.get(k) for k in call.args.text("types", "public_channel").split(",")}
    channels = [
        channel
        for channel in call.workspace.channels.values()
        if channel.kind in kinds and user in channel.members and call.may_see(channel)
    ]
    return _channel_page(call, channels)


def info(call: Call) -> Json:
    channel = call.channel()
    call.need_kind(channel, "read")
    shape = channel_json(channel, call.app)
    if not call.args.flag("include_num_members"):
        shape.pop("num_members", None)
    return {"channel": shape}


def members(call: Call) -> Json:
    channel = call.channel()
    call.need_kind(channel, "read")
    chosen, cursor = page(call, list(channel.members), 100, MAX_PER_PAGE)
    return {"members": chosen, "response_metadata": {"next_cursor": cursor}}


def join(call: Call) -> Json:
    call.need("channels:join")
    channel = call.channel()
    if channel.kind != "channel":
        raise ApiError("method_not_supported_for_channel_type")
    if channel.archived:
        raise ApiError("is_archived")
    if call.app.bot_user in channel.members:
        warning = "already_in_channel"
        return {
            "channel": channel_json(channel, call.app),
            "warning": warning,
            "response_metadata": {"warnings": [warning]},
        }
    call.changes.join(call.workspace, channel, call.workspace.people[call.app.bot_user])
    return {"channel": channel_json(channel, call.app)}


def leave(call: Call) -> Json:
    channel = call.channel()
    if call.app.bot_user not in channel.members:
        return {"not_in_channel": True}
    if channel.general:
        raise ApiError("cant_leave_general")
    call.changes.leave(call.workspace, channel, call.app.bot_user)
    return {}


def open_direct(call: Call) -> Json:
    """conversations.open with one user, or with the id of an open direct conversation."""
    call.need("im:write")
    if call.args.has("channel"):
        channel = call.channel()
    else:
        users = call.args.required("users").split(",")
        if len(users) > 1:
            raise ApiError("method_not_supported_for_channel_type")
        if users[0] not in call.workspace.people:
            raise ApiError("user_not_found")
        channel = call.workspace.direct(call.app.bot_user, users[0], call.changes.now())
    whole = call.args.flag("return_im")
    return {"channel": channel_json(channel, call.app) if whole else {"id": channel.id}}


def history(call: Call) -> Json:
    """One page, newest first, with a cursor while there are more."""
    channel = _readable(call)
    start, end, cursor = _page_of_history(call, channel)
    ats = reversed(channel.timeline[start:end])
    answer: Json = {
        "messages": [_message(call, channel, channel.messages[at]) for at in ats],
        "has_more": bool(cursor), "pin_count": 0,
        "channel_actions_ts": None, "channel_actions_count": 0,
    }  # fmt: skip
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _page_of_history(call: Call, channel: Channel) -> tuple[int, int, str]:
    """The range of the page in the timeline, and the cursor of the next page.

    With only `oldest` the first page is the one nearest to it, so that a reader can page forward;
    else it is the one nearest to `latest` (docs).
    """
    oldest = call.args.moment("oldest", "invalid_ts_oldest") or 0
    latest = call.args.moment("latest", "invalid_ts_latest")
    limit = call.args.limit(100, MAX_PER_PAGE)
    low, high = channel.between(oldest, latest, inclusive=call.args.flag("inclusive"))
    forward = bool(oldest) and latest is None
    if cursor := call.args.text("cursor"):
        kind, edge = read_cursor(cursor, "after_ts", "next_ts")
        forward = kind == "after_ts"
        after, before = channel.between(edge, edge, inclusive=True)
        low, high = (max(low, after), high) if forward else (low, min(high, before))
    if forward:
        end = min(low + limit, high)
        return low, end, cursor_of("after_ts", channel.timeline[end]) if end < high else ""
    start = max(high - limit, low)
    return start, high, cursor_of("next_ts", channel.timeline[start - 1]) if start > low else ""


def replies(call: Call) -> Json:
    """A thread, oldest first, with its parent at the head of the first page."""
    channel = _readable(call)
    root = channel.find(call.args.required("ts"))
    if root is None:
        raise ApiError("thread_not_found")
    parent = root if root.parent is None else channel.messages[root.parent]
    oldest = call.args.moment("oldest", "invalid_ts_oldest") or 0
    latest = call.args.moment("latest", "invalid_ts_latest")
    within = _within(oldest, latest, inclusive=call.args.flag("inclusive"))
    ats = [parent.at, *(at for at in parent.replies if at in within)]
    chosen, cursor = page(call, ats, 1000, 1000)
    answer: Json = {
        "messages": [_message(call, channel, channel.messages[at]) for at in chosen],
        "has_more": bool(cursor),
    }
    if cursor:
        answer["response_metadata"] = {"next_cursor": cursor}
    return answer


def _readable(call: Call) -> Channel:
    channel = call.channel()
    call.need_kind(channel, "history")
    call.need_member(channel)
    return channel


def _within(oldest: int, latest: int | None, *, inclusive: bool) -> range:
    last = 10**18 if latest is None else latest
    return range(oldest, last + 1) if inclusive else range(oldest + 1, last)


def _message(call: Call, channel: Channel, message: Message) -> Json:
    metadata = call.args.flag("include_all_metadata")
    shape = message_json(message, call.workspace.id, metadata=metadata)
    if message.parent is not None:
        shape["parent_user_id"] = channel.messages[message.parent].user
    return shape


def _channel_page(call: Call, channels: list[Channel]) -> Json:
    chosen, cursor = page(call, channels, 100, 1000)
    return {
        "channels": [channel_json(channel, call.app) for channel in chosen],
        "response_metadata": {"next_cursor": cursor},
    }

"""REST: messages of a bot: history, post, edit, delete."""

from __future__ import annotations

from typing import Any

from bridge.sandbox.limits import Window
from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.checks import Form, read_anchor, read_limit
from connectors.discord.sandbox.drafts import Draft, check_edit, check_not_empty, read_draft
from connectors.discord.sandbox.errors import (
    missing_permissions,
    not_a_poll,
    not_a_text_channel,
    not_in_a_dm,
    not_the_author,
    system_message,
    unknown_message,
)
from connectors.discord.sandbox.events import may_read_content
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.sandbox.routes.channels import speak_permission
from connectors.discord.sandbox.shapes import Json, message_json, user_json, without_content
from connectors.discord.sandbox.state import SPOKEN, Channel, Message, MessageType
from connectors.discord.sandbox.state_changes import reference_to
from connectors.discord.sandbox.text import ALL_MENTIONS, allowed_from

_NONCE_LASTS_S = 300.0
_MOST_REFRESHED = 50


def list_messages(call: Call) -> Answer:
    channel = call.channel()
    _need_text(channel)
    limit = read_limit(call.query, 50, 100)
    before, after, middle = (read_anchor(call.query, k) for k in ("before", "after", "around"))
    if not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        return []
    page = channel.page(limit, before_id=before, after_id=after, around_id=middle)
    return [visible_message(call, message) for message in page]


def get_message(call: Call) -> Answer:
    channel = call.channel(Permission.READ_MESSAGE_HISTORY)
    _need_text(channel)
    return visible_message(call, call.message(channel))


def create_message(call: Call) -> Answer:
    channel = call.channel()
    _need_text(channel)
    call.need(channel, speak_permission(channel))
    form = call.form()
    draft = read_draft(form, call.parts)
    if draft.files:
        call.need(channel, Permission.ATTACH_FILES)
    nonce = _read_nonce(form)
    target = _read_reference(call, channel, form)
    check_not_empty(form, draft)
    if nonce is not None and form.flag("enforce_nonce"):
        return _post_once(call, channel, draft, target, nonce)
    return _post(call, channel, draft, target, nonce)


def edit_message(call: Call) -> Answer:
    channel = call.channel()
    _need_text(channel)
    message = call.message(channel)
    form = call.form()
    if message.author.id != call.app.user.id or message.webhook_id not in (None, call.app.id):
        _suppress_embeds_of_another(call, channel, form)
        return call.changes.edit(message, read_draft(form), ALL_MENTIONS)
    if message.type not in SPOKEN:
        raise system_message()
    draft = read_draft(form, call.parts)
    check_edit(form, draft, message)
    return call.changes.edit(message, draft, allowed_from(draft.allowed_mentions, ALL_MENTIONS))


def delete_message(call: Call) -> Answer:
    channel = call.channel()
    _need_text(channel)
    message = call.message(channel)
    if message.author.id != call.app.user.id:
        if channel.guild is None:
            raise not_in_a_dm()
        if not call.may(channel, Permission.MANAGE_MESSAGES):
            raise missing_permissions()
    if message.type == MessageType.THREAD_STARTER:
        raise system_message()
    call.changes.delete(message)


def delete_many(call: Call) -> Answer:
    channel = call.channel(Permission.MANAGE_MESSAGES)
    if channel.guild is None:
        raise not_in_a_dm()
    form = call.form()
    ids = form.body.get("messages")
    if not isinstance(ids, list) or not 2 <= len(ids) <= 100:
        form.fail("messages", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 100 in length.")
    form.done()
    id_texts = {str(item) for item in ids or ()}
    messages = [channel.messages.get(int(item)) for item in sorted(id_texts) if item.isdecimal()]
    call.changes.delete_many(channel, [message for message in messages if message])


def expire_poll(call: Call) -> Answer:
    channel = call.channel()
    message = call.message(channel)
    if message.poll is None:
        raise not_a_poll()
    if message.author.id != call.app.user.id:
        raise not_the_author()
    call.changes.end_poll(message)
    return visible_message(call, message)


def list_voters(call: Call) -> Answer:
    channel = call.channel(Permission.READ_MESSAGE_HISTORY)
    message = call.message(channel)
    if message.poll is None:
        raise unknown_message()
    voters = message.poll.votes.get(call.id("answer_id"), {})
    return {"users": [user_json(call.state.users[user]) for user in voters]}


def refresh_urls(call: Call) -> Answer:
    """Return fresh addresses for expired or expiring addresses of files."""
    form = call.form()
    urls = form.body.get("attachment_urls")
    if not isinstance(urls, list) or not 1 <= len(urls) <= _MOST_REFRESHED:
        text = f"Must be between 1 and {_MOST_REFRESHED} in length."
        form.fail("attachment_urls", "BASE_TYPE_BAD_LENGTH", text)
    form.done()
    pairs = [(str(url), call.state.cdn.refreshed(str(url))) for url in urls or ()]
    return {"refreshed_urls": [{"original": old, "refreshed": new} for old, new in pairs]}


def visible_message(call: Call, message: Message) -> Json:
    """Return a message as the requesting bot sees it: its own reactions, content if allowed."""
    shape = message_json(message, call.state)
    app = call.app
    for reaction, reactors in zip(
        shape.get("reactions", ()), message.reactions.values(), strict=False
    ):  # fmt: skip
        reaction["me"] = app.user.id in reactors.users
    whole = may_read_content(message, app.user.id, app.id, app.granted)
    return shape if whole else without_content(shape)


def _need_text(channel: Channel) -> None:
    if not channel.takes_messages:
        raise not_a_text_channel()


def _read_nonce(form: Form) -> str | int | None:
    nonce = form.body.get("nonce")
    if isinstance(nonce, bool) or not isinstance(nonce, str | int | None):
        form.fail("nonce", "STRING_TYPE_CONVERT", f'Could not interpret "{nonce}" as string.')
        return None
    if isinstance(nonce, str):
        form.length("nonce", nonce, 0, 25)
    return nonce


def _read_reference(call: Call, channel: Channel, form: Form) -> Message | None:
    """Return the message that is replied to: in the same channel, and readable."""
    reference = form.mapping("message_reference")
    if reference is None:
        return None
    message_id = form.snowflake("message_id", reference)
    place = form.snowflake("channel_id", reference)
    if message_id is None:
        form.fail("message_reference.message_id", "BASE_TYPE_REQUIRED", "This field is required")
        return None
    if not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        text = "Cannot reply without permission to read message history"
        form.fail("message_reference", "REPLIES_CANNOT_REPLY_WITHOUT_READ_MESSAGE_HISTORY", text)
        return None
    message = channel.messages.get(message_id) if place in (None, channel.id) else None
    if message is not None and message.type not in SPOKEN:
        text = "Cannot reply to a system message"
        form.fail("message_reference", "REPLIES_CANNOT_REFERENCE_SYSTEM_MESSAGE", text)
    elif message is None and reference.get("fail_if_not_exists", True):
        form.fail("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
    return message


def _post(
    call: Call, channel: Channel, draft: Draft, target: Message | None, nonce: str | int | None
) -> Json:
    return call.changes.post(
        channel,
        call.app.user,
        draft,
        allowed=allowed_from(draft.allowed_mentions, ALL_MENTIONS),
        reply_to=target,
        reference=reference_to(target) if target else None,
        nonce=nonce,
    )


def _post_once(
    call: Call, channel: Channel, draft: Draft, target: Message | None, nonce: str | int
) -> Json:
    """Post once per nonce: `enforce_nonce` returns the earlier message for a few minutes."""
    key = (channel.id, call.app.user.id, str(nonce))
    now = call.state.now()
    nonces = call.state.nonces
    while nonces and next(iter(nonces.values()))[0] < now - _NONCE_LASTS_S:
        del nonces[next(iter(nonces))]
    if key in nonces:
        earlier = channel.messages.get(nonces[key][1])
        if earlier is None:  # deleted since (discord.py 2.7.1, Messageable.send: NotFound)
            raise unknown_message()
        return message_json(earlier, call.state) | {"nonce": nonce}
    shape = _post(call, channel, draft, target, nonce)
    nonces[key] = (now, int(shape["id"]))
    return shape


def _suppress_embeds_of_another(call: Call, channel: Channel, form: Form) -> None:
    """Edit the flags of another author's message, which needs MANAGE_MESSAGES."""
    named: set[Any] = set(form.body) - {"allowed_mentions"}
    if named != {"flags"}:
        raise not_the_author()
    call.need(channel, Permission.MANAGE_MESSAGES)


_ONE = "/channels/{channel_id}/messages/{message_id}"
_ALL = "/channels/{channel_id}/messages"
_POLL = "/channels/{channel_id}/polls/{message_id}"
MESSAGE_ROUTES = [
    Route("GET", _ALL, "message.list", list_messages, Window(10, 5)),
    Route("POST", _ALL, "message.create", create_message, Window(5, 5)),
    Route("GET", _ONE, "message.get", get_message, Window(10, 5)),
    Route("PATCH", _ONE, "message.edit", edit_message, Window(5, 5)),
    Route("DELETE", _ONE, "message.delete", delete_message, Window(5, 1)),
    Route("POST", _POLL + "/expire", "poll.expire", expire_poll),
    Route("GET", _POLL + "/answers/{answer_id}", "poll.voters", list_voters),
    Route("POST", "/attachments/refresh-urls", "attachment.refresh", refresh_urls),
    Route("POST", _ALL + "/bulk-delete", "message.bulk_delete", delete_many, Window(1, 1)),
]

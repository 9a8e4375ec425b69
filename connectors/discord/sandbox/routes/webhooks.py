"""REST: webhooks: create, read, edit and delete them, and their messages."""

from __future__ import annotations

import secrets

from bridge.sandbox.limits import Window
from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.checks import (
    Form,
    read_address,
    read_anchor,
    read_picture,
    read_webhook_name,
)
from connectors.discord.sandbox.drafts import (
    Draft,
    check_edit,
    check_not_empty,
    has_interactive,
    read_draft,
)
from connectors.discord.sandbox.errors import (
    bad_webhook_token,
    forum_needs_thread,
    missing_permissions,
    threads_only_in_forums,
    too_many_webhooks,
    unknown_channel,
    unknown_message,
    unknown_webhook,
    wrong_channel_type,
)
from connectors.discord.sandbox.interactions import InteractionAnswers
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.routes.interactions import (
    delete_answer,
    edit_answer,
    follow_up,
    get_answer,
)
from connectors.discord.sandbox.routes.threads import read_tags
from connectors.discord.sandbox.shapes import Json, message_json, webhook_json
from connectors.discord.sandbox.state import Channel, ChannelType, Interaction, Message, Webhook
from connectors.discord.sandbox.state_changes import author_of
from connectors.discord.sandbox.text import USERS_ONLY, allowed_from

_PER_CHANNEL = 15
_HOSTS = (ChannelType.TEXT, ChannelType.ANNOUNCEMENT, ChannelType.FORUM)


def create_webhook(call: Call) -> Answer:
    channel = call.channel(Permission.MANAGE_WEBHOOKS)
    if channel.type not in _HOSTS:
        raise wrong_channel_type()
    form = call.form()
    name = read_webhook_name(form, "name", required=True) or ""
    picture = read_picture(form, "avatar")
    form.done()
    if len(call.state.webhooks_in(channel)) >= _PER_CHANNEL:
        raise too_many_webhooks()
    webhook = Webhook(
        id=call.state.ids.next(),
        token="local_" + secrets.token_urlsafe(46)[:62],
        channel=channel,
        name=name,
        avatar=call.state.keep_picture(picture) if picture else None,
        user=call.app.user,
        application_id=call.app.id,
    )
    call.changes.add_webhook(webhook)
    return visible_webhook(call, webhook)


def list_webhooks(call: Call) -> Answer:
    channel = call.channel(Permission.MANAGE_WEBHOOKS)
    return [visible_webhook(call, webhook) for webhook in call.state.webhooks_in(channel)]


def get_webhook(call: Call) -> Answer:
    return visible_webhook(call, _managed(call))


def edit_webhook(call: Call) -> Answer:
    webhook = _managed(call)
    form = call.form()
    place = form.snowflake("channel_id")
    _change(call, webhook, form)
    target = call.state.channels.get(place) if place is not None else None
    if target is not None and target is not webhook.channel:
        call.need(target, Permission.MANAGE_WEBHOOKS)
        call.changes.change_webhooks(webhook.channel)
        webhook.channel = target
    call.changes.change_webhooks(webhook.channel)
    return visible_webhook(call, webhook)


def delete_webhook(call: Call) -> Answer:
    call.changes.delete_webhook(_managed(call))


def get_with_token(call: Call) -> Answer:
    return webhook_json(_webhook(call), call.changes.base_url, user=False)


def edit_with_token(call: Call) -> Answer:
    webhook = _webhook(call)
    _change(call, webhook, call.form())
    call.changes.change_webhooks(webhook.channel)
    return webhook_json(webhook, call.changes.base_url, user=False)


def delete_with_token(call: Call) -> Answer:
    call.changes.delete_webhook(_webhook(call))


def execute(call: Call) -> Answer:
    """Post under any name; without `wait` the response has no body."""
    if (interaction := _interaction(call)) is not None:
        return follow_up(call, interaction)
    webhook = _webhook(call)
    form = call.form()
    draft = _draft(call, webhook, form)
    name = read_webhook_name(form, "username", required=False)
    picture = read_address(form, "avatar_url")
    check_not_empty(form, draft)
    channel, message_id = _target(call, webhook, form, name)
    author = author_of(webhook, name, call.state.keep_picture(picture) if picture else None)
    shape = call.changes.post(
        channel,
        author,
        draft,
        allowed=allowed_from(draft.allowed_mentions, USERS_ONLY),
        webhook=webhook,
        application_id=webhook.application_id,
        message_id=message_id,
    )
    return shape if call.query.get("wait", "").lower() in ("1", "true") else None


def get_own_message(call: Call) -> Answer:
    if (interaction := _interaction(call)) is not None:
        return get_answer(call, interaction)
    return message_json(_own_message(call, _webhook(call)), call.state)


def edit_own_message(call: Call) -> Answer:
    if (interaction := _interaction(call)) is not None:
        return edit_answer(call, interaction)
    webhook = _webhook(call)
    message = _own_message(call, webhook)
    form = call.form()
    draft = _draft(call, webhook, form)
    check_edit(form, draft, message)
    return call.changes.edit(message, draft, allowed_from(draft.allowed_mentions, USERS_ONLY))


def delete_own_message(call: Call) -> Answer:
    if (interaction := _interaction(call)) is not None:
        delete_answer(call, interaction)
    else:
        call.changes.delete(_own_message(call, _webhook(call)))


def _draft(call: Call, webhook: Webhook, form: Form) -> Draft:
    """Return the draft of a webhook's post (docs: resources/webhook, execute webhook).

    Webhooks without an application need `with_components` and may not have interactive components.
    """
    if webhook.application_id is not None:
        return read_draft(form, call.parts)
    if call.query.get("with_components", "").lower() not in ("1", "true"):
        form.body.pop("components", None)
    draft = read_draft(form, call.parts)
    if has_interactive(draft):
        text = "Only webhooks of an application can send interactive components"
        form.fail("components", "WEBHOOK_NOT_OWNED_BY_APPLICATION", text)
    return draft


def visible_webhook(call: Call, webhook: Webhook) -> Json:
    """Return a webhook as a bot sees it, without the token of another app's webhook."""
    own = webhook.application_id in (None, call.app.id)
    return webhook_json(webhook, call.changes.base_url, token=own)


def _interaction(call: Call) -> Interaction | None:
    """Return the interaction if the path has an application's id and an interaction's token."""
    return InteractionAnswers(call.changes).hook(call.id("webhook_id"), call.params["token"])


def _webhook(call: Call) -> Webhook:
    webhook = call.state.webhooks.get(call.id("webhook_id"))
    if webhook is None:
        raise unknown_webhook()
    if not secrets.compare_digest(webhook.token.encode(), call.params["token"].encode()):
        raise bad_webhook_token()
    return webhook


def _managed(call: Call) -> Webhook:
    webhook = call.state.webhooks.get(call.id("webhook_id"))
    if webhook is None:
        raise unknown_webhook()
    permissions = permissions_in(webhook.channel, call.app.user.id)
    if not permissions & Permission.MANAGE_WEBHOOKS:
        raise missing_permissions()
    return webhook


def _change(call: Call, webhook: Webhook, form: Form) -> None:
    name = read_webhook_name(form, "name", required=False)
    picture = read_picture(form, "avatar")
    form.done()
    webhook.name = name or webhook.name
    if "avatar" in form.body:
        webhook.avatar = call.state.keep_picture(picture) if picture else None


def _target(
    call: Call, webhook: Webhook, form: Form, name: str | None
) -> tuple[Channel, int | None]:
    """Return a post's channel: the webhook's, one of its threads, or a new forum post."""
    channel = webhook.channel
    thread_id = read_anchor(call.query, "thread_id")
    if thread_id is not None:
        thread = call.state.channels.get(thread_id)
        if thread is None or thread.thread is None or thread.parent is not channel:
            raise unknown_channel()
        return thread, None
    thread_name = form.text("thread_name", min_length=1, max_length=100)
    form.done()
    if channel.type != ChannelType.FORUM:
        if thread_name:
            raise threads_only_in_forums()
        return channel, None
    if not thread_name:
        raise forum_needs_thread()
    tags = read_tags(form, channel)
    form.done()
    author = author_of(webhook, name, None)
    thread = call.changes.start_thread(channel, author, thread_name, tags=tags)
    return thread, thread.id


def _own_message(call: Call, webhook: Webhook) -> Message:
    thread_id = read_anchor(call.query, "thread_id")
    place = webhook.channel
    if thread_id is not None:
        thread = call.state.channels.get(thread_id)
        if thread is None or thread.parent is not webhook.channel:
            raise unknown_channel()
        place = thread
    message = call.message(place)
    if message.webhook_id != webhook.id:
        raise unknown_message()
    return message


_IN_CHANNEL = "/channels/{channel_id}/webhooks"
_BY_ID = "/webhooks/{webhook_id}"
_BY_TOKEN = "/webhooks/{webhook_id}/{token}"  # noqa: S105  # a path, no secret
_MESSAGE = _BY_TOKEN + "/messages/{message_id}"
_POSTS = Window(5, 2)
_MENDS = Window(5, 2)
WEBHOOK_ROUTES = [
    Route("GET", _IN_CHANNEL, "webhook.list", list_webhooks),
    Route("POST", _IN_CHANNEL, "webhook.create", create_webhook, Window(10, 10)),
    Route("GET", _BY_ID, "webhook.get", get_webhook),
    Route("PATCH", _BY_ID, "webhook.edit", edit_webhook),
    Route("DELETE", _BY_ID, "webhook.delete", delete_webhook),
    Route("GET", _BY_TOKEN, "webhook.get", get_with_token, needs_bot=False),
    Route("PATCH", _BY_TOKEN, "webhook.edit", edit_with_token, needs_bot=False),
    Route("DELETE", _BY_TOKEN, "webhook.delete", delete_with_token, needs_bot=False),
    Route("POST", _BY_TOKEN, "webhook.execute", execute, _POSTS, needs_bot=False),
    Route("GET", _MESSAGE, "webhook.message.get", get_own_message, _MENDS, needs_bot=False),
    Route("PATCH", _MESSAGE, "webhook.message.edit", edit_own_message, _MENDS, needs_bot=False),
    Route(
        "DELETE", _MESSAGE, "webhook.message.delete", delete_own_message, _MENDS, needs_bot=False
    ),
]

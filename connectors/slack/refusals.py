"""Slack's error codes -> our errors, each with advice for a person. Data, and one reader.

Codes: docs.slack.dev, pages of the methods used here (2026-08).
"""

from __future__ import annotations

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    Refused,
    StreamStopped,
    ThreadClosed,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from connectors.slack.capabilities import APP_SCOPES, SCOPES, SCOPES_OF_USES
from connectors.slack.json_values import Json, text_at

_NEW_TOKEN = "install the app again (OAuth & Permissions) and put the new token in its place"  # noqa: S105
_INVITE = "invite the bot there with /invite @its-name"

_REFUSALS: dict[str, tuple[type[Refused], str]] = {
    "account_inactive": (TokenRefused, f"the app was removed from the workspace; {_NEW_TOKEN}"),
    "enterprise_is_restricted": (AuthFailed, "this method is not for Enterprise tokens"),
    "invalid_auth": (TokenRefused, f"the token is wrong; {_NEW_TOKEN}"),
    "missing_scope": (AuthFailed, ""),
    "no_permission": (AuthFailed, "the token lacks a permission; install the app again"),
    "not_allowed_token_type": (
        AuthFailed,
        "this is the wrong kind of token; bot_token begins with xoxb-, app_token with xapp-",
    ),
    "not_authed": (TokenRefused, "no token was given; set bot_token and app_token"),
    "org_login_required": (AuthFailed, "the workspace is being migrated; a person must log in"),
    "team_access_not_granted": (AuthFailed, "the app is not approved for this workspace"),
    "token_expired": (TokenRefused, f"the token has expired; {_NEW_TOKEN}"),
    "token_revoked": (TokenRefused, f"the token was revoked; {_NEW_TOKEN}"),
    "two_factor_setup_required": (AuthFailed, "the workspace wants two-factor log-in set up"),
    "access_denied": (AuthFailed, "the app may not see this; ask an admin of the workspace"),
    "bot_not_found": (NotFound, "no such bot in this workspace"),
    "channel_not_found": (NotFound, f"no such channel, or it is private; {_INVITE}"),
    "message_not_found": (NotFound, "the message is gone"),
    "not_in_channel": (NotFound, f"the bot is not in the channel; {_INVITE}"),
    "team_not_found": (NotFound, "no such workspace"),
    "thread_not_found": (NotFound, "the thread is gone"),
    "user_not_found": (NotFound, "no such person in this workspace"),
    "users_not_found": (NotFound, "no such person in this workspace"),
    "user_not_visible": (NotFound, "the bot may not see this person"),
    "cannot_reply_to_message": (ThreadClosed, "Slack allows no thread under this message"),
    "cant_delete_message": (Refused, "the message is not ours, or deleting is not allowed"),
    "cant_update_message": (Refused, "the message is not ours"),
    "edit_window_closed": (Refused, "the workspace does not allow edits of a message this old"),
    "is_archived": (Refused, "the channel is archived; unarchive it or take it out of its room"),
    "method_deprecated": (Refused, "Slack has retired this method; update uacs-bridge"),
    "msg_too_long": (
        Refused,
        "the text is too long; this is a bug of the bridge, please report it",
    ),
    "restricted_action": (
        Refused,
        "a setting of the workspace forbids it; ask an admin (posting permissions of the channel)",
    ),
    "restricted_action_read_only_channel": (Refused, "the channel is read-only for this bot"),
    "restricted_action_thread_locked": (ThreadClosed, "the thread is locked"),
    "restricted_action_thread_only_channel": (Refused, "the channel takes only thread replies"),
    "message_not_in_streaming_state": (Refused, "the stream has ended"),
    "stopped_by_user": (StreamStopped, "a person pressed Stop"),
    "streaming_state_conflict": (Refused, "the message is being streamed"),
    "unknown_method": (Refused, "there is no such method; check api_url"),
}
# Slack rejects the blocks or attachments; `_messages_of` has the details.
_OF_FORM = (
    "attachment_payload_limit_exceeded",
    "invalid_attachments",
    "invalid_blocks",
    "invalid_blocks_format",
    "msg_blocks_too_long",
    "too_many_attachments",
)
# Slack documents that the work may have been done in part.
_MAYBE_TAKEN = ("fatal_error", "internal_error")
_NOT_NOW = ("accesslimited", "request_timeout", "service_unavailable", "team_added_to_org")


def error_of_code(label: str, code: str, body: Json, *, once: bool) -> PlatformError:
    """The error that an `ok: false` answer with this code means; an unknown code is Refused.

    `label` begins the text. `once`: the request must not be repeated, so an internal error of Slack
    is Unsettled.
    """
    if code in _MAYBE_TAKEN:
        text = f"{label}: Slack had a fault of its own ({code!r})"
        return Unsettled(text, code=code) if once else Unavailable(text, code=code)
    if code in _NOT_NOW:
        return Unavailable(f"{label}: Slack cannot do it now ({code!r})", code=code)
    unnamed = FormRefused if code in _OF_FORM else Refused
    kind, todo = _REFUSALS.get(code, (unnamed, _messages_of(body)))
    if code == "missing_scope":
        todo = _missing_scope(text_at(body, "needed"))
    if code.startswith("restricted_action") and code not in _REFUSALS:
        todo = _REFUSALS["restricted_action"][1]
    return kind(f"{label}: Slack refused with {code!r}" + (f": {todo}" if todo else ""), code=code)


def _missing_scope(needed: str) -> str:
    purpose = {**dict(SCOPES_OF_USES.values()), **SCOPES, **APP_SCOPES}.get(needed)
    use = f" ({purpose})" if purpose else ""
    return f"the token lacks the scope {needed!r}{use}; add it to the app and install it again"


def _messages_of(body: Json) -> str:
    """Slack's messages for developers."""
    metadata = body.get("response_metadata")
    messages = metadata.get("messages") if isinstance(metadata, dict) else None
    return "; ".join(str(message) for message in messages) if isinstance(messages, list) else ""

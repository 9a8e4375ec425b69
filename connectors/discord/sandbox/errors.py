"""Discord's error answers: HTTP status, JSON code, text (docs: opcodes-and-status-codes)."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A request that Discord refuses; `body` is the JSON answer."""

    def __init__(
        self, status: int, code: int, message: str, errors: dict[str, Any] | None = None
    ) -> None:
        self.status = status
        self.code = code
        self.body: dict[str, Any] = {"message": message, "code": code}
        if errors is not None:
            self.body["errors"] = errors
        super().__init__(f"{status} {code}: {message}")


def unauthorized() -> ApiError:
    return ApiError(401, 0, "401: Unauthorized")


def no_route() -> ApiError:
    return ApiError(404, 0, "404: Not Found")


def no_method() -> ApiError:
    return ApiError(405, 0, "405: Method Not Allowed")


def unknown_channel() -> ApiError:
    return ApiError(404, 10003, "Unknown Channel")


def unknown_guild() -> ApiError:
    return ApiError(404, 10004, "Unknown Guild")


def unknown_member() -> ApiError:
    return ApiError(404, 10007, "Unknown Member")


def unknown_message() -> ApiError:
    return ApiError(404, 10008, "Unknown Message")


def unknown_user() -> ApiError:
    return ApiError(404, 10013, "Unknown User")


def unknown_command() -> ApiError:
    return ApiError(404, 10063, "Unknown application command")


def unknown_emoji() -> ApiError:
    return ApiError(400, 10014, "Unknown Emoji")


def unknown_webhook() -> ApiError:
    return ApiError(404, 10015, "Unknown Webhook")


def too_many_webhooks() -> ApiError:
    return ApiError(400, 30007, "Maximum number of webhooks reached (15)")


def too_many_reactions() -> ApiError:
    return ApiError(400, 30010, "Maximum number of reactions reached (20)")


def too_many_pins() -> ApiError:
    return ApiError(400, 30003, "Maximum number of pins reached for the channel (250)")


def too_large() -> ApiError:
    return ApiError(413, 40005, "Request entity too large")


def missing_access() -> ApiError:
    return ApiError(403, 50001, "Missing Access")


def wrong_channel_type() -> ApiError:
    return ApiError(400, 50024, "Cannot execute action on this channel type")


def not_in_a_dm() -> ApiError:
    return ApiError(403, 50003, "Cannot execute action on a DM channel")


def not_the_author() -> ApiError:
    return ApiError(403, 50005, "Cannot edit a message authored by another user")


def empty_message() -> ApiError:
    return ApiError(400, 50006, "Cannot send an empty message")


def cannot_message_user() -> ApiError:
    return ApiError(403, 50007, "Cannot send messages to this user")


def not_a_text_channel() -> ApiError:
    return ApiError(400, 50008, "Cannot send messages in a non-text channel")


def missing_permissions() -> ApiError:
    return ApiError(403, 50013, "Missing Permissions")


def system_message() -> ApiError:
    return ApiError(403, 50021, "Cannot execute action on a system message")


def bad_webhook_token() -> ApiError:
    return ApiError(401, 50027, "Invalid Webhook Token")


def invalid_form(errors: dict[str, Any]) -> ApiError:
    return ApiError(400, 50035, "Invalid Form Body", errors)


def thread_is_archived() -> ApiError:
    return ApiError(400, 50083, "Thread is archived")


def invalid_json() -> ApiError:
    return ApiError(400, 50109, "The request body contains invalid JSON.")


def thread_exists() -> ApiError:
    return ApiError(400, 160004, "A thread has already been created for this message")


def forum_needs_thread() -> ApiError:
    text = "Webhooks posted to forum channels must have a thread_name or thread_id"
    return ApiError(400, 220001, text)


def threads_only_in_forums() -> ApiError:
    return ApiError(400, 220003, "Webhooks can only create threads in forum channels")


def unknown_interaction() -> ApiError:
    return ApiError(404, 10062, "Unknown interaction")


def already_acknowledged() -> ApiError:
    return ApiError(400, 40060, "Interaction has already been acknowledged.")


def not_a_poll() -> ApiError:
    return ApiError(400, 520006, "Cannot expire a non-poll message")


def poll_stays() -> ApiError:
    return ApiError(400, 520003, "Cannot edit a poll message")

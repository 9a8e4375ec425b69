"""Error responses of the connector, with the texts and shapes of Teams.

Codes and statuses: msteams-docs, "Status codes from bot conversational APIs"; the two bodies
without `error` and the BadSyntax texts as seen from the service in 2026-04.
"""

from __future__ import annotations

import math

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from connectors.teams.sandbox.state import Json


class Refusal(Exception):
    """An error response; `body` is sent unchanged."""

    def __init__(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = headers or {}
        super().__init__(f"{status}: {body}")

    def response(self) -> Response:
        return answer(self.body, self.status, self.headers)


class BrokenAnswer(Response):
    """No response: the connection breaks after the request was processed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # uvicorn passes `receive` as a method of its request cycle, which has the transport.
        transport = getattr(getattr(receive, "__self__", None), "transport", None)
        if transport is None:
            raise ConnectionAbortedError("lose_answer: this server's connections cannot be broken")
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


def answer(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    kind = "application/json; charset=utf-8"
    return Response(orjson.dumps(body), status, headers, media_type=kind)


def coded(status: int, code: str, text: str) -> Refusal:
    return Refusal(status, {"error": {"code": code, "message": text}})


def bad_syntax(text: str) -> Refusal:
    return coded(400, "BadSyntax", text)


def bad_argument(text: str) -> Refusal:
    return coded(400, "BadArgument", text)


def unauthorized() -> Refusal:
    return Refusal(401, {"message": "Authorization has been denied for this request."})


def bot_not_registered() -> Refusal:
    return coded(401, "BotNotRegistered", "No registration found for this bot.")


def not_in_roster() -> Refusal:
    text = "The bot is not part of the conversation roster."
    return coded(403, "BotNotInConversationRoster", text)


def not_installed_personally() -> Refusal:
    text = "Bot is not installed in user's personal scope"
    return coded(403, "ForbiddenOperationException", text)


def writes_blocked() -> Refusal:
    return coded(403, "MessageWritesBlocked", "User blocked the conversation with the bot.")


def not_enough_permissions(text: str) -> Refusal:
    return coded(403, "NotEnoughPermissions", text)


def conversation_not_found() -> Refusal:
    return coded(404, "ConversationNotFound", "Conversation not found.")


def activity_not_found() -> Refusal:
    text = "Message does not exist in the thread."
    return coded(404, "ActivityNotFoundInConversation", text)


def member_not_found() -> Refusal:
    return coded(404, "MemberNotFoundInConversation", "Member not found in conversation.")


def attachment_not_found() -> Refusal:
    return coded(404, "AttachmentNotFound", "Attachment not found.")


def no_such_method(method: str) -> Refusal:
    text = f"The requested resource does not support http method '{method}'."
    return Refusal(405, {"message": text})


def too_big() -> Refusal:
    return coded(413, "MessageSizeTooBig", "Message size too large.")


def throttled(seconds: float) -> Refusal:
    refusal = coded(429, "Throttled", "Too many requests.")
    refusal.headers = {"Retry-After": str(max(1, math.ceil(seconds)))}
    return refusal


_BY_STATUS = {
    400: ("BadArgument", "Bad argument."),
    403: ("ForbiddenOperationException", "The bot is not permitted to do this."),
    404: ("ConversationNotFound", "Conversation not found."),
    412: ("PreconditionFailed", "Precondition failed, please try again."),
    413: ("MessageSizeTooBig", "Message size too large."),
    429: ("Throttled", "Too many requests."),
}


def with_status(status: int) -> Refusal:
    """Return Teams' error response with this status, for injected faults."""
    if status == 401:
        return unauthorized()
    return coded(status, *_BY_STATUS.get(status, ("ServiceError", "Internal server error")))

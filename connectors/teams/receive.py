"""Activities over HTTP -> the inbox: our route and token check, then a turn of botbuilder-core.

The order is: token, conversation reference, inbox row, response. Teams repeats an activity once
after a 5xx or 15 s without a response, so the response follows the write to the inbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import structlog
from botbuilder.core import ActivityHandler, BotAdapter, InvokeResponse, TurnContext
from botbuilder.schema import Activity, ConversationReference, ResourceResponse
from msrest.exceptions import (
    DeserializationError,  # pyright: ignore[reportPrivateImportUsage]  # msrest re-exports it
)
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.errors import BridgeError, PlatformError, Unauthorized
from bridge.model import AccountId
from bridge.ports.inbox import Inbox
from bridge.ports.installs import Tenancy
from connectors.teams import ids
from connectors.teams.activity import (
    BotIdentity,
    Json,
    object_of,
    parse_activity,
    raw_of,
    string,
    tenant_of,
)
from connectors.teams.feedback import is_feedback
from connectors.teams.presses import is_press, is_search, matching_options, search_response
from connectors.teams.references import Reference, References, reference_of
from connectors.teams.settings import TeamsSettings
from connectors.teams.tenants import TenantGate
from connectors.teams.validate import TokenValidator, check_belongs

MAX_BODY = 1024 * 1024
_BODY_WITHIN = 10.0  # seconds
# learn.microsoft.com "Universal Actions": Teams shows the text to the person who pressed (2026-06).
_PRESS_ANSWER = {
    "statusCode": 200,
    "type": "application/vnd.microsoft.activity.message",
    "value": "✓",
}
_NOT_IMPLEMENTED = 501

log = structlog.get_logger(__name__)


class Receiver:
    """The messaging endpoint of one account."""

    def __init__(
        self,
        settings: TeamsSettings,
        identity: BotIdentity,
        inbox: Inbox,
        references: References,
        validator: TokenValidator,
        on_activity: Callable[[Json], None],
        on_consent: Callable[[Json], bool],
        cards: Cards = NO_CARDS,
        tenancy: Tenancy | None = None,
    ) -> None:
        self._gate = TenantGate(tenancy, references, self._learn) if tenancy else None
        self._settings = settings
        self._identity = identity
        self._inbox = inbox
        self._references = references
        self._validator = validator
        self._on_activity = on_activity
        self._cards = cards
        self._turns = _Turns(identity.account, on_consent)

    def routes(self) -> list[Route]:
        return [Route("/messages", self._messages, methods=["POST"])]

    async def _messages(self, request: Request) -> Response:
        try:
            activity = await self._authenticated(request)
        except Unauthorized as error:
            log.warning("activity_rejected", account=self._identity.account, reason=str(error))
            return _problem(401, str(error))
        except PlatformError as error:
            log.warning(
                "signing_keys_fetch_failed", account=self._identity.account, reason=str(error)
            )
            return _problem(503, str(error))
        except _Rejected as rejected:
            return _problem(rejected.status, str(rejected))
        if is_search(activity):
            return JSONResponse(search_response(await self._search(activity)))
        return await self._accept(activity)

    async def _search(self, activity: Json) -> list[Json]:
        """Return the options for a search in a menu; searches are not stored in the inbox."""
        tenant = tenant_of(activity) or self._identity.tenant or ""
        conversation = string(object_of(activity, "conversation"), "id")
        channel = ids.channel_ref(tenant, conversation)
        target = string(activity, "replyToId")
        try:
            message = await self._inbox.message_of(channel, target) if target else None
        except BridgeError as error:
            log.warning("search_answer_failed", account=self._identity.account, reason=str(error))
            return []
        if message is None or (token_of := self._cards.live_tokens(message)) is None:
            return []
        return matching_options(
            self._cards.read(message)[0], token_of, object_of(activity, "value")
        )

    async def _authenticated(self, request: Request) -> Json:
        """Return the activity of a request from the Bot Framework to this bot.

        Raises Unauthorized for any other request, PlatformError if the signing keys cannot be
        fetched, _Rejected for a body that is no activity.
        """
        claims = None
        if self._settings.validate_tokens:
            claims = await self._validator.claims(request.headers.get("authorization", ""))
        activity = _activity_of(await _body(request))
        if claims is not None:
            check_belongs(claims, activity)
        tenant = tenant_of(activity)
        if self._settings.tenant_id and tenant.lower() not in (
            "",
            self._settings.tenant_id.lower(),
        ):
            raise Unauthorized(f"The activity comes from tenant {tenant!r}, which is not ours")
        return activity

    async def _accept(self, activity: Json) -> Response:
        """Store the reference, then the inbox row, and return the response.

        The reference comes first, because processing may need it: the activity may be the first
        of its conversation.
        """
        raw = raw_of(activity, self._identity)
        try:
            if self._gate is not None and not await self._gate.admits(activity):
                # Accepted and dropped: Teams repeats what is refused.
                return _taken()
            await self._learn(activity)
            await self._inbox.accept(raw)
            is_invoke = activity.get("type") == "invoke"
            response = await self._turns.answer(activity) if is_invoke else _taken()
        except BridgeError as error:
            log.warning("activity_write_failed", account=self._identity.account, reason=str(error))
            return _problem(500, "The activity could not be stored; send it again")
        self._on_activity(activity)
        return response

    async def _learn(self, activity: Json) -> None:
        """Store the service address of the conversation."""
        learned = reference_of(activity, self._identity.tenant)
        if learned is not None and self._may_answer(learned):
            await self._references.learn(learned)

    def _may_answer(self, reference: Reference) -> bool:
        allowed = self._settings.may_be_called(reference.service_url)
        if not allowed:
            log.warning(
                "service_url_not_allowed",
                account=self._identity.account,
                service_url=reference.service_url,
                todo="add its host to service_hosts if Microsoft documents it",
            )
        return allowed


class _Rejected(Exception):
    """A request without a valid activity; `status` is the HTTP status of the response."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_WITHIN):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise _Rejected(413, f"An activity has at most {MAX_BODY} bytes")
    except (TimeoutError, ClientDisconnect) as error:
        raise _Rejected(408, "The request body is incomplete") from error
    return bytes(body)


def _activity_of(body: bytes) -> Json:
    try:
        activity = parse_activity(body)
    except BridgeError as error:
        raise _Rejected(400, str(error)) from error
    if not string(activity, "type"):
        raise _Rejected(400, "The activity has no type")
    return activity


def _taken() -> Response:
    return Response(status_code=201)


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"error": {"code": str(status), "message": text}}, status)


# --- the turn -----------------------------------------------------------------------------------


class _Turns(BotAdapter):
    """Answers invokes in botbuilder's turn, without network access. Whatever else comes needs no
    turn: it is in the inbox, and the connector sends messages itself."""

    def __init__(self, account: AccountId, on_consent: Callable[[Json], bool]) -> None:
        super().__init__()
        self._account = account
        self._on_consent = on_consent

    async def answer(self, json: Json) -> Response:
        """Return the answer to an invoke."""
        try:
            activity: Activity = Activity().deserialize(json)
        except DeserializationError as error:
            # The inbox has it; only botbuilder's turn is skipped.
            log.warning("activity_unreadable", account=self._account, reason=type(error).__name__)
            return _taken()
        context = TurnContext(self, activity)
        await self.run_pipeline(context, _Bot(self._on_consent, json).on_turn)
        return _invoke_answer(context.turn_state.get(self._INVOKE_RESPONSE_KEY))

    async def send_activities(
        self, context: TurnContext, activities: list[Activity]
    ) -> list[ResourceResponse]:
        """Keep the answer to an invoke for the HTTP response; a turn sends nothing else."""
        for activity in activities:
            if activity.type == "invokeResponse":
                context.turn_state[self._INVOKE_RESPONSE_KEY] = activity
        return [ResourceResponse(id="") for _ in activities]

    async def update_activity(self, context: TurnContext, activity: Activity) -> Any:
        raise NotImplementedError("edits go out through the lanes, not in a turn")

    async def delete_activity(self, context: TurnContext, reference: ConversationReference) -> Any:
        raise NotImplementedError("deletions go out through the lanes, not in a turn")


class _Bot(ActivityHandler):
    """Answers an invoke in its turn."""

    def __init__(self, on_consent: Callable[[Json], bool], json: Json) -> None:
        super().__init__()
        self._on_consent = on_consent
        self._json = json

    async def on_invoke_activity(self, turn_context: TurnContext) -> InvokeResponse:
        """Answer an invoke.

        A press is in the inbox, so it is confirmed; file consent starts an upload. The bridge sends
        no dialogs and sign-ins, so Teams shows an error for those.
        """
        if is_press(self._json) and object_of(object_of(self._json, "value"), "action"):
            return InvokeResponse(status=200, body=_PRESS_ANSWER)
        if is_feedback(self._json) or self._on_consent(self._json):
            return InvokeResponse(status=200)
        return InvokeResponse(status=_NOT_IMPLEMENTED, body={"code": "NotSupported"})


def _invoke_answer(activity: object) -> Response:
    # botbuilder's own adapter answers 500 to every invoke with a body (4.17.1).
    value = activity.value if isinstance(activity, Activity) else None
    status = value.status if isinstance(value, InvokeResponse) else _NOT_IMPLEMENTED
    body = value.body if isinstance(value, InvokeResponse) else None
    return Response(orjson.dumps(body), status, media_type="application/json")


__all__: Sequence[str] = ["MAX_BODY", "Receiver"]

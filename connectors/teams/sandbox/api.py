"""The connector's REST API: requests of bots -> changes of the tenant, and responses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.content.cards.json_tree import check_nesting
from bridge.errors import CodecError
from bridge.sandbox.limits import Window
from bridge.sandbox.platform import SandboxContext
from connectors.teams.sandbox import refusals, shapes
from connectors.teams.sandbox.cards.checks import check_attachments, without_data_uris
from connectors.teams.sandbox.citations import check_citations
from connectors.teams.sandbox.feedback import check_feedback
from connectors.teams.sandbox.reactions import is_type
from connectors.teams.sandbox.refusals import BrokenAnswer, Refusal, answer
from connectors.teams.sandbox.room import Happening, Room
from connectors.teams.sandbox.state import (
    THREAD_MARK,
    Bot,
    Conversation,
    Json,
    Kind,
    Message,
    SharedFile,
    Team,
    split_thread,
)
from connectors.teams.sandbox.streaming import (
    PER_CHAT,
    Growing,
    Step,
    bad_request,
    check_open,
    check_text,
    not_allowed,
    out_of_order,
    step_of,
)
from connectors.teams.sandbox.tokens import Login

# msteams-docs, "Optimize your bot with rate limiting", 2026-10. Edits and deletes count as sends.
SEND = (Window(7, 1), Window(8, 2), Window(60, 30), Window(1800, 3600))
SEND_ALL_BOTS = (Window(14, 1), Window(16, 2))
READ = (Window(14, 1), Window(16, 2), Window(120, 30), Window(3600, 3600))
READ_ALL_BOTS = (Window(28, 1), Window(32, 2))
PER_APP_AND_TENANT = (Window(50, 1),)
VIEWS = ("original", "thumbnail")
MAX_UTF16_BYTES = 100 * 1024
_DEEPEST = 100  # levels of lists and objects
_MAX_BODY = 4 * 1024 * 1024  # bytes with data URIs, which Teams' own limit excludes


@dataclass(frozen=True)
class Call:
    """One authenticated request; `target` is its conversation or team, without the thread."""

    bot: Bot
    target: str
    root: str | None
    item: str  # the activity, the member or the attachment named in the path
    body: Json
    sent: bytes
    query: dict[str, str]
    view: str = ""  # of an attachment; the type of a reaction


Act: TypeAlias = Callable[[Call], Response]


class Connector:
    """Answers requests of bots, and reports every visible change to the room."""

    def __init__(self, context: SandboxContext, room: Room, login: Login) -> None:
        self._context = context
        self._room = room
        self._tenant = room.tenant
        self._login = login
        self._growing: dict[str, Growing] = {}

    def routes(self) -> list[BaseRoute]:
        conversation = "/v3/conversations/{target}"
        table: dict[str, dict[str, tuple[str, Act]]] = {
            f"{conversation}/activities": {"POST": ("activity.post", self._post)},
            f"{conversation}/activities/{{item}}": {
                "POST": ("activity.post", self._post),
                "PUT": ("activity.update", self._update),
                "DELETE": ("activity.delete", self._delete),
            },
            f"{conversation}/activities/{{item}}/reactions/{{view}}": {
                "PUT": ("reaction.add", self._react),
                "DELETE": ("reaction.remove", self._unreact),
            },
            "/v3/conversations": {"POST": ("conversation.create", self._create)},
            f"{conversation}/members": {"GET": ("members.list", self._members)},
            f"{conversation}/members/{{item}}": {"GET": ("members.get", self._member)},
            f"{conversation}/pagedmembers": {"GET": ("members.paged", self._paged_members)},
            "/v3/teams/{target}": {"GET": ("team.get", self._team_details)},
            "/v3/teams/{target}/conversations": {"GET": ("team.channels", self._team_channels)},
            "/v3/attachments/{item}": {"GET": ("attachment.info", self._attachment_info)},
            "/v3/attachments/{item}/views/{view}": {"GET": ("attachment.get", self._attachment)},
        }
        methods = ["GET", "POST", "PUT", "DELETE", "PATCH"]
        return [Route(path, self._endpoint(acts), methods=methods) for path, acts in table.items()]

    def _endpoint(self, acts: dict[str, tuple[str, Act]]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            name, act = acts.get(request.method, ("", None))
            try:
                if act is None:
                    raise refusals.no_such_method(request.method)
                call = self._call(request, self._bot(request), await request.body())
                return await self._run(name, call, act, reading=request.method == "GET")
            except Refusal as refusal:
                self._context.feed.refused("teams", str(refusal.status), name)
                return refusal.response()

        return endpoint

    def _call(self, request: Request, bot: Bot, sent: bytes) -> Call:
        body = _parse(sent) if sent and request.method in ("POST", "PUT") else {}
        params = request.path_params
        item, view = params.get("item", ""), params.get("view", "")
        target = params.get("target") or _channel_of(body) or _first_member(body)
        if not target and (picture := self._room.drive.find(item)):
            target = picture.conversation.id
        bare, root = split_thread(target)
        return Call(bot, bare, root, item, body, sent, dict(request.query_params), view)

    def _bot(self, request: Request) -> Bot:
        """Return the calling bot, by its token or, without authentication, by the address."""
        if app_id := request.path_params.get("app"):
            bot = self._tenant.bots.get(app_id)
            if bot is None or bot.auth:
                raise refusals.unauthorized()
            return bot
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        app_id = self._login.app_of(token) if scheme.lower() == "bearer" else None
        if app_id is None:
            raise refusals.unauthorized()
        if (bot := self._tenant.bots.get(app_id)) is None:
            raise refusals.bot_not_registered()
        return bot

    async def _run(self, name: str, call: Call, act: Act, *, reading: bool) -> Response:
        where = f"teams:{name}:{call.target}"
        kinds = ("status", "rate_limited", "hang", "lose_answer", "late_request", "late_answer")
        if (fault := self._context.faults.take(where, *kinds)) is None:
            self._keep_limits(call, reading)
            return act(call)
        if fault.kind == "status":
            raise refusals.with_status(fault.status)
        if fault.kind == "rate_limited":
            raise refusals.throttled(fault.seconds)
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
            raise refusals.with_status(504)
        if fault.kind == "late_request":
            await asyncio.sleep(fault.seconds)
        answer = act(call)
        if fault.kind == "late_answer":
            await asyncio.sleep(fault.seconds)
        if fault.kind in ("late_request", "late_answer"):
            return answer
        return BrokenAnswer()

    def _keep_limits(self, call: Call, reading: bool) -> None:
        kind = "read" if reading else "send"
        wait = self._context.limits.retry_after(
            time.monotonic(),
            (f"teams:{kind}:{call.bot.app_id}:{call.target}", READ if reading else SEND),
            (f"teams:{kind}:*:{call.target}", READ_ALL_BOTS if reading else SEND_ALL_BOTS),
            (f"teams:app:{call.bot.app_id}:{self._tenant.id}", PER_APP_AND_TENANT),
        )
        if wait is not None:
            raise refusals.throttled(wait)

    def _post(self, call: Call) -> Response:
        conversation = self._conversation(call)
        kind = _check_activity(call.body, conversation.kind)
        root = self._root(conversation, call)
        if conversation.blocked & {call.bot.app_id}:
            raise refusals.writes_blocked()
        if step := step_of(call.body):
            return self._stream(call, conversation, step)
        if kind == "typing":
            self._room.type_in(conversation, call.bot)
            return answer({"id": self._tenant.next_id(time.time())}, 201)
        message = self._add(conversation, call, call.body, call.sent, root)
        return answer({"id": message.id}, 201)

    def _stream(self, call: Call, conversation: Conversation, step: Step) -> Response:
        """Apply one step of a stream."""
        wait = self._context.limits.retry_after(
            time.monotonic(), (f"teams:stream:{call.bot.app_id}:{conversation.id}", PER_CHAT)
        )
        if wait is not None:
            raise refusals.throttled(wait)
        now = time.monotonic()
        if conversation.kind != "personal":
            raise not_allowed()
        if not step.stream:
            return self._begin_stream(call, conversation, step, now)
        growing = self._growing.get(step.stream)
        if growing is None or growing.conversation is not conversation:
            raise bad_request("Unknown streamId")
        check_open(growing, now)
        if step.sequence is not None and step.sequence <= growing.sequence:
            return answer(out_of_order(), 202)
        self._grow(call, growing, step)
        return answer({}, 202)

    def _begin_stream(
        self, call: Call, conversation: Conversation, step: Step, now: float
    ) -> Response:
        for other in self._growing.values():
            other.look(now)
            if other.conversation is conversation and other.state == "open":
                raise not_allowed()
        own_id = self._tenant.next_id(time.time())
        growing = Growing(own_id, conversation, now, sequence=0)
        self._growing[own_id] = growing
        self._grow(call, growing, step)
        return answer({"id": own_id}, 201)

    def _grow(self, call: Call, growing: Growing, step: Step) -> None:
        text = call.body.get("text") or ""
        check_text(growing, step, text)
        growing.sequence = step.sequence or growing.sequence
        if step.kind == "informative":
            growing.informed.append(text)
            return
        growing.text = text
        text_format = call.body.get("textFormat") or "markdown"
        if growing.message is None:
            growing.message = Message(
                growing.id, growing.conversation, call.bot, None, text, text_format, sent=call.sent
            )
            self._tenant.add_message(growing.message)
            self._publish("posted", growing.message)
        else:
            growing.message.text, growing.message.sent = text, call.sent
            growing.message.text_format = text_format
            self._publish("edited", growing.message)
        if step.kind == "final":
            growing.state = "completed"

    def informed(self, conversation: str) -> list[str]:
        """Return the texts of the informative steps in this chat."""
        streams = [
            stream for stream in self._growing.values() if stream.conversation.id == conversation
        ]
        return [text for stream in streams for text in stream.informed]

    def open_streams(self, conversation: str) -> list[str]:
        return [
            own_id
            for own_id, growing in self._growing.items()
            if growing.conversation.id == conversation and growing.state == "open"
        ]

    def stop_stream(self, message: str) -> bool:
        """Stop a stream, as a person does. Return False if the message is no open stream."""
        growing = self._growing.get(message)
        if growing is None or growing.state != "open":
            return False
        growing.state = "cancelled"
        return True

    def _root(self, conversation: Conversation, call: Call) -> str | None:
        """Return the root of the reply chain for a post.

        `;messageid=` names it; without it, the message replied to, if the channel has it. The id
        may be unknown: `continue_conversation` of every SDK invents one.
        """
        if conversation.kind != "channel":
            return None
        if call.root:
            root = self._tenant.message(conversation, call.root)
            if root is None or root.root is not None:
                raise refusals.activity_not_found()
            return root.id
        replied = self._tenant.message(conversation, call.item)
        return (replied.root or replied.id) if replied else None

    def _update(self, call: Call) -> Response:
        message = self._own(call)
        if growing := self._growing.get(message.id):
            growing.look(time.monotonic())
            if growing.state == "cancelled":
                raise not_allowed("Content stream was canceled by user.")
            if growing.state == "open":
                raise not_allowed()
        if _check_activity(call.body, message.conversation.kind) != "message":
            raise refusals.bad_argument("Unknown activity type")
        if call.body.get("text") and call.body.get("attachments"):
            raise refusals.bad_syntax("Activity resulted into multiple skype activities")
        message.text = call.body.get("text") or ""
        message.text_format = call.body.get("textFormat") or "markdown"
        message.sent = call.sent
        message.edited = True
        message.views.clear()
        self._publish("edited", message)
        return answer({"id": message.id})

    def _delete(self, call: Call) -> Response:
        message = self._own(call)
        message.deleted = True
        self._publish("deleted", message)
        return Response()

    def _react(self, call: Call) -> Response:
        return self._change_reaction(call, added=True)

    def _unreact(self, call: Call) -> Response:
        return self._change_reaction(call, added=False)

    def _change_reaction(self, call: Call, *, added: bool) -> Response:
        """Add or remove a reaction of the bot; `view` in the path is its type."""
        if not self._tenant.bots_react:
            raise refusals.no_such_method("PUT" if added else "DELETE")
        message = self._tenant.message(self._conversation(call), call.item)
        if message is None:
            raise refusals.activity_not_found()
        if not is_type(call.view):
            raise refusals.bad_argument("Unknown reaction type")
        self._room.react(message, call.bot, call.view, added=added)
        return Response()

    def _own(self, call: Call) -> Message:
        conversation = self._conversation(call)
        message = self._tenant.message(conversation, call.item)
        if message is None or (call.root and call.root not in (message.id, message.root)):
            raise refusals.activity_not_found()
        if message.author is not call.bot:
            text = "The bot can change only its own messages."
            raise refusals.not_enough_permissions(text)
        return message

    def _create(self, call: Call) -> Response:
        bot_id = _member_id(call.body.get("bot"))
        if bot_id and bot_id not in (call.bot.id, call.bot.app_id):
            raise refusals.bad_argument("The bot does not match the token.")
        if _channel_of(call.body):
            return self._create_thread(call)
        return self._create_chat(call)

    def _create_thread(self, call: Call) -> Response:
        activity = call.body.get("activity")
        if not isinstance(activity, dict) or call.body.get("isGroup") is False:
            raise refusals.bad_syntax("Incorrect conversation creation parameters")
        channel = self._conversation(call)
        if _check_activity(activity, channel.kind) != "message" or channel.kind != "channel":
            raise refusals.bad_syntax("Incorrect conversation creation parameters")
        message = self._add(channel, call, activity, orjson.dumps(activity), None)
        thread = f"{channel.id}{THREAD_MARK}{message.id}"
        return answer({"id": thread, "activityId": message.id}, 201)

    def _create_chat(self, call: Call) -> Response:
        members = call.body.get("members")
        if call.body.get("isGroup") or not isinstance(members, list) or len(members) != 1:
            raise refusals.bad_syntax("Incorrect conversation creation parameters")
        if call.target not in self._tenant.people or _tenant_of(call.body) != self._tenant.id:
            raise refusals.bad_syntax("Bad format of conversation ID")
        chat = self._tenant.personal.get((call.bot.app_id, call.target))
        if chat is None or call.bot.app_id not in chat.installed:
            raise refusals.not_installed_personally()
        activity = call.body.get("activity")
        if isinstance(activity, dict) and _check_activity(activity, chat.kind) == "message":
            self._add(chat, call, activity, orjson.dumps(activity), None)
        return answer({"id": chat.id}, 201)

    def _add(
        self, conversation: Conversation, call: Call, activity: Json, sent: bytes, root: str | None
    ) -> Message:
        text_format = activity.get("textFormat") or "markdown"
        message = Message(
            self._tenant.next_id(time.time()), conversation, call.bot, root,
            activity.get("text") or "", text_format, sent=sent,
        )  # fmt: skip
        self._tenant.add_message(message)
        self._publish("posted", message)
        return message

    def _publish(self, kind: Happening, message: Message) -> None:
        self._room.publish(kind, message)

    def _attachment_info(self, call: Call) -> Response:
        picture = self._picture(call)
        size = picture.stored.size if picture.stored else 0
        views = [{"viewId": view, "size": size} for view in VIEWS]
        return answer({"name": picture.name, "type": picture.content_type, "views": views})

    def _attachment(self, call: Call) -> Response:
        picture = self._picture(call)
        served = self._room.drive.served(picture) if call.view in VIEWS else None
        if served is None:
            raise refusals.attachment_not_found()
        return served

    def _picture(self, call: Call) -> SharedFile:
        """Return a picture in a conversation of the bot, or raise a Refusal."""
        picture = self._room.drive.find(call.item)
        if picture is None or not picture.is_picture:
            raise refusals.attachment_not_found()
        if call.bot.app_id not in picture.conversation.installed:
            raise refusals.not_in_roster()
        return picture

    def _members(self, call: Call) -> Response:
        people = self._conversation(call).people
        return Response(
            orjson.dumps([shapes.member(self._tenant, person) for person in people]),
            media_type="application/json; charset=utf-8",
        )

    def _member(self, call: Call) -> Response:
        for person in self._conversation(call).people:
            if call.item in (person.id, person.aad_id, person.email):
                return answer(shapes.member(self._tenant, person))
        raise refusals.member_not_found()

    def _paged_members(self, call: Call) -> Response:
        people = self._conversation(call).people
        try:
            size = min(max(int(call.query.get("pageSize", "200")), 50), 500)
            start = int(call.query.get("continuationToken") or "0")
        except ValueError as error:
            raise refusals.bad_argument("Invalid paging parameters.") from error
        page: Json = {"members": [shapes.member(self._tenant, p) for p in people[start:][:size]]}
        if start + size < len(people):
            page["continuationToken"] = str(start + size)
        return answer(page)

    def _team_details(self, call: Call) -> Response:
        return answer(shapes.team_details(self._tenant, self._team(call)))

    def _team_channels(self, call: Call) -> Response:
        return answer(shapes.team_channels(self._team(call)))

    def _team(self, call: Call) -> Team:
        if (team := self._tenant.teams.get(call.target)) is None:
            raise refusals.conversation_not_found()
        if call.bot.app_id not in team.apps:
            raise refusals.not_in_roster()
        return team

    def _conversation(self, call: Call) -> Conversation:
        if not call.target.startswith(("19:", "a:")):
            raise refusals.bad_syntax("Bad format of conversation ID")
        conversation = self._tenant.conversations.get(call.target)
        if conversation is None:
            raise refusals.conversation_not_found()
        if call.bot.app_id not in conversation.installed:
            raise refusals.not_in_roster()
        return conversation


def _parse(sent: bytes) -> Json:
    if len(sent) > _MAX_BODY:
        raise refusals.too_big()
    try:
        body = orjson.loads(sent)
    except orjson.JSONDecodeError as error:
        raise refusals.bad_syntax(f"Could not parse the payload: {error}") from error
    if not isinstance(body, dict):
        raise refusals.bad_syntax("Could not parse the payload: not an object")
    if sent.count(b"{") + sent.count(b"[") > _DEEPEST:
        _check_depth(body)
    return body


def _check_depth(body: Json) -> None:
    try:
        check_nesting(body, _DEEPEST)
    except CodecError as error:
        raise refusals.bad_syntax(f"Could not parse the payload: {error}") from error


def _check_activity(activity: Json, where: Kind) -> str:
    """Return the type of a valid activity; raise the Refusal of an invalid one."""
    kind = activity.get("type")
    if kind not in ("message", "typing"):
        raise refusals.bad_argument("Unknown activity type")
    text, attachments = activity.get("text") or "", activity.get("attachments") or []
    if not isinstance(text, str) or not isinstance(attachments, list):
        raise refusals.bad_syntax("Could not parse the payload: invalid activity")
    if kind == "message" and not text.strip() and not attachments:
        needed = "Activity must include non empty 'text' field or at least 1 attachment"
        raise refusals.bad_syntax(needed)
    if attachments:
        check_attachments(activity, where)
    check_feedback(activity)
    check_citations(activity)
    if _utf16_bytes(activity) > MAX_UTF16_BYTES:
        raise refusals.too_big()
    return kind


def _utf16_bytes(activity: Json) -> int:
    """Return the counted size: text, mentions and cards in UTF-16, without data URIs."""
    attachments = activity.get("attachments")
    counted_attachments = without_data_uris(attachments) if attachments else []
    sent = [activity.get("text"), activity.get("entities"), counted_attachments]
    return len(orjson.dumps(sent).decode().encode("utf-16-le"))


def _member_id(account: Any) -> str:
    own_id = account.get("id") if isinstance(account, dict) else None
    return own_id if isinstance(own_id, str) else ""


def _first_member(body: Json) -> str:
    members = body.get("members")
    return _member_id(members[0]) if isinstance(members, list) and members else ""


def _channel_of(body: Json) -> str:
    data = body.get("channelData")
    return _member_id(data.get("channel")) if isinstance(data, dict) else ""


def _tenant_of(body: Json) -> str:
    data = body.get("channelData")
    named = _member_id(data.get("tenant")) if isinstance(data, dict) else ""
    # botbuilder-python writes `tenantID`; the service reads names without regard to case.
    return named or str(body.get("tenantId") or body.get("tenantID") or "")

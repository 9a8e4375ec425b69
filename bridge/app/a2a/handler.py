"""A2A requests -> tasks of a room. The published SDK reads and writes the protocol; this module
alone knows it here, and is imported with the first request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar
from uuid import uuid4

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatusUpdateEvent,
)
from a2a.types.a2a_pb2 import Task as A2ATask
from a2a.types.a2a_pb2 import TaskState as A2AState
from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message as ProtoMessage
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from bridge.agents.a2a.read import part_parts
from bridge.agents.codec.json_values import Json, arr, obj
from bridge.agents.settings import address_of
from bridge.app.a2a.pushes import Pushes, PushTarget
from bridge.app.a2a.tasks_json import state_of, task_json, updates
from bridge.app.a2a.visit import VISIT, Visit
from bridge.app.api.problems import Problem
from bridge.app.tasks.records import TaskRecord
from bridge.app.tasks.tasks import Asked, Task
from bridge.errors import StoreError

_PAGE, _LARGEST_PAGE = 50, 100

_Proto = TypeVar("_Proto", bound=ProtoMessage)


def routes_of(pushes: Pushes, prefix: str) -> list[BaseRoute]:
    """Return the routes of both bindings, of A2A 1.0 and 0.3, below `prefix`."""
    handler, builder = Handler(pushes), _Builder()
    routes: list[BaseRoute] = [
        *create_jsonrpc_routes(handler, prefix, builder, enable_v0_3_compat=True),
        *create_rest_routes(handler, builder, enable_v0_3_compat=True, path_prefix=prefix),
    ]
    # The SDK's mount for tenants stands outside the prefix, and takes the requests of all rooms.
    return [route for route in routes if isinstance(route, Route)]


class _Builder(DefaultServerCallContextBuilder):
    """Hands the visit of a request to the handler."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state[VISIT] = request.scope[VISIT]
        return context


class Handler(RequestHandler):
    """Answers the requests of all programs."""

    def __init__(self, pushes: Pushes) -> None:
        self._pushes = pushes

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> A2ATask | Message:
        visit, record = await self._begun(params, context)
        settings = params.configuration
        with _Refusals():
            if settings.return_immediately:
                task = await visit.tasks.look(record)
            else:
                task = await visit.tasks.settled(record)
        return await _written(visit, task, _history(settings))

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        visit, record = await self._begun(params, context)
        async with aclosing(_events(visit, record)) as events:
            async for event in events:
                yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        visit = _visit(context)
        with _Refusals():
            record = await visit.tasks.get(params.id)
            if (await visit.tasks.look(record)).is_over:
                raise UnsupportedOperationError(message="The task is over; get it instead")
        async with aclosing(_events(visit, record)) as events:
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> A2ATask:
        visit = _visit(context)
        with _Refusals():
            task = await visit.tasks.look(await visit.tasks.get(params.id))
        return await _written(visit, task, _history(params))

    async def on_list_tasks(
        self, params: ListTasksRequest, context: ServerCallContext
    ) -> ListTasksResponse:
        visit = _visit(context)
        size = min(params.page_size or _PAGE, _LARGEST_PAGE)
        found: list[A2ATask] = []
        with _Refusals():
            ids = [one for one in await visit.tasks.ids() if _is_before(one, params.page_token)]
            next_token = ""
            for number, task_id in enumerate(ids):
                if len(found) == size:
                    next_token = ids[number - 1]
                    break
                task = await visit.tasks.look(await visit.tasks.get(task_id))
                if _fits(task, visit, params):
                    found.append(await _written(visit, task, _history(params)))
        return ListTasksResponse(
            tasks=found, next_page_token=next_token, page_size=size, total_size=len(found)
        )

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> A2ATask:
        visit = _visit(context)
        with _Refusals(over=TaskNotCancelableError):
            record = await visit.tasks.cancel(await visit.tasks.get(params.id))
            task = await visit.tasks.look(record)
        return await _written(visit, task, None)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        visit = _visit(context)
        with _Refusals():
            await visit.tasks.get(params.task_id)
            target = _target(visit, params.task_id, params)
            await self._pushes.put(target)
        return _config(target)

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        for target in await self._targets(_visit(context), params.task_id):
            if target.id == params.id or not params.id:
                return _config(target)
        raise TaskNotFoundError(message=f"The task has no address {params.id!r}")

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        targets = await self._targets(_visit(context), params.task_id)
        return ListTaskPushNotificationConfigsResponse(configs=map(_config, targets))

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        for target in await self._targets(_visit(context), params.task_id):
            if target.id == params.id:
                await self._pushes.remove(target)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        del params
        return ParseDict(_visit(context).card, AgentCard())

    async def _targets(self, visit: Visit, task: str) -> list[PushTarget]:
        with _Refusals():
            await visit.tasks.get(task)
            return list(await self._pushes.of(visit.program, visit.room, task))

    async def _begun(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> tuple[Visit, TaskRecord]:
        """Post the message: it begins a task, or goes on with one."""
        visit, message = _visit(context), params.message
        parts = [
            part
            for native in arr(obj(MessageToDict(message)).get("parts"))
            for part in part_parts(native)
        ]
        asked = Asked(visit.agent, parts, message.message_id, message.context_id)
        with _Refusals(over=UnsupportedOperationError):
            if message.task_id:
                record = await visit.tasks.get(message.task_id)
                record = await visit.tasks.go_on(record, asked)
            else:
                record = await visit.tasks.begin(asked)
            config = params.configuration.task_push_notification_config
            if config.url:
                await self._pushes.put(_target(visit, record.id, config))
        return visit, record


async def _events(visit: Visit, record: TaskRecord) -> AsyncGenerator[Event]:
    """Yield the task as it is, and what changes, until it is over or waits for the program."""
    last: Task | None = None
    with _Refusals():
        async with aclosing(visit.tasks.follow(record)) as changes:
            async for task in changes:
                task = await visit.tasks.with_files(task) if task.is_over else task
                if last is None:
                    yield _proto(task_json(task, 0), A2ATask)
                for update in updates(last, task) if last is not None else ():
                    yield _update(update)
                last = task
                if task.state == "waiting":
                    return


def _update(update: Json) -> Event:
    if "artifactUpdate" in update:
        return _proto(obj(update["artifactUpdate"]), TaskArtifactUpdateEvent)
    return _proto(obj(update["statusUpdate"]), TaskStatusUpdateEvent)


def _proto(value: Json, kind: Callable[[], _Proto]) -> _Proto:
    return ParseDict(value, kind())


async def _written(visit: Visit, task: Task, history: int | None) -> A2ATask:
    return _proto(task_json(await visit.tasks.with_files(task), history), A2ATask)


def _visit(context: ServerCallContext) -> Visit:
    visit = context.state[VISIT]
    assert isinstance(visit, Visit)  # noqa: S101 - the route puts it there
    return visit


def _history(
    settings: SendMessageConfiguration | GetTaskRequest | ListTasksRequest,
) -> int | None:
    return settings.history_length if settings.HasField("history_length") else None


def _is_before(task: str, page_token: str) -> bool:
    return not page_token or task < page_token


def _fits(task: Task, visit: Visit, params: ListTasksRequest) -> bool:
    state = A2AState.Value(state_of(task))
    return (
        task.record.agent == visit.agent
        and params.context_id in ("", task.record.context)
        and params.status in (A2AState.TASK_STATE_UNSPECIFIED, state)
        and params.status_timestamp_after.ToNanoseconds() / 1e9 <= task.record.asked
    )


def _target(visit: Visit, task: str, config: TaskPushNotificationConfig) -> PushTarget:
    """The address in a request. Raises InvalidParamsError for what is none."""
    try:
        url = address_of(config.url, query=True)
    except ValueError as error:
        raise InvalidParamsError(message=f"{config.url!r} is no address: it {error}") from None
    return PushTarget(
        program=visit.program, room=visit.room, agent=visit.agent, task=task,
        id=config.id or uuid4().hex, url=url, token=config.token,
        scheme=config.authentication.scheme, credentials=config.authentication.credentials,
    )  # fmt: skip


def _config(target: PushTarget) -> TaskPushNotificationConfig:
    """The address without its credentials."""
    return TaskPushNotificationConfig(
        id=target.id, task_id=target.task, url=target.url, token=target.token
    )


class _Refusals:
    """Turns refusals of the bridge into the protocol's errors; `over` is the one for a task that is
    over."""

    def __init__(self, over: type[A2AError] = UnsupportedOperationError) -> None:
        self._over = over

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        match error:
            case Problem(status=404):
                raise TaskNotFoundError(message=error.detail) from None
            case Problem(status=409):
                raise self._over(message=error.detail) from None
            case Problem():
                raise InvalidParamsError(message=error.text) from None
            case StoreError():
                raise InternalError(message=error.public) from None
            case _:
                return

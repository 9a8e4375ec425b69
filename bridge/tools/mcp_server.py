"""One tool server: it stays connected, reconnects after failures, and its tool list stays
current."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from bridge.content.text.globs import matches
from bridge.errors import BridgeError, ConfigError
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.secrets import SecretSource
from bridge.ports.tools import ApprovalRule, Tool
from bridge.runtime.extras import has_module, how_to_install
from bridge.tools.results import Redaction, result_part
from bridge.tools.settings import ToolServerSettings
from bridge.uacs import ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, ToolAnnotations

    from bridge.tools.call_delivery import CallDelivery

log = structlog.get_logger()

_CONNECT_S = 20.0  # to connect, and to list the tools
_FIRST_WAIT_S = 10.0  # a turn's wait for a server that is connecting
_POLL_S = 60.0  # between two reads of the list without notifications
_STABLE_S = 10.0  # after a connection of this length, reconnect at once
_BACKOFF = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_MOST_PAGES = 20
_MOST_TOOLS = 256
_LONGEST_DESCRIPTION = 4000
_MOST_ATTEMPTS = 2
_CONNECTION_CLOSED = -32000  # the SDK's error code for a closed connection
_NO_METHOD = -32601


def check_installed() -> None:
    """Raise ConfigError if the SDK is not installed."""
    if not has_module("mcp"):
        raise ConfigError(
            f"`tools` needs the SDK of the Model Context Protocol; {how_to_install('mcp')}"
        )


def missing_program(settings: ToolServerSettings) -> str:
    """Return why the server's program cannot be started; empty if it can, or if the server has an
    address."""
    command = settings.command
    if command is None:
        return ""
    if "/" in command:  # relative to the folder that it is started in
        path = (settings.folder or Path()) / command
        executable = path.is_file() and os.access(path, os.X_OK)
        return (
            "" if executable else f"the program {str(path)!r} does not exist or is not executable"
        )
    return "" if shutil.which(command) else f"the program {command!r} is not on the PATH"


class McpServer:
    """A connection to one server. `listed` are its tools under their own names, from the last
    list."""

    def __init__(
        self,
        name: str,
        settings: ToolServerSettings,
        secrets: SecretSource,
        clock: Clock,
        files: Files | None,
    ) -> None:
        self.name = name
        self.problem = ""
        self.listed: tuple[Tool, ...] = ()
        self._listener: Callable[[str], None] = lambda server: None
        self._settings = settings
        self._secrets = secrets
        self._clock = clock
        self._files = files
        self._redaction = Redaction(())
        self._client: Client | None = None
        self._connected = asyncio.Event()
        self._failed = asyncio.Event()
        self._broken = asyncio.Event()
        self._changed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._closing = False

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        """Set the listener, which is called with the server's name when its tools change."""
        self._listener = listener

    def start(self) -> None:
        """Connect, unless that has begun."""
        if self._running is None:
            self._closing = False
            self._running = asyncio.create_task(self._run(), name=f"tools {self.name}")

    @property
    def trouble(self) -> str:
        """Why it has no connection; empty while it has one, or before its first use."""
        return "" if self._client is not None else self.problem

    async def proved(self) -> str:
        """Connect, unless that has begun, and return why it has no connection; empty if it has one.
        Waits up to 20 seconds."""
        self.start()
        await self._wait(_CONNECT_S)
        if self._client is not None:
            return ""
        return self.problem or f"it did not list its tools within {_CONNECT_S:g} s"

    async def close(self) -> None:
        """Disconnect and stop the server's program."""
        if self._running is not None:
            self._closing = True
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
            self._running = None

    async def tools(self) -> Sequence[Tool]:
        """Return its current tools; none while it cannot be reached. Waits up to 10 seconds for a
        first connection."""
        self.start()
        await self._wait(_FIRST_WAIT_S)
        return self.listed if self._client is not None else ()

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        """Make one call; a failure is a result, too. A call that provably did not run is made once
        more, over the next connection."""
        from bridge.tools.call_delivery import CallDelivery

        self.start()
        for _ in range(_MOST_ATTEMPTS):
            await self._wait(_FIRST_WAIT_S)
            if self._client is None:
                break
            delivery = CallDelivery()
            result = await self._call_once(self._client, tool, call, delivery)
            if not delivery.never_ran:
                return result
            self._drop_connection()
        reason = f"The tool was not called: its server {self.name!r} cannot be reached now."
        return _failed(call, reason)

    async def _call_once(
        self, client: Client, tool: Tool, call: ToolCallPart, delivery: CallDelivery
    ) -> ToolResultPart:
        from bridge.tools.call_delivery import current

        context = current.set(delivery)
        try:
            async with asyncio.timeout(self._settings.timeout):
                result = await client.call_tool(tool.own_name, dict(call.arguments))
        except TimeoutError:
            text = f"The tool did not answer within {self._settings.timeout:g} s; it is "
            return _failed(call, text + "unknown whether the tool ran.")
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises is told to the model
            return _failed(call, self._failure_text(error, delivery))
        finally:
            current.reset(context)
        return await self._result(call, result)

    async def _result(self, call: ToolCallPart, native: CallToolResult) -> ToolResultPart:
        fields = native.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await result_part(
            call.id,
            fields.get("content") or (),
            fields.get("structuredContent"),
            is_error=bool(native.is_error),
            limit=self._settings.result_kb * 1024,
            redaction=self._redaction,
            files=self._files,
        )

    async def _wait(self, seconds: float) -> None:
        """Wait until it is connected or the attempt has failed."""
        await _first_of((self._connected, self._failed), seconds)

    def _failure_text(self, error: Exception, delivery: CallDelivery) -> str:
        """Return a failed call's error for the model."""
        from mcp import MCPError

        if isinstance(error, MCPError):
            if error.code == _CONNECTION_CLOSED:
                self._drop_connection()
                return "The connection to the tool broke; it is unknown whether the tool ran."
            message = self._redaction.text(error.message)[:1000]
            if delivery.may_have_run:
                return (
                    f"The tool's server failed with HTTP status {delivery.status} ({message}); "
                    "it is unknown whether the tool ran."
                )
            return f"The tool refused the call: {message}"
        log.warning("tool_failed", server=self.name, error=self._reason(error))
        return f"The tool was called, but its answer cannot be read ({type(error).__name__})."

    def _drop_connection(self) -> None:
        """Mark the connection as broken; later calls wait for the next one."""
        self._client = None
        self._connected.clear()
        self._broken.set()

    async def _run(self) -> None:
        """Connect, and reconnect after failures, until cancelled."""
        failures = 0
        while not self._closing:  # the SDK's transports may swallow a cancellation
            began: float | None = None
            try:
                async with self._open() as client:
                    began = self._clock.monotonic()
                    await self._watch_list(client)
            except Exception as error:  # noqa: BLE001 - the SDK's transports raise all kinds
                self.problem = self._reason(error)
                log.warning("tool_server_failed", server=self.name, error=self.problem)
                if began is None:  # calls wait while a broken connection is restored
                    self._failed.set()
            finally:
                self._client = None
                self._connected.clear()
            lasted = began is not None and self._clock.monotonic() - began > _STABLE_S
            failures = 0 if lasted else failures + 1
            if not self._closing:
                await self._clock.sleep(_BACKOFF[min(failures, len(_BACKOFF) - 1)])

    def _reason(self, error: BaseException) -> str:
        """Return an error for the log, without secrets: a foreign error's text may quote one."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        message = " ".join(self._redaction.text(str(error)).split())[:300]
        if isinstance(error, BridgeError):
            return message
        return f"{type(error).__name__}: {message}" if message else type(error).__name__

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Client]:
        """Yield a connected client, once its tools are listed."""
        from mcp import Client
        from mcp_types import ToolListChangedNotification

        async def hear(message: object) -> None:
            if isinstance(message, ToolListChangedNotification):
                self._changed.set()

        async with AsyncExitStack() as stack:
            self._broken.clear()
            self._changed.clear()
            async with asyncio.timeout(_CONNECT_S):
                transport = await self._transport(stack)
                client = Client(transport, message_handler=hear, cache=None)
                await stack.enter_async_context(client)
                await self._list(client)
            self._client = client
            self.problem = ""
            self._failed.clear()
            self._connected.set()
            log.info("tool_server_connected", server=self.name, tools=len(self.listed))
            yield client

    async def _transport(self, stack: AsyncExitStack) -> Any:
        settings = self._settings
        secret_values: dict[str, str] = {}
        for name, ref in (*settings.env.items(), *settings.headers.items()):
            secret_values[name] = await self._secrets.secret(ref)
        bearer = "" if settings.bearer is None else await self._secrets.secret(settings.bearer)
        self._redaction = Redaction([*secret_values.values(), bearer])
        if settings.command is not None:
            return await self._program(stack, secret_values)
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from bridge.tools.call_delivery import TrackingClient

        if bearer:
            secret_values["Authorization"] = f"Bearer {bearer}"
        timeout = httpx2.Timeout(_CONNECT_S, read=settings.timeout + _POLL_S)
        http = TrackingClient(secret_values, timeout)
        await stack.enter_async_context(http)
        return _tracked(streamable_http_client(settings.url or "", http_client=http))

    async def _program(self, stack: AsyncExitStack, env: Mapping[str, str]) -> Any:
        """Return the transport of a program. Its standard error goes to a file and never into the
        bridge's log, because it may contain anything."""
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        settings = self._settings
        path = settings.stderr or Path(os.devnull)
        stderr = await asyncio.to_thread(path.open, "a", encoding="utf-8")
        stack.callback(stderr.close)
        parameters = StdioServerParameters(
            command=settings.command or "", args=list(settings.args), env=dict(env),
            cwd=settings.folder, encoding_error_handler="replace",
        )  # fmt: skip
        return self._watched(_tracked(stdio_client(parameters, errlog=stderr)))

    @asynccontextmanager
    async def _watched(self, transport: Any) -> AsyncGenerator[Any]:
        """Yield the same streams, and notice the end of the program even if nothing is sent to
        it."""
        import anyio

        async with transport as (read, write), anyio.create_task_group() as group:
            sender, receiver = anyio.create_memory_object_stream[Any](0)

            async def pass_on() -> None:
                async with sender:
                    async for message in read:
                        await sender.send(message)
                self._drop_connection()

            group.start_soon(pass_on)
            try:
                yield receiver, write
            finally:
                group.cancel_scope.cancel()
                receiver.close()

    async def _watch_list(self, client: Client) -> None:
        """Read the list when it changes and once a minute, until the connection breaks."""
        listening = asyncio.create_task(self._listen(client), name=f"tools of {self.name}")
        try:
            while not self._broken.is_set():
                await self._wait_for_change()
                if not self._broken.is_set():
                    self._changed.clear()
                    async with asyncio.timeout(_CONNECT_S):
                        await self._list(client)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        self.problem = "the connection broke"
        log.warning("tool_server_lost", server=self.name)

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of the list. A server need not report them: one that refuses, in
        whatever words, is polled. If the subscription ends, the connection may have ended, too:
        reading the list shows that."""
        from mcp.client.subscriptions import ListenNotSupportedError

        for wait in chain(_BACKOFF[1:], repeat(_BACKOFF[-1])):
            was_subscribed = False
            try:
                async with client.listen(tools_list_changed=True) as subscription:
                    was_subscribed = True
                    async for _ in subscription:
                        self._changed.set()
            except ListenNotSupportedError:
                return  # an older protocol sends notifications without a subscription
            except Exception as error:  # noqa: BLE001 - the SDK raises all kinds
                log.debug("tool_server_notices_failed", server=self.name, error=self._reason(error))
            self._changed.set()
            if not was_subscribed:
                return
            await self._clock.sleep(wait)

    async def _wait_for_change(self) -> None:
        """Wait up to a minute until the list changes or the connection breaks."""
        await _first_of((self._changed, self._broken), _POLL_S)

    async def _list(self, client: Client) -> None:
        from mcp import MCPError

        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            try:
                page = await client.list_tools(cursor=cursor)
            except MCPError as error:
                if error.code != _NO_METHOD:
                    raise
                log.warning("tool_server_empty", server=self.name)
                break
            tools += [self._tool(tool) for tool in page.tools if self._offers(tool.name)]
            cursor = page.next_cursor
            if cursor is None or len(tools) >= _MOST_TOOLS:
                break
        if len(tools) > _MOST_TOOLS:
            log.warning("tools_omitted", server=self.name, tools=len(tools) - _MOST_TOOLS)
        before, self.listed = self.listed, tuple(tools[:_MOST_TOOLS])
        if self.listed != before:
            self._listener(self.name)

    def _offers(self, own_name: str) -> bool:
        settings = self._settings
        is_allowed = _is_named(own_name, settings.allow)
        return is_allowed and not _is_named(own_name, settings.deny)

    def _tool(self, native: Any) -> Tool:
        schema = self._redaction.value(native.input_schema)
        description = self._redaction.text(native.description or native.title or "")
        return Tool(
            name="",  # the toolbox sets it, unique among all servers
            server=self.name,
            own_name=native.name,
            description=description[:_LONGEST_DESCRIPTION],
            parameters=schema if isinstance(schema, dict) else {},
            approval=self._rule()
            if needs_approval(self._settings, native.name, native.annotations)
            else None,
        )

    def _rule(self) -> ApprovalRule:
        settings = self._settings
        return ApprovalRule(settings.approvers, settings.quorum, settings.approval_minutes * 60)


def needs_approval(
    settings: ToolServerSettings, own_name: str, hints: ToolAnnotations | None
) -> bool:
    """Return whether a call needs an approval. A tool without hints may do anything."""
    match settings.approve:
        case "always":
            return True
        case "never":
            return False
        case "hints":
            read_only = hints is not None and hints.read_only_hint is True
            harmless = hints is not None and hints.destructive_hint is False
            return not (read_only or harmless)
        case globs:
            return _is_named(own_name, globs)


def _is_named(own_name: str, globs: Sequence[str]) -> bool:
    """Return whether a glob matches the name. A `/` in a tool's name is an ordinary character that
    `*` matches."""
    plain = own_name.replace("/", "\x1f")
    return any(matches(glob.replace("/", "\x1f"), plain) for glob in globs)


def _failed(call: ToolCallPart, text: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)


@asynccontextmanager
async def _tracked(transport: Any) -> AsyncGenerator[Any]:
    """Yield the same streams, and record which calls the transport accepts."""
    from bridge.tools.call_delivery import TrackedWrites

    async with transport as (read, write):
        yield read, TrackedWrites(write)


async def _first_of(events: Sequence[asyncio.Event], seconds: float) -> None:
    """Wait until one of the events is set, at most for this many seconds."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)

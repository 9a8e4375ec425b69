"""One server of tools: connected, connected anew when that breaks, its list kept up to date."""

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

    from bridge.tools.sending import CallDelivery

log = structlog.get_logger()

_CONNECT_S = 20.0  # how long a server may take to be there, and to tell its tools
_FIRST_WAIT_S = 10.0  # how long a turn waits for a server that is just connecting
_LOOK_S = 60.0  # how often the list is read anew where nobody tells of changes
_STEADY_S = 10.0  # a connection that lasted so long is made anew at once
_BACKOFF = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_MOST_PAGES = 20
_MOST_TOOLS = 256
_LONGEST_DESCRIPTION = 4000
_MOST_SENDINGS = 2
_GONE = -32000  # how the SDK says that the connection ended
_NO_METHOD = -32601


def check_installed() -> None:
    """Raises ConfigError where the SDK is not there."""
    if not has_module("mcp"):
        raise ConfigError(
            f"`tools` needs the SDK of the Model Context Protocol; {how_to_install('mcp')}"
        )


def missing_program(settings: ToolServerSettings) -> str:
    """Why the program of the server cannot be started; empty where it can, or there is none."""
    command = settings.command
    if command is None:
        return ""
    if "/" in command:  # the system looks for it in the folder that it is started in
        path = (settings.folder or Path()) / command
        found = path.is_file() and os.access(path, os.X_OK)
        return "" if found else f"there is no program {str(path)!r} that may be run"
    return "" if shutil.which(command) else f"there is no program {command!r} on the PATH"


class McpServer:
    """`listed` are its tools under their own names, as they were last told."""

    def __init__(
        self,
        name: str,
        settings: ToolServerSettings,
        tokens: SecretSource,
        clock: Clock,
        files: Files | None,
    ) -> None:
        self.name = name
        self.problem = ""
        self.listed: tuple[Tool, ...] = ()
        self._listener: Callable[[str], None] = lambda server: None
        self._settings = settings
        self._tokens = tokens
        self._clock = clock
        self._files = files
        self._redaction = Redaction(())
        self._client: Client | None = None
        self._connected = asyncio.Event()
        self._failed = asyncio.Event()
        self._broken = asyncio.Event()
        self._changed = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._closing = False

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        """From now on `listener` is called with the server's name when its tools are others."""
        self._listener = listener

    def start(self) -> None:
        """Connect, if that has not begun."""
        if self._keeping is None:
            self._closing = False
            self._keeping = asyncio.create_task(self._keep(), name=f"tools {self.name}")

    @property
    def trouble(self) -> str:
        """Why it has no connection; empty while it has one, or nobody has asked for it."""
        return "" if self._client is not None else self.problem

    async def proved(self) -> str:
        """Connect, if that has not begun, and say why it has no connection; empty where it has."""
        self.start()
        await self._wait(_CONNECT_S)
        if self._client is not None:
            return ""
        return self.problem or f"it did not tell its tools within {_CONNECT_S:g} s"

    async def close(self) -> None:
        if self._keeping is not None:
            self._closing = True
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
            self._keeping = None

    async def tools(self) -> Sequence[Tool]:
        """What it has now; nothing while it cannot be reached."""
        self.start()
        await self._wait(_FIRST_WAIT_S)
        return self.listed if self._client is not None else ()

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        """One call; what goes wrong is a result, too. A call that the server provably has not run
        is made once more, over the next connection."""
        from bridge.tools.sending import CallDelivery

        self.start()
        for _ in range(_MOST_SENDINGS):
            await self._wait(_FIRST_WAIT_S)
            if self._client is None:
                break
            sending = CallDelivery()
            result = await self._called(self._client, tool, call, sending)
            if not sending.never_ran:
                return result
            self._lose()
        why = f"The tool was not called: its server {self.name!r} cannot be reached now."
        return _failed(call, why)

    async def _called(
        self, client: Client, tool: Tool, call: ToolCallPart, sending: CallDelivery
    ) -> ToolResultPart:
        from bridge.tools.sending import current

        context = current.set(sending)
        try:
            async with asyncio.timeout(self._settings.timeout):
                found = await client.call_tool(tool.own_name, dict(call.arguments))
        except TimeoutError:
            text = f"The tool did not answer within {self._settings.timeout:g} s; nobody knows "
            return _failed(call, text + "whether it did what it was asked.")
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises is told to the model
            return _failed(call, self._told(error, sending))
        finally:
            current.reset(context)
        return await self._result(call, found)

    async def _result(self, call: ToolCallPart, found: CallToolResult) -> ToolResultPart:
        told = found.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await result_part(
            call.id,
            told.get("content") or (),
            told.get("structuredContent"),
            is_error=bool(found.is_error),
            limit=self._settings.result_kb * 1024,
            redaction=self._redaction,
            files=self._files,
        )

    async def _wait(self, seconds: float) -> None:
        """Until it is connected, or the attempt has failed."""
        await _first_of((self._connected, self._failed), seconds)

    def _told(self, error: Exception, sending: CallDelivery) -> str:
        """A fault of a call, for the model."""
        from mcp import MCPError

        if isinstance(error, MCPError):
            if error.code == _GONE:
                self._lose()
                return (
                    "The connection to the tool broke; nobody knows whether it did what it was "
                    "asked."
                )
            said = self._redaction.text(error.message)[:1000]
            if sending.may_have_run:
                return (
                    f"The tool's server failed with HTTP status {sending.status} ({said}); nobody "
                    "knows whether the tool did what it was asked."
                )
            return f"The tool refused the call: {said}"
        log.warning("tool_failed", server=self.name, error=self._reason(error))
        return f"The tool was called, but its answer cannot be read ({type(error).__name__})."

    def _lose(self) -> None:
        """The connection is no good any more; whoever calls now waits for the next one."""
        self._client = None
        self._connected.clear()
        self._broken.set()

    # --- the connection -----------------------------------------------------------------------

    async def _keep(self) -> None:
        """Until cancelled: connected, or on the way to it."""
        failures = 0
        while not self._closing:  # the SDK's transports may swallow a cancellation
            began: float | None = None
            try:
                async with self._open() as client:
                    began = self._clock.monotonic()
                    await self._stay(client)
            except Exception as error:  # noqa: BLE001 - the SDK's transports raise all kinds
                self.problem = self._reason(error)
                log.warning("tool_server_failed", server=self.name, error=self.problem)
                if began is None:  # a connection that broke is made anew: calls wait for that
                    self._failed.set()
            finally:
                self._client = None
                self._connected.clear()
            lasted = began is not None and self._clock.monotonic() - began > _STEADY_S
            failures = 0 if lasted else failures + 1
            if not self._closing:
                await self._clock.sleep(_BACKOFF[min(failures, len(_BACKOFF) - 1)])

    def _reason(self, error: BaseException) -> str:
        """In words for the log. What a foreign error says may quote a secret."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        said = " ".join(self._redaction.text(str(error)).split())[:300]
        if isinstance(error, BridgeError):
            return said
        return f"{type(error).__name__}: {said}" if said else type(error).__name__

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Client]:
        """Connected, with its tools known."""
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
        secrets: dict[str, str] = {}
        for name, ref in (*settings.env.items(), *settings.headers.items()):
            secrets[name] = await self._tokens.secret(ref)
        bearer = "" if settings.bearer is None else await self._tokens.secret(settings.bearer)
        self._redaction = Redaction([*secrets.values(), bearer])
        if settings.command is not None:
            return await self._program(stack, secrets)
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from bridge.tools.sending import TrackingClient

        if bearer:
            secrets["Authorization"] = f"Bearer {bearer}"
        timeout = httpx2.Timeout(_CONNECT_S, read=settings.timeout + _LOOK_S)
        http = TrackingClient(secrets, timeout)
        await stack.enter_async_context(http)
        return _noted(streamable_http_client(settings.url or "", http_client=http))

    async def _program(self, stack: AsyncExitStack, env: Mapping[str, str]) -> Any:
        """A program, and a file for its standard error: it may say anything there, so that never
        comes into our log."""
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
        return self._watched(_noted(stdio_client(parameters, errlog=stderr)))

    @asynccontextmanager
    async def _watched(self, transport: Any) -> AsyncGenerator[Any]:
        """The same streams; the end of the program is noticed although nobody asks it anything."""
        import anyio

        async with transport as (read, write), anyio.create_task_group() as group:
            passing, passed = anyio.create_memory_object_stream[Any](0)

            async def pass_on() -> None:
                async with passing:
                    async for message in read:
                        await passing.send(message)
                self._lose()

            group.start_soon(pass_on)
            try:
                yield passed, write
            finally:
                group.cancel_scope.cancel()
                passed.close()

    async def _stay(self, client: Client) -> None:
        """Until the connection breaks. The list is read anew when it changes, and now and then."""
        listening = asyncio.create_task(self._listen(client), name=f"tools of {self.name}")
        try:
            while not self._broken.is_set():
                await self._news()
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
        """Hear of changes. A server need not tell of them: one that refuses to, in whatever words,
        is asked for its list now and then. Where the telling ends, the connection may have ended
        with it: reading the list finds out."""
        from mcp.client.subscriptions import ListenNotSupportedError

        for wait in chain(_BACKOFF[1:], repeat(_BACKOFF[-1])):
            heard = False
            try:
                async with client.listen(tools_list_changed=True) as subscription:
                    heard = True
                    async for _ in subscription:
                        self._changed.set()
            except ListenNotSupportedError:
                return  # an older protocol: what it tells comes by itself
            except Exception as error:  # noqa: BLE001 - the SDK raises all kinds
                log.debug("tool_server_notices_failed", server=self.name, error=self._reason(error))
            self._changed.set()
            if not heard:
                return
            await self._clock.sleep(wait)

    async def _news(self) -> None:
        """Wait until the list changes or the connection breaks, but not for ever."""
        await _first_of((self._changed, self._broken), _LOOK_S)

    # --- its tools ----------------------------------------------------------------------------

    async def _list(self, client: Client) -> None:
        from mcp import MCPError

        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            try:
                page = await client.list_tools(cursor=cursor)
            except MCPError as error:
                if error.code != _NO_METHOD:
                    raise
                log.warning("tool_server_empty", server=self.name)
                break
            found += [self._tool(tool) for tool in page.tools if self._offers(tool.name)]
            cursor = page.next_cursor
            if cursor is None or len(found) >= _MOST_TOOLS:
                break
        if len(found) > _MOST_TOOLS:
            log.warning("tools_omitted", server=self.name, tools=len(found) - _MOST_TOOLS)
        before, self.listed = self.listed, tuple(found[:_MOST_TOOLS])
        if self.listed != before:
            self._listener(self.name)

    def _offers(self, own_name: str) -> bool:
        settings = self._settings
        allowed = _is_named(own_name, settings.allow)
        return allowed and not _is_named(own_name, settings.deny)

    def _tool(self, told: Any) -> Tool:
        schema = self._redaction.value(told.input_schema)
        description = self._redaction.text(told.description or told.title or "")
        return Tool(
            name="",  # given among all servers
            server=self.name,
            own_name=told.name,
            description=description[:_LONGEST_DESCRIPTION],
            parameters=schema if isinstance(schema, dict) else {},
            approval=self._rule()
            if needs_approval(self._settings, told.name, told.annotations)
            else None,
        )

    def _rule(self) -> ApprovalRule:
        settings = self._settings
        return ApprovalRule(settings.approvers, settings.quorum, settings.approval_minutes * 60)


def needs_approval(
    settings: ToolServerSettings, own_name: str, hints: ToolAnnotations | None
) -> bool:
    """Whether somebody must allow a call. What says nothing of itself may do anything."""
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
    """A `/` in a tool's name is a character like any other: no star ends at it."""
    plain = own_name.replace("/", "\x1f")
    return any(matches(glob.replace("/", "\x1f"), plain) for glob in globs)


def _failed(call: ToolCallPart, text: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)


@asynccontextmanager
async def _noted(transport: Any) -> AsyncGenerator[Any]:
    """The same streams; which calls are taken from us is noted."""
    from bridge.tools.sending import TrackedWrites

    async with transport as (read, write):
        yield read, TrackedWrites(write)


async def _first_of(events: Sequence[asyncio.Event], seconds: float) -> None:
    """Until one of them is set, but no longer than that."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)

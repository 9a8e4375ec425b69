"""All tool servers behind one port: unique tool names, and calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from bridge.content.messages.tool_names import tool_names
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.secrets import SecretSource
from bridge.ports.tools import Tool, ToolProvider, ToolUse
from bridge.tools.mcp_server import McpServer, check_installed
from bridge.tools.settings import ToolServerSettings
from bridge.uacs import ToolCallPart, ToolResultPart


def open_toolbox(
    settings: Mapping[str, ToolServerSettings],
    secrets: SecretSource,
    clock: Clock,
    files: Files | None,
    own: Mapping[str, ToolProvider] = MappingProxyType({}),
) -> McpToolbox:
    """Return the toolbox, with tools of the bridge's `own` by the names of their servers. A server
    is connected when its tools or its state are first requested. Raises ConfigError if there are
    servers but no SDK."""
    if settings:
        check_installed()

    def server(name: str, tool_server_settings: ToolServerSettings) -> McpServer:
        return McpServer(name, tool_server_settings, secrets, clock, files)

    return McpToolbox(settings, server, own)


@dataclass(frozen=True)
class McpServers:
    """Servers by name, with the settings that each was opened with."""

    settings: Mapping[str, ToolServerSettings]
    servers: Mapping[str, McpServer]


class McpToolbox:
    """Servers of the Model Context Protocol."""

    def __init__(
        self,
        settings: Mapping[str, ToolServerSettings],
        server: Callable[[str, ToolServerSettings], McpServer],
        own: Mapping[str, ToolProvider] = MappingProxyType({}),
    ) -> None:
        self._server = server
        self._own = own
        self._listener: Callable[[str], None] = lambda server: None
        self.settings = dict(settings)
        self.servers = {name: self._open(name, value) for name, value in settings.items()}

    def _open(self, name: str, settings: ToolServerSettings) -> McpServer:
        server = self._server(name, settings)
        server.tell_changes(lambda server: self._listener(server))
        return server

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        """Set the listener, which is called with the name of a server whose tools changed."""
        self._listener = listener

    def prepare(self, settings: Mapping[str, ToolServerSettings]) -> McpServers:
        """Return the servers for these settings; unchanged ones keep their connections. Nothing
        changes before `use`. Raises ConfigError as `open_toolbox` does."""
        if settings:
            check_installed()
        servers = {
            name: self.servers[name]
            if self.settings.get(name) == value
            else self._open(name, value)
            for name, value in settings.items()
        }
        return McpServers(dict(settings), servers)

    def use(self, prepared: McpServers) -> list[McpServer]:
        """Replace the servers. Returns those that the caller must close."""
        servers_in_use = prepared.servers.values()
        ended = [server for server in self.servers.values() if server not in servers_in_use]
        self.settings, self.servers = dict(prepared.settings), dict(prepared.servers)
        return ended

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        """Return the tools of these servers, under unique names."""
        servers_named = [
            server for name in dict.fromkeys(servers) if (server := self._named(name)) is not None
        ]
        lists = await asyncio.gather(*(server.tools() for server in servers_named))
        tools = [tool for listed in lists for tool in listed]
        names = tool_names((tool.server, tool.own_name) for tool in tools)
        return [replace(tool, name=name) for tool, name in zip(tools, names, strict=True)]

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        """Make a call; a failure is a result, too."""
        server = self._named(tool.server)
        if server is None:
            text = f"The tool was not called: there is no server {tool.server!r} any more."
            return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)
        if isinstance(server, McpServer):
            return await server.call(tool, call)
        return await server.call(tool, call, use)

    def _named(self, name: str) -> McpServer | ToolProvider | None:
        return self.servers.get(name) or self._own.get(name)

    async def close(self) -> None:
        """Close all servers."""
        await asyncio.gather(*(server.close() for server in self.servers.values()))

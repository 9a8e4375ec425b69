"""The shipped contract suites, run with the Discord connector against the local Discord."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import http_exceptions

from bridge.model import Call
from bridge.testing.connector_contract import ConnectorContract, ConnectorRig
from connectors.discord.decode import KINDS
from connectors.discord.rest import translated
from connectors.discord.sdk import discord
from tests.connectors.discord.conftest import Local

_REQUEST = SimpleNamespace(real_url="http://localhost/")
_FIELDS = {
    "status": 400, "code": 0, "text": "", "message": "", "retry_after": 1.0,
    "request_info": _REQUEST, "headers": {}, "history": (),
    "_conn_key": SimpleNamespace(host="localhost", port=80, ssl=True, is_ssl=False),
    "_os_error": OSError(111, "refused"), "_certificate_error": ValueError("expired"),
    "_path": "/socket", "_description": "no address", "_url": "nowhere",
    "expected": b"", "got": b"", "host": "localhost", "port": 443,
}  # fmt: skip


def errors_of(*roots: type[BaseException]) -> Iterator[BaseException]:
    """Return an instance of each exception class below these."""
    for root in roots:
        error = root.__new__(root)
        error.__dict__ |= _FIELDS
        error.args = (1002, "broken")
        yield error
        for below in root.__subclasses__():
            yield from errors_of(below)


def sdk_errors() -> list[BaseException]:
    import_module("discord.ext.commands")  # its errors are below DiscordException
    roots = (
        discord.DiscordException,
        discord.gateway.ReconnectWebSocket,
        discord.gateway.WebSocketClosure,
        aiohttp.ClientError,
        aiohttp.WebSocketError,
        http_exceptions.HttpProcessingError,
        TimeoutError,
        ConnectionError,
    )
    return list(errors_of(*roots))


class TestDiscordContract(ConnectorContract):
    @pytest.fixture
    async def rig(self, local: Local) -> AsyncIterator[ConnectorRig]:
        connector = local.connector()
        await local.start(connector)
        channel = local.channel
        yield ConnectorRig(
            connector=connector,
            channel=channel,
            inbox=local.inbox,
            say=local.say,
            standing=lambda: local.discord.messages(channel.workspace, channel.channel),
            fault=local.context.faults.add,
            post_route=f"discord:webhook.execute:{channel.channel}",
            event_route=f"discord:event:{channel.channel}",
            stop=local.stop,
            translate=translated,
            sdk_errors=sdk_errors(),
            kinds=[*KINDS, "SOMETHING_NEW"],
            fields={"tasks": ("Receiver", "_Gateway", "Client", "DiscordWebSocket")},
        )
        await local.stop()

    def pings(self, call: Call) -> bool:
        return call.body.get("allowed_mentions") != {"parse": []}

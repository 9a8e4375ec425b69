"""`check` says what many processes lack."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.app.checks.cluster import needs_of_cluster
from bridge.app.settings.file import settings_of
from bridge.app.settings.keys import KEY_VARIABLE
from bridge.ports.findings import Finding
from tests.free_ports import free_port

WHOLE: dict[str, Any] = {
    "store": {"url": "postgresql://u@db.example/b", "blobs": {"url": "s3://bucket"}},
    "cluster": {"nats": "nats://nats.example:4222"},
}


async def found(settings: dict[str, Any], *, offline: bool = True) -> list[Finding]:
    return await needs_of_cluster(settings_of(settings), offline=offline)


async def test_nothing_is_said_of_a_process_that_has_its_store_for_itself() -> None:
    assert await found({}) == []


async def test_a_whole_configuration_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "k")

    assert [finding.level for finding in await found(WHOLE)] == ["ok"]


async def test_each_thing_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    findings = await found({"cluster": {}})

    assert [finding.level for finding in findings] == ["error", "warning", "warning", "warning"]
    todos = [finding.todo for finding in findings]
    for todo, words in zip(
        todos, ("set store.url", "store.blobs", KEY_VARIABLE, "cluster.nats"), strict=True
    ):
        assert words in todo


async def test_a_server_that_is_away_is_a_warning_and_another_one_an_error() -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HELLO\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    away = {**WHOLE, "cluster": {"nats": f"nats://127.0.0.1:{free_port()}"}}
    other = {**WHOLE, "cluster": {"nats": f"nats://127.0.0.1:{port}"}}

    assert (await found(away, offline=False))[-1].level == "warning"
    assert (await found(other, offline=False))[-1].level == "error"
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    ("nats", "words"),
    [
        ("http://nats.example", "no address of a NATS server"),
        ("nats://token@nats.example:4222", "this file never contains secrets"),
    ],
)
def test_an_address_that_cannot_be_is_refused(nats: str, words: str) -> None:
    with pytest.raises(Exception, match=words):
        settings_of({"cluster": {"nats": nats}})

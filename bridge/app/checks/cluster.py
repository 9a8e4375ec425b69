"""A configuration for many processes that share a store -> what they need beside it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from urllib.parse import urlsplit

from bridge.app.settings.keys import KEY_VARIABLE
from bridge.app.settings.sections import Settings
from bridge.ports.findings import Finding
from bridge.runtime.extras import has_module, how_to_install

_CONNECT_SECONDS = 3.0
_PORT = 4222


async def needs_of_cluster(settings: Settings, *, offline: bool) -> list[Finding]:
    """Return what is found; nothing for a process that has its store for itself."""
    own = settings.cluster
    if own is None:
        return []
    findings: list[Finding] = []
    if settings.store.url is None:
        todo = "set store.url; `uacs-bridge db copy` brings the file there"
        findings.append(Finding("error", "many processes cannot share a store in a file", todo))
    if settings.store.blobs is None:
        todo = "set store.blobs to a bucket, unless all processes see the same folder"
        findings.append(
            Finding("warning", "files are in a folder beside store.path, which others need", todo)
        )
    if not os.environ.get(KEY_VARIABLE):
        key = settings.store.path.with_suffix(".key")
        todo = f"set {KEY_VARIABLE} to the same key in all processes, unless they share that file"
        findings.append(Finding("warning", f"the key of the store is in {key}", todo))
    if own.nats is None:
        todo = "set cluster.nats, so that processes call one another at once"
        findings.append(
            Finding("warning", "what one process leaves for another waits up to a second", todo)
        )
        return findings
    if not has_module("nats"):
        todo = how_to_install("cluster")
        return [*findings, Finding("error", "the package nats-py is missing", todo)]
    if offline:
        return [*findings, Finding("ok", f"{own.nats} was not tried")]
    return [*findings, await _reachable(own.nats)]


async def _reachable(server: str) -> Finding:
    parts = urlsplit(server)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORT)
            greeting = await reader.readline()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
    except (OSError, TimeoutError) as error:
        todo = "start it, or correct cluster.nats; without it processes look every half second"
        return Finding("warning", f"{server} does not answer: {error or 'no time left'}", todo)
    if not greeting.startswith(b"INFO "):
        return Finding("error", f"{server} is no NATS server", "correct cluster.nats")
    return Finding("ok", f"{server} answers")

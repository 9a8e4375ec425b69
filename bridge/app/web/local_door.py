"""The local door of a running bridge: what must be written while the store belongs to it.

A running bridge writes `<store>.door` (0600): its address and a random token. Whoever may read
that file may read the store as well; with the token, commands reach `/admin/...` of its own web
server. Without the file, or the token, there is nothing behind that address.
"""

from __future__ import annotations

import json
import os
import secrets
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError

_DEADLINE = 10.0  # seconds that a command waits for the bridge
_MOST = 10_000_000  # bytes of an answer


@dataclass
class Door:
    """The bridge's side: `token` opens `/admin/...` while the file is there."""

    token: str
    path: Path | None = None

    @classmethod
    def new(cls) -> Door:
        return cls(secrets.token_urlsafe(32))

    def open(self, store: Path, url: str) -> None:
        """Say where we are, to whoever may read the file."""
        path = door_path(store)
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        facts = {"pid": os.getpid(), "url": url, "token": self.token}
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(facts, file)
        part.replace(path)
        self.path = path

    def close(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def admits(self, authorization: str) -> bool:
        return secrets.compare_digest(authorization.encode(), f"Bearer {self.token}".encode())


@dataclass(frozen=True)
class RunningBridge:
    """A command's side: a bridge that runs with this store."""

    pid: int
    url: str
    token: str

    def ask(
        self, path: str, body: Mapping[str, Any] | None = None, seconds: float = _DEADLINE
    ) -> dict[str, Any]:
        """GET, or POST where there is a body. Raises BridgeError with the bridge's own words."""
        request = urllib.request.Request(  # noqa: S310 - the bridge wrote the address itself
            f"{self.url}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=seconds) as answer:
                return json.loads(answer.read(_MOST))
        except urllib.error.HTTPError as error:
            raise BridgeError(_reason(error)) from None
        except (OSError, ValueError) as error:
            raise BridgeError(
                f"The running bridge at {self.url} does not answer: {error}"
            ) from None


def door_path(store: Path) -> Path:
    return store.with_name(f"{store.name}.door")


def running_bridge(store: Path) -> RunningBridge | None:
    """The bridge that runs with this store: its door is there, and it answers."""
    try:
        facts = json.loads(door_path(store).read_text("utf-8"))
        found = RunningBridge(int(facts["pid"]), str(facts["url"]), str(facts["token"]))
        found.ask("/admin/")
    except (OSError, ValueError, KeyError, TypeError, BridgeError):
        return None  # none, not ours to read, or left there by a crash
    return found


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(_MOST))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"The running bridge answered {error.code}"

"""How commands reach the running bridge, which alone may write its store.

A running bridge writes `<store>.control` (mode 0600): its address and a random token. Anybody who
can read that file can also read the store. With the token, commands call `/admin/...` of the
bridge's web server; without it, that path answers 404.
"""

from __future__ import annotations

import glob
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

_TIMEOUT = 10.0  # seconds that a command waits for the bridge
_MAX_ANSWER = 10_000_000  # bytes
_FORMER_SUFFIX = ".door"  # of the file that the version before writes


@dataclass
class ControlAccess:
    """The bridge's side: requests with `token` may use `/admin/...` while the file exists."""

    token: str
    path: Path | None = None

    @classmethod
    def new(cls) -> ControlAccess:
        return cls(secrets.token_urlsafe(32))

    def open(self, store: Path, url: str, process: str = "") -> None:
        """Write the file; `process`: which of many that share the store. Removes one that a bridge
        of the version before left in a crash."""
        _with_suffix(store, _FORMER_SUFFIX).unlink(missing_ok=True)
        path = control_path(store, process)
        for other in _of_many(store):
            if not _is_running(other):  # a crash left it
                other.unlink(missing_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        facts = {"pid": os.getpid(), "url": url, "token": self.token}
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(facts, file)
        part.replace(path)
        self.path = path

    def close(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def admits(self, authorization: str) -> bool:
        """Whether this `Authorization` header has the token."""
        return secrets.compare_digest(authorization.encode(), f"Bearer {self.token}".encode())


@dataclass(frozen=True)
class RunningBridge:
    """A command's side: a bridge that runs with the command's store."""

    pid: int
    url: str
    token: str

    def ask(
        self, path: str, body: Mapping[str, Any] | None = None, seconds: float = _TIMEOUT
    ) -> dict[str, Any]:
        """The JSON answer to a GET, or to a POST of `body`, within `seconds`.

        Raises BridgeError with the text of a refusal, or if the bridge does not answer.
        """
        request = urllib.request.Request(  # noqa: S310 - the bridge wrote the address itself
            f"{self.url}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=seconds) as answer:
                return json.loads(answer.read(_MAX_ANSWER))
        except urllib.error.HTTPError as error:
            raise BridgeError(_reason(error)) from None
        except (OSError, ValueError) as error:
            raise BridgeError(
                f"The running bridge at {self.url} does not answer: {error}"
            ) from None


def control_path(store: Path, process: str = "") -> Path:
    """The file beside the store that a running bridge writes; `process`: which of many."""
    return _with_suffix(store, f".{process}.control" if process else ".control")


def _of_many(store: Path) -> list[Path]:
    """The files of processes that share a store."""
    return sorted(store.parent.glob(f"{glob.escape(store.name)}.*.control"))


def _is_running(path: Path) -> bool:
    """Whether the process that wrote a file is there."""
    try:
        os.kill(int(json.loads(path.read_text("utf-8"))["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _with_suffix(store: Path, suffix: str) -> Path:
    return store.with_name(f"{store.name}{suffix}")


def running_bridge(store: Path) -> RunningBridge | None:
    """The bridge that runs with this store and answers, also one of the version before."""
    paths = (control_path(store), *_of_many(store), _with_suffix(store, _FORMER_SUFFIX))
    return next((bridge for path in paths if (bridge := _answering(path)) is not None), None)


def _answering(path: Path) -> RunningBridge | None:
    """The bridge that wrote this file, if it answers."""
    try:
        facts = json.loads(path.read_text("utf-8"))
        bridge = RunningBridge(int(facts["pid"]), str(facts["url"]), str(facts["token"]))
        bridge.ask("/admin/")
    except (OSError, ValueError, KeyError, TypeError, BridgeError):
        return None  # no file, one of another user, or one that a crash left
    return bridge


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(_MAX_ANSWER))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"The running bridge answered {error.code}"

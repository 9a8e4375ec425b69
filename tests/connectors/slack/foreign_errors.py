"""One instance of every exception class that slack_sdk, slack_bolt and aiohttp can raise."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import ssl
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import aiohttp
import slack_bolt.error
import slack_sdk.errors
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

_KEY = ConnectionKey("slack.test", 443, True, True, None, None, None)
_REQUEST = aiohttp.RequestInfo(URL("https://slack.test/"), "POST", CIMultiDictProxy(CIMultiDict()))
_REFUSED = ConnectionRefusedError(111, "refused")
_MADE: dict[str, tuple[Any, ...]] = {
    "SlackApiError": ("no", {"ok": False, "error": "channel_not_found"}),
    "BoltUnhandledRequestError": (),
    "UnixClientConnectorError": ("/run/slack", _KEY, _REFUSED),
    "ClientConnectorCertificateError": (_KEY, ssl.CertificateError("expired")),
    "ServerFingerprintMismatch": (b"a", b"b", "slack.test", 443),
    "InvalidURL": ("https://[",),
    "InvalidUrlClientError": ("https://[",),
    "InvalidUrlRedirectClientError": ("https://[",),
}


def every_foreign_error() -> list[BaseException]:
    """aiohttp's client errors, the errors of slack_sdk and Bolt, and those of the
    standard library."""
    own = [TimeoutError("late"), _REFUSED, ConnectionResetError(104, "reset"), OSError("no route")]
    return [
        *own,
        *(_made(kind) for kind in sorted(_classes(), key=lambda error_class: error_class.__name__)),
    ]


def _classes() -> set[type[BaseException]]:
    names = ["aiohttp.client_exceptions", "slack_sdk.errors", "slack_bolt.error"]
    inner = pkgutil.walk_packages(slack_bolt.error.__path__, "slack_bolt.error.")
    modules = [importlib.import_module(name) for name in [*names, *(info.name for info in inner)]]
    return {error_class for module in modules for error_class in _raised_by(module)}


def _raised_by(module: ModuleType) -> Iterator[type[BaseException]]:
    for _name, member in inspect.getmembers(module, inspect.isclass):
        if issubclass(member, Exception) and member.__module__.startswith(("aiohttp", "slack_")):
            yield member


def _made(kind: type[BaseException]) -> BaseException:
    name = kind.__name__
    if name == "BoltUnhandledRequestError":
        error = kind.__new__(kind)
        error.args = ("unhandled",)
        return error
    if name == "SlackTokenRotationError":
        inner = slack_sdk.errors.SlackApiError(*_MADE["SlackApiError"])
        return kind(inner)
    if name in _MADE:
        return kind(*_MADE[name])
    if issubclass(kind, aiohttp.ClientResponseError):
        return kind(_REQUEST, (), status=502, message="bad gateway")
    if issubclass(kind, aiohttp.ClientConnectorError):
        return kind(_KEY, _REFUSED)
    return kind("something")

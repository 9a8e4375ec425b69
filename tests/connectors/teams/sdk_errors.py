"""Every exception class that botbuilder, botframework, msrest and aiohttp's client can raise."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
from aiohttp.client_exceptions import UnixClientConnectorError
from aiohttp.http_exceptions import (
    BadStatusLine,
    ContentLengthError,
    HttpBadRequest,
    HttpProcessingError,
    InvalidHeader,
    LineTooLong,
)
from msrest.exceptions import HttpOperationError, ValidationError
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

_PACKAGES = ("botbuilder.core", "botbuilder.schema", "botframework.connector")
_MODULES = ("msrest.exceptions", "aiohttp.client_exceptions", "aiohttp.http_exceptions")
_FROM = ("botbuilder.", "botframework.", "msrest.", "aiohttp.client", "aiohttp.http")
_NOT_OURS = ("WSMessageTypeError",)  # of WebSockets, which Teams does not have


def sdk_errors() -> list[BaseException]:
    """One instance of each."""
    return [_instance(kind) for kind in sorted(_classes(), key=lambda kind: kind.__qualname__)]


def _classes() -> set[type[BaseException]]:
    """Yield the exception classes; names with an underscore never leave the SDK."""
    return {
        value
        for module in _modules()
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and value.__module__.startswith(_FROM)
        and not name.startswith("_")
        and name not in _NOT_OURS
    }


def _modules() -> Iterator[ModuleType]:
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(module.name)
    for name in _MODULES:
        yield importlib.import_module(name)


def _instance(kind: type[BaseException]) -> BaseException:
    """Return an instance with the arguments that its library uses, or else with one text."""
    for base, arguments in _arguments():
        if issubclass(kind, base):
            with contextlib.suppress(TypeError):
                return kind(*arguments)
    return kind("went wrong")


def _arguments() -> list[tuple[type[BaseException], tuple[Any, ...]]]:
    url = URL("http://127.0.0.1/")
    request = aiohttp.RequestInfo(url, "POST", CIMultiDictProxy(CIMultiDict[str]()), url)
    key = SimpleNamespace(host="127.0.0.1", port=80, ssl=True, is_ssl=False)
    broken = OSError(5, "went wrong")
    answer = SimpleNamespace(status_code=500, reason="went wrong", text="", raise_for_status=id)
    return [
        (UnixClientConnectorError, ("/socket", key, broken)),
        (aiohttp.ClientConnectorCertificateError, (key, ValueError("went wrong"))),
        (aiohttp.ClientConnectorError, (key, broken)),
        (aiohttp.ServerFingerprintMismatch, (b"1", b"2", "127.0.0.1", 80)),
        (aiohttp.ClientResponseError, (request, ())),
        (aiohttp.InvalidURL, (url,)),
        (ContentLengthError, ("went wrong",)),
        (LineTooLong, ("went wrong", "8190")),
        (InvalidHeader, (b"went wrong",)),
        (BadStatusLine, ("went wrong",)),
        (ValidationError, ("required", "text", None)),
        (HttpBadRequest, ("went wrong",)),
        (HttpProcessingError, ()),
        (HttpOperationError, (lambda *_: SimpleNamespace(error=None), answer)),
    ]

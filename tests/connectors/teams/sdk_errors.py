"""Every exception class that botbuilder, botframework, msrest and aiohttp's client can raise."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
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
    """Names with an underscore are the SDK's own control flow and never leave it."""
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
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(found.name)
    for name in _MODULES:
        yield importlib.import_module(name)


def _instance(kind: type[BaseException]) -> BaseException:
    """Each with the arguments that its library gives it; the rest with one text."""
    error = kind.__new__(kind)
    for name, value in _fields().items():
        try:
            setattr(error, name, value)
        except AttributeError:
            continue
    error.args = ("went wrong",)
    return error


def _fields() -> dict[str, Any]:
    url = URL("http://127.0.0.1/")
    request = aiohttp.RequestInfo(url, "POST", CIMultiDictProxy(CIMultiDict[str]()), url)
    key = SimpleNamespace(host="127.0.0.1", port=80, ssl=True, is_ssl=False)
    return {
        "status": 500,
        "message": "went wrong",
        "headers": CIMultiDict[str](),
        "request_info": request,
        "history": (),
        "_conn_key": key,
        "_os_error": OSError(5, "went wrong"),
        "_certificate_error": ValueError("went wrong"),
        "_path": "/socket",
        "host": "127.0.0.1",
        "port": 80,
        "expected": b"1",
        "got": b"2",
        "response": SimpleNamespace(status_code=500),
        "error": None,
        "inner_exception": None,
    }

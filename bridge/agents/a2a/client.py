"""The SDK's client as the agent needs it: JSON in, JSON events out, errors of the bridge's tree.

Only this module knows the SDK, whose import takes seconds, so only agents of this kind import
it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping
from contextlib import aclosing, contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import orjson
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import parse_agent_card
from a2a.client.client import Client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    SendMessageRequest,
    Task,
)
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message
from pydantic import JsonValue

from bridge.agents.a2a.lenient import lenient_client
from bridge.agents.codec.json_values import Json, obj
from bridge.agents.transport.api_errors import api_error
from bridge.agents.transport.http import Http, Request, bearer, translated
from bridge.errors import AgentError, NotFound, Refused, Unavailable, Unsettled

for _name in ("a2a", "a2a.client"):
    logging.getLogger(_name).setLevel(logging.WARNING)

BINDINGS = ["JSONRPC", "HTTP+JSON"]
CARD = "/.well-known/agent-card.json"
_LONGEST = 100  # characters of a name or a version
OLD_CARD = "/.well-known/agent.json"  # before A2A 0.3


class Peer:
    """A remote agent, for the length of one turn."""

    def __init__(self, client: Client, headers: Mapping[str, str], card: Json) -> None:
        self._client = client
        self._headers = headers
        self.card = card
        """Its name and its versions, as its card tells them."""

    async def send(self, params: Json) -> AsyncGenerator[Json]:
        """Yield the events of an answer (StreamResponse); an agent that does not stream sends one.
        Raises PlatformError and AgentError as `sdk_errors` does."""
        message = {"messageId": str(uuid4()), **obj(params.get("message"))}
        with sdk_errors():
            request = ParseDict({**params, "message": message}, SendMessageRequest())
            async with aclosing(_closable(self._client.send_message(request))) as events:
                async for event in events:
                    yield as_json(event)

    async def task(self, task_id: str) -> Json:
        """Return the current state of a task. Raises as `send`."""
        with sdk_errors():
            task = await self._client.get_task(GetTaskRequest(id=task_id))
        return {"task": as_json(task)}

    async def cancel(self, task_id: str) -> None:
        """Cancel a task. Raises as `send`."""
        with sdk_errors():
            await self._client.cancel_task(CancelTaskRequest(id=task_id))


def _closable(events: object) -> AsyncGenerator[Message]:
    """Return the SDK's async generator, which is typed as an iterator."""
    return events  # pyright: ignore[reportReturnType]


async def open_peer(
    base_url: str, key: str, hosts: Collection[str], http: Http, *, streaming: bool
) -> Peer:
    """Read the agent card and choose a binding. The key goes only to the host of `base_url` and to
    `hosts`, whatever the card says. Raises AgentError for a card that is unreadable or offers no
    allowed interface."""
    own = urlsplit(base_url)
    body = await _card(base_url, bearer(key), http)
    try:
        card = parse_agent_card(body)
    except (ParseError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise AgentError("its agent card cannot be read") from error
    allowed_interfaces = [
        supported_interface
        for supported_interface in card.supported_interfaces
        if _is_allowed(supported_interface.url, own.netloc, hosts)
    ]
    if not any(interface.protocol_binding in BINDINGS for interface in allowed_interfaces):
        raise AgentError(_no_interface(card, own.netloc))
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(allowed_interfaces)
    headers = _authorization(card, key)
    client = lenient_client(http.client)
    client.headers.update(headers)
    config = ClientConfig(
        streaming=streaming, httpx_client=client, supported_protocol_bindings=BINDINGS
    )
    with sdk_errors():
        return Peer(ClientFactory(config).create(card), headers, _card_record(card, body))


def _card_record(card: AgentCard, body: Json) -> Json:
    """Return the record of an agent card: name, versions, digest. A changed card has another
    digest."""
    protocol = next(
        (supported_interface.protocol_version for supported_interface in card.supported_interfaces),
        "",
    )
    digest = hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
    own: Json = {"name": card.name[:_LONGEST], "version": card.version[:_LONGEST]}
    return {**own, **({"protocol": protocol} if protocol else {}), "sha256": digest}


async def _card(base_url: str, headers: Mapping[str, str], http: Http) -> Json:
    if base_url.endswith(".json"):
        return obj(await http.json(Request(base_url, headers, method="GET")))
    try:
        return obj(await http.json(Request(f"{base_url}{CARD}", headers, method="GET")))
    except NotFound:
        return obj(await http.json(Request(f"{base_url}{OLD_CARD}", headers, method="GET")))


def _is_allowed(url: str, own: str, hosts: Collection[str]) -> bool:
    """Return whether the key may go to an address: https, unless `base_url` itself is not."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and (
        parts.netloc == own or (parts.scheme == "https" and parts.hostname in hosts)
    )


def _no_interface(card: AgentCard, own: str) -> str:
    hosts = sorted(
        {_host(supported_interface.url) for supported_interface in card.supported_interfaces}
    )
    bindings = sorted(
        {supported_interface.protocol_binding for supported_interface in card.supported_interfaces}
    )
    if not set(bindings) & set(BINDINGS):
        return f"its agent card offers none of {BINDINGS}, but {bindings}"
    return f"its agent card names other hosts than {own}: {hosts}; `hosts` allows them"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _authorization(card: AgentCard, key: str) -> dict[str, str]:
    """Return the key in the header that the card names, else as a bearer key."""
    schemes = list(card.security_schemes.values())
    own = [scheme.api_key_security_scheme for scheme in schemes
           if scheme.HasField("api_key_security_scheme")]  # fmt: skip
    others = len(schemes) > len(own)
    if key and own and not others and own[0].location == "header" and own[0].name:
        return {own[0].name.lower(): key}
    return bearer(key)


def as_json(message: Message) -> Json:
    """Return a message as the protocol's JSON. Whole numbers become integers, which protobuf's JSON
    does not have."""
    return obj(_whole(MessageToDict(message)))


def from_json(body: Json, kind: Callable[[], Message]) -> Message:
    """Return a message from the protocol's JSON. Raises AgentError."""
    try:
        return ParseDict(body, kind())
    except ParseError as error:
        raise AgentError("it sent something that is not A2A") from error


def _whole(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case dict():
            return {key: _whole(member) for key, member in value.items()}
        case list():
            return [_whole(item) for item in value]
        case _:
            return value


@contextmanager
def sdk_errors() -> Generator[None]:
    """Translate the SDK's errors into the bridge's. Their texts contain addresses and the server's
    words, so they are not repeated."""
    try:
        with translated():
            yield
    except A2AClientTimeoutError as error:
        raise Unavailable("The agent sent nothing for too long") from error
    except TaskNotFoundError as error:
        raise NotFound("The agent does not know the task", code="task_not_found") from error
    except TaskNotCancelableError as error:
        raise Refused("The task can no longer be cancelled", code="not_cancelable") from error
    except A2AError as error:
        raise _of_cause(error) from error
    except (ParseError, KeyError, ValueError) as error:
        raise AgentError("it sent something that is not A2A") from error


def _of_cause(error: A2AError) -> Exception:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        response = cause.response
        return api_error(None, response.status_code, response.headers)
    if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout):
        return Unavailable("The agent cannot be reached; check `base_url`")
    if isinstance(cause, httpx.TimeoutException):
        return Unavailable("The agent sent nothing for too long")
    if isinstance(cause, httpx.HTTPError):
        return Unsettled(f"The connection broke ({type(cause).__name__})")
    if isinstance(cause, ValueError):
        return AgentError("it sent something that is not JSON")
    if isinstance(error, A2AClientError):
        return Refused(f"The agent refused the request ({type(error).__name__})")
    return Refused(f"The agent refused the request ({type(error).__name__})",
                   code=type(error).__name__.removesuffix("Error"))  # fmt: skip


__all__ = ["Peer", "Task", "as_json", "from_json", "open_peer", "sdk_errors"]

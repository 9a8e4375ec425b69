"""The SDK's client, as the agent needs it: JSON in, JSON events out, errors of the one tree.

The only module that knows the SDK; it takes seconds to import, so that only agents of this kind do.
"""

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
OLD_CARD = "/.well-known/agent.json"  # before 0.3


class Peer:
    """An agent behind its card, for the length of one turn."""

    def __init__(self, client: Client, headers: Mapping[str, str], card: Json) -> None:
        self._client = client
        self._headers = headers
        self.card = card
        """Its name and its versions, as its card tells them."""

    async def send(self, params: Json) -> AsyncGenerator[Json]:
        """The events of an answer (StreamResponse): one where the agent does not stream."""
        message = {"messageId": str(uuid4()), **obj(params.get("message"))}
        with sdk_errors():
            request = ParseDict({**params, "message": message}, SendMessageRequest())
            async with aclosing(_closable(self._client.send_message(request))) as events:
                async for event in events:
                    yield as_json(event)

    async def task(self, task_id: str) -> Json:
        """A task as it stands."""
        with sdk_errors():
            found = await self._client.get_task(GetTaskRequest(id=task_id))
        return {"task": as_json(found)}

    async def cancel(self, task_id: str) -> None:
        with sdk_errors():
            await self._client.cancel_task(CancelTaskRequest(id=task_id))


def _closable(events: object) -> AsyncGenerator[Message]:
    """It is an async generator, and typed as less."""
    return events  # pyright: ignore[reportReturnType]


async def open_peer(
    base_url: str, key: str, hosts: Collection[str], http: Http, *, streaming: bool
) -> Peer:
    """Read the agent's card and choose how to speak to it. The key goes to the host of `base_url`
    and to `hosts` alone, whatever the card says."""
    own = urlsplit(base_url)
    body = await _card(base_url, bearer(key), http)
    try:
        card = parse_agent_card(body)
    except (ParseError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise AgentError("its card cannot be read") from error
    allowed = [
        supported_interface
        for supported_interface in card.supported_interfaces
        if _is_allowed(supported_interface.url, own.netloc, hosts)
    ]
    if not any(one.protocol_binding in BINDINGS for one in allowed):
        raise AgentError(_nowhere(card, own.netloc))
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(allowed)
    headers = _authorization(card, key)
    client = lenient_client(http.client)
    client.headers.update(headers)
    config = ClientConfig(
        streaming=streaming, httpx_client=client, supported_protocol_bindings=BINDINGS
    )
    with sdk_errors():
        return Peer(ClientFactory(config).create(card), headers, _told_by(card, body))


def _told_by(card: AgentCard, body: Json) -> Json:
    """What a record of an answer has of its card; of a card that is changed, another digest."""
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
    """Encrypted, but where base_url is not either."""
    try:
        found = urlsplit(url)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and (
        found.netloc == own or (found.scheme == "https" and found.hostname in hosts)
    )


def _nowhere(card: AgentCard, own: str) -> str:
    named = sorted(
        {_host(supported_interface.url) for supported_interface in card.supported_interfaces}
    )
    ways = sorted(
        {supported_interface.protocol_binding for supported_interface in card.supported_interfaces}
    )
    if not set(ways) & set(BINDINGS):
        return f"its card offers none of {BINDINGS}, but {ways}"
    return f"its card names other hosts than {own}: {named}; `hosts` allows them"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _authorization(card: AgentCard, key: str) -> dict[str, str]:
    """The key where the card wants it: in a header of its own, or as a bearer."""
    schemes = list(card.security_schemes.values())
    own = [scheme.api_key_security_scheme for scheme in schemes
           if scheme.HasField("api_key_security_scheme")]  # fmt: skip
    others = len(schemes) > len(own)
    if key and own and not others and own[0].location == "header" and own[0].name:
        return {own[0].name.lower(): key}
    return bearer(key)


def as_json(message: Message) -> Json:
    """As the protocol's JSON has it; whole numbers stay whole, which protobuf does not know."""
    return obj(_whole(MessageToDict(message)))


def from_json(body: Json, kind: Callable[[], Message]) -> Message:
    """Raises AgentError."""
    try:
        return ParseDict(body, kind())
    except ParseError as error:
        raise AgentError("it says something that is no A2A") from error


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
    """The SDK's errors -> ours. Their texts hold addresses, and what the server wrote."""
    try:
        with translated():
            yield
    except A2AClientTimeoutError as error:
        raise Unavailable("The agent was silent for too long") from error
    except TaskNotFoundError as error:
        raise NotFound("The agent knows no such task", code="task_not_found") from error
    except TaskNotCancelableError as error:
        raise Refused("The task cannot be cancelled any more", code="not_cancelable") from error
    except A2AError as error:
        raise _of_cause(error) from error
    except (ParseError, KeyError, ValueError) as error:
        raise AgentError("it says something that is no A2A") from error


def _of_cause(error: A2AError) -> Exception:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        answer = cause.response
        return api_error(None, answer.status_code, answer.headers)
    if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout):
        return Unavailable("The agent cannot be reached; check `base_url`")
    if isinstance(cause, httpx.TimeoutException):
        return Unavailable("The agent was silent for too long")
    if isinstance(cause, httpx.HTTPError):
        return Unsettled(f"The connection broke off ({type(cause).__name__})")
    if isinstance(cause, ValueError):
        return AgentError("it says something that is no JSON")
    if isinstance(error, A2AClientError):
        return Refused(f"The agent refused the request ({type(error).__name__})")
    return Refused(f"The agent refused the request ({type(error).__name__})",
                   code=type(error).__name__.removesuffix("Error"))  # fmt: skip


__all__ = ["Peer", "Task", "as_json", "from_json", "open_peer", "sdk_errors"]

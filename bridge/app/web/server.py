"""The bridge's web server: /healthz, /metrics, /admin, /files, /pictures; /v1, /mcp, /openfloor,
/a2a and /acp for programs; and the routes of each account below its name."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Generator
from dataclasses import asdict, replace
from typing import Any

import orjson
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from bridge.app.a2a.routes import A2A
from bridge.app.acp.routes import Acp
from bridge.app.agent_directory.home import home_of
from bridge.app.api.api_keys import token_from_json
from bridge.app.api.gateway import BridgeGateway, Gateway
from bridge.app.api.problems import Problem
from bridge.app.api.routes import Api
from bridge.app.archive.backfill import backfill_channels, backfill_json
from bridge.app.archive.erasing import change_hold, clean_up, erase, erasure_of
from bridge.app.archive.replay import replay_json, replay_of
from bridge.app.build import Bridge
from bridge.app.control import ControlAccess
from bridge.app.files.derived import forget_files
from bridge.app.files.file_links import file_routes
from bridge.app.installs.erasing import erase_tenant
from bridge.app.installs.orders import find_tenant, state_after
from bridge.app.installs.routes import InstallPages
from bridge.app.openfloor.asides import Asides
from bridge.app.openfloor.pushes import Pushes
from bridge.app.openfloor.routes import OpenFloor
from bridge.app.openfloor.serving import Serving, ServingOptions
from bridge.app.redaction import hide_paths, hide_secrets
from bridge.app.settings.keys import key_for
from bridge.app.watch.counts import Counts
from bridge.app.watch.gauges import gauges_of
from bridge.app.watch.retention import prune, retention_of
from bridge.app.web.request_bodies import BoundedBodies
from bridge.app.web.request_heads import BoundedHeads
from bridge.errors import BridgeError, ConfigError, InvalidData, StoreError
from bridge.model import AccountId, ActorId, OperationId, RoomId
from bridge.model.assignments import account_assignment
from bridge.model.store_status import StorePulse
from bridge.model.tenants import Tenant, TenantId, TenantLimits
from bridge.ports.abilities.health import Health
from bridge.router.turns.access import begin_pairing
from bridge.runtime.serving import PromptServer

_SEE_STATUS = "`uacs-bridge status` says what is wrong"


def web_app(bridge: Bridge, control: ControlAccess | None = None) -> Starlette:
    """The ASGI app; `/admin` exists only with `control`."""
    counts = Counts(bridge.store, bridge.files.blobs, bridge.settings.store, bridge.clock)

    async def healthz(request: Request) -> Response:
        """200 while the store accepts writes. Problems of accounts are reported and do not fail it.

        A large store does not slow it down. Only commands, which have the token of the control
        file, get the full texts of problems: those name files of this machine.
        """
        ours = control is not None and control.admits(request.headers.get("authorization", ""))
        trouble, pulse = await _store_state(bridge)
        accounts = {name: account_facts(bridge, name, ours=ours) for name in bridge.connectors}
        notes = {name: bridge.router.operations.send_fault(name) for name in bridge.connectors}
        problem_texts = [*bridge.problems, *bridge.unready.values()]
        if not ours:
            problem_texts = [f"{text.partition(': ')[0]}: {_SEE_STATUS}" for text in problem_texts]
        problem_texts += [f"account {name} {note}" for name, note in notes.items() if note]
        problems = [hide_secrets(text) for text in dict.fromkeys(problem_texts)]
        body: dict[str, Any] = {
            "ok": not trouble,
            "accounts": accounts,
            "messages": pulse and pulse.messages,
            "outbox": dict(pulse.outbox) if pulse else {},
            "catching_up": bridge.router.operations.catching_up,
            "reconciling": bridge.router.operations.reconciling,
            # The member's old name, until the next version.
            "looking_back": bridge.router.operations.reconciling,
            "files_awaited": bridge.router.operations.files_awaited,
            **({"process": bridge.member.process} if bridge.member else {}),
            "instance": bridge.router.operations.instance,
            "problems": [trouble, *problems] if trouble else problems,
        }
        return JSONResponse(body, status_code=503 if trouble else 200)

    async def livez(_request: Request) -> Response:
        """200 while the process answers; a restart helps if it does not."""
        return JSONResponse({"ok": True})

    async def readyz(_request: Request) -> Response:
        """200 while the bridge runs and its store accepts writes; else 503 with the reasons."""
        trouble, _ = await _store_state(bridge)
        waits = [trouble] if trouble else []
        waits += [] if bridge.running else ["the bridge starts or stops"]
        return JSONResponse({"ok": not waits, "waits_for": waits}, 503 if waits else 200)

    async def metrics(_request: Request) -> Response:
        now = bridge.clock.time()
        # Each account is told of by the process that works for it.
        ours = [name for name in bridge.connectors if works_for(bridge, name)]
        healths = {name: health_of(bridge, name) for name in ours}
        trouble, _ = await _store_state(bridge)
        status = sizes = None
        with contextlib.suppress(StoreError):
            status = await counts.status()
        with contextlib.suppress(StoreError):
            sizes = await counts.sizes()
        gauges = gauges_of(
            status, healths, now, sizes=sizes, writable=not trouble,
            epochs=bridge.member.epochs if bridge.member else None,
        )  # fmt: skip
        snapshot = generate_latest(gauges)
        return Response(generate_latest(REGISTRY) + snapshot, media_type=CONTENT_TYPE_LATEST)

    gateway = BridgeGateway(bridge)
    api = Api(gateway)
    asides = Asides(gateway, bridge.consultations)
    pushes = Pushes(
        bridge.store,
        bridge.clock,
        lambda target: _serving(bridge, gateway, asides, pushes).late(target),
        lambda: bridge.settings.openfloor.private_addresses,
    )
    floors = OpenFloor(gateway, lambda: _serving(bridge, gateway, asides, pushes))
    a2a = A2A(
        gateway,
        lambda: home_of(bridge.settings),
        bridge.files,
        lambda: bridge.settings.openfloor.private_addresses,
    )
    routes: list[BaseRoute] = [
        Route("/healthz", healthz),
        Route("/livez", livez),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
    ]
    if control is not None:
        routes.append(Mount("/admin", routes=_admin_routes(bridge, control)))
    if bridge.links is not None:
        routes += file_routes(bridge.links, bridge.files.blobs, bridge.clock)
    routes += bridge.pictures.routes()
    routes += api.routes()
    routes += floors.routes()
    routes += a2a.routes()
    routes += Acp(gateway, lambda: home_of(bridge.settings), bridge.files).routes()
    routes += _install_routes(bridge)
    routes.append(Mount("/{account}", app=_AccountRoutes(bridge)))
    app = Starlette(
        routes=routes,
        middleware=[Middleware(BoundedBodies)],
        exception_handlers={HTTPException: _http_error, Exception: _server_error},
    )

    async def close() -> None:
        closing = (part.close() for part in (api, a2a, pushes, asides, counts))
        await asyncio.gather(*closing)

    async def start() -> None:
        if bridge.member is not None and not bridge.member.was_first:
            return  # the other processes still push what they promised
        await a2a.start()
        await pushes.start()

    app.state.start, app.state.close = start, close
    return app


def _install_routes(bridge: Bridge) -> list[BaseRoute]:
    """The pages on which workspaces install our apps; none without an app."""
    if not bridge.installs.apps:
        return []
    settings = bridge.settings
    key = key_for(settings.store.path)
    return InstallPages(bridge.installs, key, settings.web.public_url or "").routes()


def _serving(bridge: Bridge, gateway: Gateway, asides: Asides, pushes: Pushes) -> Serving:
    """What answers envelopes under the settings that are in effect."""
    own = bridge.settings.openfloor
    options = ServingOptions(
        answer_within=own.answer_seconds,
        idle_seconds=None if own.idle_minutes is None else own.idle_minutes * 60,
        require_invite=own.require_invite,
        on_failure=own.on_failure,
        discovery=own.discovery,
        push=own.push,
    )
    return Serving(gateway, home_of(bridge.settings), bridge.directory, asides, pushes, options)


async def _store_state(bridge: Bridge) -> tuple[str, StorePulse | None]:
    """The store's problem (empty if none), and its pulse (None if it cannot be read)."""
    try:
        return bridge.watch.public, await bridge.store.pulse()
    except StoreError as error:
        return bridge.watch.public or error.public, None


async def _http_error(request: Request, error: Exception) -> Response:
    """The answer to a request that the server itself refuses, in the form of all refusals."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "It is refused"
    headers = error.headers if isinstance(error, HTTPException) else None
    todo = "docs/api.md and docs/operations.md list the paths" if status == 404 else ""
    value = request.method if status == 405 else request.url.path
    return Problem(status, detail, value=value, todo=todo, headers=headers).response()


async def _server_error(_request: Request, _error: Exception) -> Response:
    return Problem(500, "The bridge could not answer; its log says why").response()


class _AccountRoutes:
    """The routes that platforms call, below the accounts' names; accounts may change while it
    runs."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        account = scope["path_params"]["account"]
        # The requests for tenants come to the address of their app, which knows whose they are.
        app = None if self._bridge.installs.answers(account) else self._bridge.http_app(account)
        if app is None:
            raise HTTPException(404)
        await app(scope, receive, send)


def works_for(bridge: Bridge, account: AccountId) -> bool:
    """Whether this process works for an account."""
    return bridge.member is None or bridge.member.owns(account_assignment(account))


def health_of(bridge: Bridge, name: AccountId) -> Health:
    """The health of the account's connection; without a health of its own, that of its receiver."""
    connector = bridge.connectors[name]
    if not works_for(bridge, name):
        return Health("elsewhere")
    if failed := bridge.router.operations.receive_fault(name):
        return Health("failed", note=failed)
    reporter = connector.abilities.health
    health = reporter.current() if reporter else Health("connected")
    if stopped := bridge.router.operations.send_fault(name):
        return replace(health, note=stopped)
    stalled = bridge.router.operations.stall_fault(name)
    return replace(health, note=stalled) if stalled and not health.note else health


def account_facts(bridge: Bridge, name: AccountId, *, ours: bool) -> dict[str, Any]:
    """The account's health as JSON values, with secrets hidden, because texts of platforms may
    contain a token. File paths are shown only to commands (`ours`)."""
    health = health_of(bridge, name)
    failed = bridge.router.operations.receive_fault(name)
    entry = bridge.settings.accounts.get(name)
    redacted = hide_secrets if ours else _hide_all
    # `heard` is the old name of `last_event_at`, until the next version.
    facts = asdict(health) | {"note": redacted(health.note), "heard": health.last_event_at}
    facts |= {"platform": entry.platform} if entry else {}
    if bridge.member is not None:
        assigned = bridge.member.state.assigned.get(account_assignment(name))
        facts["process"] = assigned and assigned.process
        facts["epoch"] = assigned and assigned.epoch
    if progress := bridge.router.operations.progress(name):
        facts["catching_up"] = asdict(progress)
    return facts | ({"failed": redacted(failed)} if failed else {})


def _hide_all(text: str) -> str:
    return hide_paths(hide_secrets(text))


# --- /admin -------------------------------------------------------------------------------------

_Act = Callable[[Bridge, dict[str, Any]], Awaitable[dict[str, Any]]]


def _admin_routes(bridge: Bridge, control: ControlAccess) -> list[BaseRoute]:
    """The routes for commands; without the token of the control file they answer 404."""

    def guarded(act: _Act) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            if not control.admits(request.headers.get("authorization", "")):
                return Response(status_code=404)
            try:
                body = orjson.loads(await request.body() or b"{}")
                return JSONResponse(await act(bridge, body))
            except BridgeError as error:
                return JSONResponse({"error": str(error)}, status_code=409)
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                return JSONResponse({"error": f"bad request: {error}"}, status_code=400)

        return handle

    return [
        Route("/", guarded(_list_accounts)),
        Route("/replay", guarded(_replay), methods=["POST"]),
        Route("/retry", guarded(_retry), methods=["POST"]),
        Route("/skip", guarded(_skip), methods=["POST"]),
        Route("/reload", guarded(_reload), methods=["POST"]),
        Route("/people", guarded(_link_people), methods=["POST"]),
        Route("/pair", guarded(_pair), methods=["POST"]),
        Route("/account", guarded(_account), methods=["POST"]),
        Route("/quota", guarded(_quota), methods=["POST"]),
        Route("/secrets", guarded(_keep_secret), methods=["POST"]),
        Route("/tokens", guarded(_tokens), methods=["POST"]),
        Route("/tenants", guarded(_tenants), methods=["POST"]),
        Route("/erase", guarded(_erase), methods=["POST"]),
        Route("/hold", guarded(_hold), methods=["POST"]),
        Route("/prune", guarded(_prune), methods=["POST"]),
        Route("/backfill", guarded(_backfill), methods=["POST"]),
        Route("/archive-replay", guarded(_archive_replay), methods=["POST"]),
    ]


async def _list_accounts(bridge: Bridge, _body: dict[str, Any]) -> dict[str, Any]:
    return {"accounts": list(bridge.connectors)}


async def _replay(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """Queue dead letters again at the end of their lanes, and wake the lanes."""
    operations = bridge.router.operations
    return {"lanes": [await operations.replay(operation) for operation in _operations(body)]}


async def _retry(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """Try waiting operations now, in their places."""
    operations = bridge.router.operations
    return {"lanes": [await operations.hasten(operation) for operation in _operations(body)]}


async def _skip(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """Turn waiting operations into dead letters, so that their lanes continue."""
    skipped = _operations(body)
    for operation in skipped:
        await bridge.router.operations.skip(operation)
    return {"skipped": skipped}


def _operations(body: dict[str, Any]) -> list[OperationId]:
    for operation in body["operations"]:
        if not isinstance(operation, str):
            raise InvalidData(f"an operation's id is a string, not {operation!r}")
    return [OperationId(operation) for operation in body["operations"]]


async def _reload(bridge: Bridge, _body: dict[str, Any]) -> dict[str, Any]:
    return {"changes": await bridge.reload()}


async def _link_people(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`link` two accounts, `unlink` one, or `ban` and `unban` one in a `room` or in all (null)."""
    operations = bridge.router.operations
    match body:
        case {"link": [str(first), str(second)]}:
            return {"person": await operations.link_people(ActorId(first), ActorId(second))}
        case {"unlink": str(actor)}:
            return {"unlinked": await operations.unlink_person(ActorId(actor))}
        case {"ban": str(actor), "room": str() | None as room}:
            return {"done": await _set_banned(bridge, actor, room, banned=True)}
        case {"unban": str(actor), "room": str() | None as room}:
            return {"done": await _set_banned(bridge, actor, room, banned=False)}
        case _:
            raise InvalidData(
                "it is {link: [actor, actor]}, {unlink: actor}, or {ban or unban: actor, room}"
            )


async def _set_banned(bridge: Bridge, actor: str, room: str | None, *, banned: bool) -> bool:
    where = None if room is None else RoomId(room)
    operations = bridge.router.operations
    return await operations.set_blocked(ActorId(actor), "command", where, blocked=banned)


async def _pair(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`new`: make a code for an agent; `revoke` an account from one agent or (null) from all."""
    match body:
        case {"new": str(agent), "minutes": int() | float() as minutes}:
            store, clock = bridge.store, bridge.clock
            return {"code": await begin_pairing(store, clock, agent, "command", minutes)}
        case {"revoke": str(actor), "agent": str() | None as agent}:
            return {"done": await bridge.router.operations.unpair(ActorId(actor), agent)}
        case _:
            raise InvalidData("it is {new: agent, minutes: N}, or {revoke: actor, agent: agent}")


async def _account(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`resume` sending through an account."""
    match body:
        case {"resume": str(name)}:
            return {"resumed": await bridge.router.operations.resume_sending(AccountId(name))}
        case _:
            raise InvalidData("it is {resume: account}")


async def _quota(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`reset` the quota with this name."""
    match body:
        case {"reset": str(name)}:
            await bridge.router.operations.reset_quota(name)
            return {"reset": name}
        case _:
            raise InvalidData("it is {reset: NAME of a quota}")


async def _keep_secret(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    await bridge.store.put_credential(str(body["name"]), str(body["value"]))
    return {}


async def _tokens(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`add` a token's record, or `revoke` a token by its name."""
    match body:
        case {"add": dict() as fields}:
            await bridge.store.put_token(token_from_json(fields))
            return {}
        case {"revoke": str(name)}:
            return {"revoked": await bridge.store.revoke_token(name)}
        case _:
            raise InvalidData("it is {add: token} or {revoke: name}")


async def _tenants(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`approve`, `suspend`, `resume`, `limit` or `erase` a tenant, or seal its tokens with a new
    key (`rotate`)."""
    match body:
        case {"limit": str(own_id), "limits": dict() as limits}:
            tenant = await find_tenant(bridge.store, own_id)
            await bridge.installs.set_limits(tenant, TenantLimits(**limits))
            return {"limits": limits}
        case {"erase": str(own_id), "order": dict() as order, "dry_run": bool() as dry_run}:
            tenant = await find_tenant(bridge.store, own_id)
            return await _erase_tenant(bridge, tenant, order, dry_run=dry_run)
        case {"rotate": str(own_id)}:
            return {"secrets": await bridge.store.rotate_tenant_key(TenantId(own_id))}
        case {"approve": str(own_id)} | {"suspend": str(own_id)} | {"resume": str(own_id)}:
            tenant = await find_tenant(bridge.store, own_id)
            state = state_after(next(iter(body)), tenant)
            await bridge.installs.set_state(tenant, state)
            return {"state": state}
        case _:
            raise InvalidData("it is {approve, suspend, resume, limit, erase or rotate: tenant}")


async def _erase_tenant(
    bridge: Bridge, tenant: Tenant, order: dict[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    """Erase a tenant, whose account stops before, or only count what it has."""
    account = bridge.installs.own_account(tenant)
    # First without changing anything: a legal hold refuses it before the account stops.
    counts = await erase_tenant(
        bridge.store, tenant, order, bridge.settings.installs, account=account, dry_run=True
    )
    if dry_run:
        return {"counts": counts, "cleaned": True}
    await bridge.installs.end(tenant)
    tokens = counts.get("tokens", 0)  # gone with the end
    counts = await erase_tenant(
        bridge.store, tenant, order, bridge.settings.installs, account=account, dry_run=False
    )
    counts |= {"tokens": tokens} if tokens else {}
    blobs = bridge.files.blobs
    cleaned = await clean_up(bridge.store, blobs, alone=False)
    left = await forget_files(bridge.agents.values(), blobs)
    return {"counts": counts, "cleaned": cleaned, "left_at_vendors": left}


async def _erase(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """Erase a message or a person, or only count (`dry_run`)."""
    erasure = erasure_of(body)
    if body["dry_run"]:
        record = await bridge.store.erase(erasure, dry_run=True)
        return {"counts": dict(record.counts), "cleaned": True}
    blobs = bridge.files.blobs
    record, cleaned = await erase(bridge.store, blobs, erasure, alone=False)
    await bridge.router.operations.wake_lanes()
    left = await forget_files(bridge.agents.values(), blobs)
    return {"counts": dict(record.counts), "cleaned": cleaned, "left_at_vendors": left}


async def _prune(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """Remove now what the configuration does not keep any longer, or only count it."""
    policy, dry_run = retention_of(bridge.settings, bridge.rooms.all), bool(body["dry_run"])
    blobs = bridge.files.blobs
    pruned = await prune(bridge.store, blobs, bridge.clock, policy, dry_run=dry_run)
    if not dry_run:
        await clean_up(bridge.store, blobs, alone=False)
        await forget_files(bridge.agents.values(), blobs)
    return {"messages": pruned.messages, "payloads": pruned.payloads, "files": pruned.files}


async def _backfill(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`begin` the backfill of a room or channel from `since` on, `stop` all, or only tell how far
    they are ({})."""
    operations = bridge.router.operations
    match body:
        case {"begin": str(name), "since": int() | float() as since, **others} if others.keys() <= {
            "until"
        } and isinstance(others.get("until"), int | float | None):
            channels = backfill_channels(bridge.rooms.all, name)
            await operations.begin_backfill(channels, since, others.get("until"))
        case {"stop": True}:
            await operations.stop_backfill()
        case _ if body:
            what = "it is {begin: name, since: seconds, until: seconds} or {stop: true}"
            raise InvalidData(what)
        case _:
            pass
    return {"backfills": [backfill_json(progress) for progress in operations.backfills]}


async def _archive_replay(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`begin` a replay of a room or channel of the archive `to` a channel, or only `count` its
    messages, `stop` all, or only tell how far they are ({})."""
    operations = bridge.router.operations
    match body:
        case {"begin": str(source), "to": str(target), "since": since, "until": until} if all(
            isinstance(time, int | float | None) for time in (since, until)
        ):
            asked = await replay_of(bridge.store, bridge.rooms.all, source, target, since, until)
            if body.get("count") is True:
                return {"count": await operations.count_replay(asked)}
            await operations.begin_replay(asked)
        case {"stop": True}:
            await operations.stop_replay()
        case _ if body:
            what = "{begin: source, to: channel, since: seconds, until: seconds} or {stop: true}"
            raise InvalidData(f"it is {what}")
        case _:
            pass
    return {"replays": [replay_json(progress) for progress in operations.replays]}


async def _hold(bridge: Bridge, body: dict[str, Any]) -> dict[str, Any]:
    """`add` a legal hold, or `remove` one by its name."""
    await change_hold(bridge.store, body)
    return {}


# --- the server ---------------------------------------------------------------------------------


class _QuietServer(PromptServer):
    """A server that leaves signals to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class WebServer:
    """Serves an ASGI app until it is stopped; `start` binds the port, and `url` has it."""

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        self._app = app
        self._host = host
        self._port = port
        config = uvicorn.Config(
            app=app, log_config=None, log_level="warning", access_log=False, server_header=False,
            timeout_graceful_shutdown=2, lifespan="off", ws="none", http=BoundedHeads,
        )  # fmt: skip
        self._server = _QuietServer(config)
        self._serving: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> None:
        """Bind the port and start serving.

        Raises:
            ConfigError: The address cannot be bound.
        """
        if start := getattr(self._app.state, "start", None):
            await start()
        sock = listen(self._host, self._port)
        self.url = f"http://{_local_host(self._host)}:{sock.getsockname()[1]}"
        self._serving = asyncio.create_task(self._server.serve(sockets=[sock]))
        while not self._server.started and not self._serving.done():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """End event streams, finish requests for a moment, then close all connections."""
        if close := getattr(self._app.state, "close", None):
            await close()
        self._server.end()
        if self._serving:
            await self._serving


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. Its protocol is explicit, because otherwise asyncio does not turn off Nagle's
    algorithm, and every answer would wait 40 ms for the client's acknowledgement.

    Raises:
        ConfigError: The address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise ConfigError(
            f"Cannot listen on {host}:{port} ({error.strerror or error}); change web.host and "
            "web.port, or stop the program that listens there"
        ) from None
    return sock


def _local_host(host: str) -> str:
    """The host to connect to on this machine for a server that listens on `host`."""
    if host in ("0.0.0.0", ""):  # noqa: S104 - read, not bound
        return "127.0.0.1"
    return f"[{'::1' if host == '::' else host}]" if ":" in host else host

"""`/oauth/...`: the pages on which people install the apps, and the platforms' requests to them."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from bridge.app.installs import pages
from bridge.app.installs.desk import Installs
from bridge.app.installs.states import COOKIE, LIFETIME, States
from bridge.errors import BridgeError, PlatformError, Refused, StoreError, Unauthorized
from bridge.model.tenants import Tenant, TenantId
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.installs import InstallableApp

log = structlog.get_logger()

_DONE = f"{COOKIE}_done"
_LONGEST = 4096  # characters of a value in the query that the platform sends back
_NOT_INSTALLED = "Not installed"


class InstallPages:
    """Answers `/oauth/...`; `public_url` is the bridge's address for browsers."""

    def __init__(self, installs: Installs, key: bytes, public_url: str) -> None:
        self._installs = installs
        self._states = States(key)
        self._origin = urlsplit(public_url)
        self._secure = self._origin.scheme == "https"
        # Browsers accept this prefix from the host itself alone: no other host of the domain can
        # set such a cookie.
        self._cookie = f"__Host-{COOKIE}" if self._secure else COOKIE
        self._done = f"__Host-{_DONE}" if self._secure else _DONE
        self._events: dict[str, AsgiApp] = {}
        for platform, app in installs.apps.items():
            if (events := app.app(installs.tenancy(platform))) is not None:
                self._events[platform] = events

    def routes(self) -> list[BaseRoute]:
        """Return the routes; none without an app."""
        if not self._installs.apps:
            return []
        return [
            Route("/oauth", self._to_start),
            Route("/oauth/", self._start),
            Route("/oauth/{platform}/install", self._guarded(self._install)),
            Route("/oauth/{platform}/begin", self._guarded(self._begin), methods=["POST"]),
            Route("/oauth/{platform}/callback", self._guarded(self._callback)),
            Route("/oauth/{platform}/done", self._guarded(self._show_done)),
            *(Mount(f"/oauth/{platform}", app=app) for platform, app in self._events.items()),
        ]

    async def _to_start(self, _request: Request) -> Response:
        return RedirectResponse("oauth/", 303, headers=pages.headers())

    async def _start(self, _request: Request) -> Response:
        apps = [(platform, app.label) for platform, app in self._installs.apps.items()]
        return HTMLResponse(pages.start_page(apps), headers=pages.headers())

    async def _install(self, _request: Request, platform: str, app: InstallableApp) -> Response:
        link = app.consent_url("") if app.by_link else ""
        approval = self._installs.settings().allow == "approval"
        page = pages.install_page(
            app.label, link=link, steps=app.steps if link else (), approval=approval
        )
        return HTMLResponse(page, headers=pages.headers(link or app.consent_url("")))

    async def _begin(self, request: Request, platform: str, app: InstallableApp) -> Response:
        """Send the browser to the platform, with a state that only this browser can bring back."""
        if app.by_link or not self._is_own_form(request):
            raise Unauthorized("the form was not sent from the bridge's own page")
        browser = request.cookies.get(self._cookie, "")
        now = self._installs.clock.time()
        state, browser = self._states.begin(platform, now, browser)
        answer = RedirectResponse(app.consent_url(state), 303, headers=pages.headers())
        self._set_cookie(answer, self._cookie, browser)
        return answer

    async def _callback(self, request: Request, platform: str, app: InstallableApp) -> Response:
        """Take the code, once, and save what the workspace granted."""
        query = {key: value[:_LONGEST] for key, value in request.query_params.items()}
        installs, browser = self._installs, request.cookies.get(self._cookie, "")
        now = installs.clock.time()
        checked = self._states.check(platform, query.get("state", ""), browser, now)
        if not await installs.store.use_install_state(checked.digest, checked.expires):
            raise Unauthorized("this answer was used already")
        if "error" in query:
            raise Refused(f"{app.label} was told not to install it", code="declined")
        installation = await app.finish(query)
        tenant = await installs.save(platform, installation)
        if tenant is None:
            await installs.withdraw(platform, installation)
            reason = "This workspace is not among those that may install this app."
            return self._problem(reason, "Ask an operator of the bridge.", 403)
        answer = RedirectResponse("done", 303, headers=pages.headers())
        self._set_cookie(answer, self._done, self._signed(tenant.id, browser))
        return answer

    async def _show_done(self, request: Request, platform: str, app: InstallableApp) -> Response:
        """Show the browser that installed the app what comes next. No code is in this address."""
        browser = request.cookies.get(self._cookie, "")
        tenant = await self._tenant_in(request.cookies.get(self._done, ""), browser)
        if tenant is None or tenant.platform != platform:
            return RedirectResponse("install", 303, headers=pages.headers())
        page = pages.done_page(app.label, tenant.name, app.steps, waits=tenant.state != "active")
        return HTMLResponse(page, headers=pages.headers())

    # --- within ---------------------------------------------------------------------------------

    def _guarded(
        self, handle: Callable[[Request, str, InstallableApp], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The handler with its app; errors become pages that say what to do."""

        async def guarded(request: Request) -> Response:
            platform: str = request.path_params["platform"]
            app = self._installs.apps.get(platform)
            if app is None:
                raise HTTPException(404)
            try:
                return await handle(request, platform, app)
            except BridgeError as error:
                return self._refused(platform, app, error)

        return guarded

    def _refused(self, platform: str, app: InstallableApp, error: BridgeError) -> Response:
        """The page of an error; platforms' texts are only logged, because they may say too much."""
        log.warning("install_failed", platform=platform, reason=error.public)
        again = "Begin again on this bridge's page, in one browser, and allow its cookies."
        match error:
            case Unauthorized():
                return self._problem(f"The installation is refused: {error}.", again, 403)
            case Refused(code="declined"):
                return self._problem(f"{error}.", "Nothing was changed.", 400)
            case Refused():
                reason = f"{app.label} refused the installation ({error.code or 'no reason'})."
                return self._problem(reason, again, 400)
            case PlatformError() | StoreError():
                who = app.label if isinstance(error, PlatformError) else "The bridge's store"
                return self._problem(f"{who} does not answer.", "Try it later.", 503)
            case _:
                return self._problem("The bridge cannot do it now.", "Try it later.", 503)

    def _problem(self, reason: str, todo: str, status: int) -> Response:
        page = pages.problem_page(_NOT_INSTALLED, reason, todo)
        return HTMLResponse(page, status, headers=pages.headers())

    def _is_own_form(self, request: Request) -> bool:
        """Whether a browser sent the form from our own page (Fetch Metadata, else Origin)."""
        if site := request.headers.get("sec-fetch-site"):
            return site == "same-origin"
        origin = request.headers.get("origin")
        return origin in (None, f"{self._origin.scheme}://{self._origin.netloc}")

    def _set_cookie(self, answer: Response, name: str, value: str) -> None:
        # Lax: the platform sends the browser back by a link, which strict cookies do not follow.
        answer.set_cookie(
            name, value, max_age=int(LIFETIME), secure=self._secure, httponly=True, samesite="lax"
        )

    def _signed(self, tenant: TenantId, browser: str) -> str:
        name = base64.urlsafe_b64encode(tenant.encode()).decode().rstrip("=")
        return f"{name}.{self._states.sign(tenant, browser)}"

    async def _tenant_in(self, value: str, browser: str) -> Tenant | None:
        name, _, mac = value.partition(".")
        try:
            tenant = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
        except (binascii.Error, ValueError):
            return None
        if not hmac.compare_digest(mac.encode(), self._states.sign(tenant, browser).encode()):
            return None
        return await self._installs.store.tenant(TenantId(tenant))

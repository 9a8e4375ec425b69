"""The receiving side of a bot: Teams calls its endpoint, and the bot checks its credentials."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog
from starlette.routing import Router

from bridge.errors import AuthFailed, FileError, PlatformError
from bridge.ports.abilities.health import Health
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.connector import ConnectorTools
from bridge.ports.inbox import Inbox
from connectors.teams import ids
from connectors.teams.activity import BotIdentity, Json, tenant_of
from connectors.teams.consent import Consent, answer_of, outcome
from connectors.teams.files import bring
from connectors.teams.people import People
from connectors.teams.receive import Receiver
from connectors.teams.references import References
from connectors.teams.send import BotToken, HttpClient, Sender
from connectors.teams.settings import TeamsSettings
from connectors.teams.validate import SigningKeys, TokenValidator

_PROVE_AGAIN = 300.0  # seconds, at least, between two checks of the credentials

log = structlog.get_logger(__name__)


class Connection:
    """The receiving side of one bot; `state` is its health."""

    def __init__(
        self,
        identity: BotIdentity,
        settings: TeamsSettings,
        tools: ConnectorTools,
        http: HttpClient,
        token: BotToken,
        sender: Sender,
        references: References,
        people: People,
    ) -> None:
        self._identity = identity
        self._settings = settings
        self._tools = tools
        self._http = http
        self._token = token
        self._sender = sender
        self._references = references
        self._people = people
        keys = SigningKeys(settings.openid_url, http.fetch, tools.clock)
        self._validator = TokenValidator(settings, keys, tools.clock)
        self._bringing: set[asyncio.Task[None]] = set()
        self.state = Health("stopped")

    async def run(self, inbox: Inbox) -> None:
        """Check the credentials until cancelled, each time that the token runs out.

        Teams calls the endpoint (see `app`), so an account without traffic would not notice that
        its secret expired. Raises AuthFailed if the first check fails.
        """
        inbox.session_began(self._identity.account)
        self._become(Health("connecting"))
        try:
            await self._prove_credentials()
            self._become(Health("listening", connected_since=self._tools.clock.time()))
            while True:
                await self._tools.clock.sleep(max(self._token.lasts, _PROVE_AGAIN))
                try:
                    await self._prove_credentials()
                except AuthFailed as error:  # the health shows it until the next success
                    log.warning("token_refused", account=self._identity.account, reason=str(error))
        except AuthFailed as error:
            self._become(Health("failed", note=str(error)))
            raise
        except asyncio.CancelledError:
            self._become(Health("stopped"))
            raise

    def app(self, inbox: Inbox) -> AsgiApp:
        """Return the messaging endpoint."""
        receiver = Receiver(
            self._settings, self._identity, inbox, self._references, self._validator,
            self._note_activity, self._take_consent, self._tools.cards, self._tools.tenancy,
        )  # fmt: skip
        return Router(routes=receiver.routes())

    async def close(self) -> None:
        """Cancel the uploads in progress."""
        for task in self._bringing:
            task.cancel()
        await asyncio.gather(*self._bringing, return_exceptions=True)

    # --- within ---------------------------------------------------------------------------------

    def _become(self, state: Health) -> None:
        self.state = replace(state, last_event_at=self.state.last_event_at)

    def _note_activity(self, activity: Json) -> None:
        self.state = replace(self.state, last_event_at=self._tools.clock.time())
        self._people.learn(activity)

    async def _prove_credentials(self) -> None:
        try:
            with self._sender.credential.watched():
                await self._token.get()
        except AuthFailed:
            raise
        except PlatformError as error:
            log.warning("token_fetch_failed", account=self._identity.account, reason=str(error))

    def _take_consent(self, activity: Json) -> bool:
        """Return whether the activity answers a file consent card; the upload runs in a task."""
        consent = answer_of(activity, self._tools.cards.key)
        if consent is None or self._tools.files is None:
            return False
        task = asyncio.create_task(self._bring(consent, tenant_of(activity)))
        self._bringing.add(task)
        task.add_done_callback(self._bringing.discard)
        return True

    async def _bring(self, consent: Consent, tenant: str) -> None:
        """Upload the file, and replace the consent card by a link to it.

        If the upload fails, the consent card stays and the person can answer again.
        """
        channel = ids.channel_ref(tenant, consent.conversation)
        try:
            if consent.agreed and self._tools.files is not None:
                await bring(consent, self._tools.files.blobs, self._http, self._settings)
            await self._sender.replace(channel, consent.message, outcome(consent))
        except (PlatformError, FileError) as error:
            log.warning("file_upload_failed", account=self._identity.account, reason=str(error))

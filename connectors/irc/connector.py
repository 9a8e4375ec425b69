"""One bot on one IRC network as a Connector: its parts, built once, and its life cycle."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from bridge.errors import ConfigError
from bridge.model import (
    AccountId,
    Call,
    Capabilities,
    Delivery,
    Encoded,
    Event,
    OperationId,
    Raw,
    Receipt,
)
from bridge.ports.abilities import Abilities
from bridge.ports.connector import ConnectorTools
from bridge.ports.inbox import Inbox
from connectors.irc import decode, encode, ids, words
from connectors.irc.capabilities import capabilities_of
from connectors.irc.channels import Channels
from connectors.irc.check import AccountHealth
from connectors.irc.flood import TokenBucket
from connectors.irc.form import Form
from connectors.irc.history import History
from connectors.irc.link import Endpoint, Link
from connectors.irc.login import Login
from connectors.irc.people import DirectMessages, People
from connectors.irc.puppets import Puppets
from connectors.irc.raws import RawBuilder
from connectors.irc.receive import Receiver
from connectors.irc.registration import Identity, other_nicks
from connectors.irc.send import Sender
from connectors.irc.session import Session
from connectors.irc.settings import IrcSettings
from connectors.irc.speaker import Speaker

_FORMS_KEPT = 1024


class IrcConnector:
    """Receives and posts through one connection, and through those of authors where wanted."""

    def __init__(self, account: AccountId, settings: IrcSettings, tools: ConnectorTools) -> None:
        self.account = account
        self.capabilities: Capabilities = capabilities_of(settings.burst, settings.lines_per_second)
        self._settings = settings
        self._tools = tools
        self._endpoint = Endpoint(
            settings.host, settings.port, settings.tls, settings.ca_file,
            settings.client_certificate,
        )  # fmt: skip
        self._bucket = self._new_bucket()
        self._forms: OrderedDict[OperationId, Form] = OrderedDict()
        self._form = Form(max_lines=settings.max_lines, quiet=settings.quiet_names)
        self._session = Session(settings.network_name)
        self._session.add_channels(settings.channels)
        self._people = People(self._session)
        raws = RawBuilder(account, settings.network_name)
        self._puppets = Puppets(
            account, self._puppet_link if settings.puppets else None,
            lambda: self._session.support.nick_length, tools.clock,
            limit=settings.max_puppets, suffix=settings.puppet_suffix,
            idle=settings.puppet_idle_minutes * 60, max_lines=settings.max_lines,
        )  # fmt: skip
        self._history = History(self._session, raws, tools.clock, self._is_own)
        self._receiver = Receiver(
            settings, self._session, Login(settings, self._nickserv_password), raws, self._history,
            self._puppets, self._bot_link, tools.cards, tools.key_values, tools.clock, self._learn,
        )  # fmt: skip
        self._sender = Sender(self._speaker, tools.key_values, tools.files)
        self.abilities = self._abilities()

    def _abilities(self) -> Abilities:
        session, history, receiver = self._session, self._history, self._receiver
        return Abilities(
            health=AccountHealth(self._bot_link, lambda: receiver.state),
            history=history,
            lookup=history,
            deliveries=history,
            simpler_forms=words,
            reactions=session,
            people=self._people,
            channels=Channels(session),
            direct_messages=DirectMessages(session),
        )

    async def run(self, inbox: Inbox) -> None:
        self._session.keys = {
            ids.lower(name): (await self._tools.secrets.secret(ref)).strip()
            for name, ref in self._settings.channel_keys.items()
        }
        await self._receiver.run(inbox)

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode.decode(raw)

    def encode(self, delivery: Delivery) -> Encoded:
        """With the same form for all attempts of an operation: another would cut it elsewhere."""
        operation = delivery.operation.id
        form = self._forms.get(operation, self._form)
        if self._session.speaker is not None:  # before that nothing of it was sent
            self._forms[operation] = form
            self._forms.move_to_end(operation)
        if len(self._forms) > _FORMS_KEPT:
            self._forms.popitem(last=False)
        return encode.encode(delivery, form, self._tools.cards, self._tools.files)

    async def send(self, call: Call) -> Receipt:
        return await self._sender.send(call)

    async def close(self) -> None:
        await self._puppets.close()

    # --- connections ----------------------------------------------------------------------------

    def _new_bucket(self) -> TokenBucket:
        now = self._tools.clock.monotonic()
        return TokenBucket(self._settings.burst, self._settings.lines_per_second, now)

    def _learn(self, speaker: Speaker) -> None:
        """What the server of this connection can do."""
        settings, state = self._settings, speaker.link.state
        self._form = speaker.form
        self.capabilities = capabilities_of(
            settings.burst, settings.lines_per_second, state.enabled, state.support
        )

    async def _speaker(self, call: Call) -> Speaker:
        """The connection through which a call goes. Raises Unavailable while there is none."""
        bot = self._session.require()
        await self._session.ensure_joined(call.channel)
        name = call.body.get("name")
        if call.method == encode.POST and isinstance(name, str) and not ids.is_direct(call.channel):
            author = await self._puppets.speaker(name, call.channel)
            return author or bot
        return bot

    def _is_own(self, nick: str) -> bool:
        """Whether the bot has this nick, or may have had it in an earlier connection."""
        fold, settings = self._session.support.fold, self._settings
        ours = [settings.nick, *other_nicks(settings.nick, settings.alternative_nicks)]
        return fold(nick) in {
            fold(own) for own in (self._people.own_name, *ours)
        } or self._puppets.is_ours(nick)

    async def _bot_link(self) -> Link:
        settings = self._settings
        mechanism = {"plain": "PLAIN", "external": "EXTERNAL"}.get(settings.sasl, "")
        password = await self._secret("password") if mechanism == "PLAIN" else ""
        identity = Identity(
            nick=settings.nick, others=settings.alternative_nicks, username=settings.username,
            realname=settings.realname, server_password=await self._secret("server_password"),
            sasl=mechanism, account=settings.account_name, password=password,
        )  # fmt: skip
        return Link(self._endpoint, identity, self._tools.clock, self._bucket)

    def _puppet_link(self, nicks: Sequence[str], name: str) -> Link:
        first, *others = nicks
        identity = Identity(
            nick=first, others=tuple(others), username=self._settings.username,
            realname=f"{name} (bridged)",
        )  # fmt: skip
        return Link(self._endpoint, identity, self._tools.clock, self._new_bucket())

    async def _nickserv_password(self) -> str:
        return await self._secret("password") if self._settings.sasl == "none" else ""

    async def _secret(self, key: str) -> str:
        ref = getattr(self._settings, key)
        if ref is None:
            return ""
        secret = (await self._tools.secrets.secret(ref)).strip()
        if any(character in secret for character in "\r\n\0"):
            raise ConfigError(f"{key} of IRC account {self.account!r} has a line break in it")
        return secret

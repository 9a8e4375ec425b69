"""The agents that the bridge knows: its own, and those whose manifests it fetches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit
from uuid import uuid4

import structlog

from bridge.agents.settings import address_of
from bridge.agents.transport.http import Deadlines, Request, open_http
from bridge.app.agent_directory.home import Home, manifest_of_agent
from bridge.app.agent_directory.model_ranking import ModelRanking
from bridge.content.text.globs import matches
from bridge.errors import BridgeError, InvalidData, RateLimited, Unavailable, Unsettled
from bridge.openfloor.envelope import (
    GET_MANIFESTS,
    PUBLISH_MANIFESTS,
    Address,
    Envelope,
    Event,
    Manifest,
    Sender,
    Talk,
)
from bridge.openfloor.machines import FIND, MANIFEST
from bridge.openfloor.ranking import ranked, speaking
from bridge.openfloor.read import LARGEST, read_envelope
from bridge.openfloor.write import write_envelope
from bridge.ports.clock import Clock

log = structlog.get_logger()

_FRESH = 3600.0  # seconds for which a manifest is not fetched again
_FAILED = 60.0  # ... and one that could not be fetched
_TRIES, _AGAIN = 3, 5.0  # questions for a manifest, and the seconds between two
_READ = 30  # agents of which a model reads the manifests
_DEADLINES = Deadlines(connect=5.0, idle=10.0)
_DEEPEST = 3  # directories that name directories
_MOST = 20  # addresses that are asked for one list


@dataclass(frozen=True)
class DirectorySettings:
    """Where manifests are fetched; `private`: also from this machine and private networks;
    `hosts`: globs of hosts that may be asked although nothing names them."""

    urls: tuple[str, ...] = ()
    private: bool = False
    hosts: tuple[str, ...] = ()


@dataclass
class _Fetched:
    until: float
    servicing: tuple[Manifest, ...] = ()
    discovery: tuple[Manifest, ...] = field(default=())


class Directory:
    """Finds and describes agents. `home` and `settings` are asked each time, since a reload may
    change them."""

    def __init__(
        self,
        home: Callable[[], Home],
        settings: Callable[[], DirectorySettings],
        clock: Clock,
        model: ModelRanking | None = None,
    ) -> None:
        self._home = home
        self._model = model
        self._settings = settings
        self._clock = clock
        self._fetched: dict[str, _Fetched] = {}

    async def find(self, task: str, limit: int, language: str = "") -> Sequence[Manifest]:
        """Return the agents that fit a task, the best first, each with a score from 0 to 1; with a
        `language` (BCP 47), without those that speak only others. They are ranked by their words,
        or by a model, if the configuration names one."""
        known = await self.known()
        by_words = ranked(known, task, _READ, language)
        if self._model is not None:
            named = {manifest.identification.speaker_uri for manifest in by_words}
            others = [one for one in known if one.identification.speaker_uri not in named]
            read = [*by_words, *speaking(others, language)][:_READ]
            if (by_model := await self._model.ranked(task, read)) is not None:
                return by_model[:limit]
        return by_words[:limit]

    async def describe(self, who: str) -> Manifest | None:
        """Return the manifest of the agent with this name, `speakerUri` or address."""
        name = who.strip().removeprefix("@").rstrip("/")
        for manifest in await self.known():
            own = manifest.identification
            addresses = (own.speaker_uri, own.service_url.rstrip("/"))
            if name in addresses or name.casefold() == own.conversational_name.casefold():
                return manifest
        if "://" in name and self._may_ask(name):
            return next(iter((await self._manifests(name)).servicing), None)
        return None

    def _may_ask(self, url: str) -> bool:
        try:
            host = urlsplit(address_of(url, query=True)).hostname or ""
        except ValueError:
            return False
        return any(matches(glob, host) for glob in self._settings().hosts)

    async def name_at(self, url: str) -> str:
        """Return what the agent at an address calls itself; "" if it does not say."""
        fetched = await self._manifests(url)
        return next((m.identification.conversational_name for m in fetched.servicing), "")

    async def known(self) -> Sequence[Manifest]:
        """Return all agents that are known, each once: those of the bridge first."""
        home = self._home()
        own = [manifest_of_agent(home, agent) for agent in home.agents]
        found = {manifest.identification.speaker_uri: manifest for manifest in own}
        asked: set[str] = set()
        addresses: Sequence[str] = self._settings().urls
        state, depth = FIND.first, 0
        while state == "search":
            new = [url for url in dict.fromkeys(addresses) if url not in asked]
            new = new[: _MOST - len(asked)] if depth < _DEEPEST else []
            if not new:
                state = FIND.after(state, "nobody_left")
                break
            asked.update(new)
            depth, state = depth + 1, FIND.after(state, "send")
            answers = await asyncio.gather(*map(self._manifests, new))
            for answer in answers:
                for manifest in answer.servicing:
                    found.setdefault(manifest.identification.speaker_uri, manifest)
            addresses = list(_addresses(m for answer in answers for m in answer.discovery))
            state = FIND.after(state, "discovery" if addresses else "servicing")
        return [replace(manifest, score=None) for manifest in found.values()]

    async def _manifests(self, url: str) -> _Fetched:
        """What an address says of its agents, asked up to three times; if it does not answer, what
        it said before."""
        known = self._fetched.get(url)
        if known is not None and known.until > self._clock.monotonic():
            return known
        fetched, state, tries = None, MANIFEST.first, 0
        while state in ("search", "waiting"):
            state, tries = MANIFEST.after(state, "send"), tries + 1
            try:
                fetched = await self._fetch(url)
                state = MANIFEST.after(state, "publish")
            except BridgeError as error:
                log.warning("manifest_not_fetched", url=url, error=str(error))
                state = MANIFEST.after(state, "silence")
                if tries == _TRIES or not isinstance(error, RateLimited | Unavailable | Unsettled):
                    state = MANIFEST.after(state, "give_up")
                else:
                    await self._clock.sleep(_AGAIN)
        if fetched is None:  # what it said before counts until it answers again
            before = known or _Fetched(0.0)
            fetched = replace(before, until=self._clock.monotonic() + _FAILED)
        self._fetched[url] = fetched
        return fetched

    async def _fetch(self, url: str) -> _Fetched:
        home = self._home()
        question = Envelope(
            talk=Talk(f"manifests:{uuid4()}"),
            sender=Sender(home.uri("bridge"), home.public_url or None),
            events=(Event(GET_MANIFESTS, to=Address(service_url=url), scope="all"),),
        )
        closed = not self._settings().private
        async with open_http(_DEADLINES, open_hosts_only=closed) as http:
            request = Request(url, {"accept": "application/json"}, write_envelope(question))
            async with http.answer(request) as response:
                body = await response.whole(LARGEST)
        try:
            events = read_envelope(body).envelope.events
        except InvalidData as error:
            raise BridgeError(f"its answer is no envelope: {error}") from None
        published = [event for event in events if event.type == PUBLISH_MANIFESTS]
        return _Fetched(
            self._clock.monotonic() + _FRESH,
            tuple(m for event in published for m in event.servicing),
            tuple(m for event in published for m in event.discovery),
        )


def _addresses(manifests: Iterable[Manifest]) -> Iterable[str]:
    """The addresses in manifests that others wrote; what is no address is left out."""
    for manifest in manifests:
        try:
            yield address_of(manifest.identification.service_url, query=True)
        except ValueError:
            log.info("manifest_without_address", name=manifest.identification.conversational_name)

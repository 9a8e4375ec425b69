"""Speakers of a peer -> authors of messages. Pure.

A peer speaks under the name of its token; its speakers are actors below it, so that nobody of them
can be taken for a person or an agent of the bridge."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from bridge.app.api.api_keys import Caller
from bridge.model import ActorId, Person
from bridge.openfloor.envelope import Envelope, Identification

AGENT = "assistant"
"""The role that bridges give to agents among the conversants."""

_LONGEST_NAME = 80


def author_of(caller: Caller, envelope: Envelope, uri: str) -> Person:
    """Return who said something in an envelope: `Ada Park (library)` for the speaker Ada Park of
    the token `library`, and the token's own name where the envelope names no such speaker. A
    speaker with the role of an agent is a bot, also where the token speaks for people."""
    who = _named(envelope).get(uri)
    name = " ".join((who.conversational_name if who else "").split())[:_LONGEST_NAME]
    bot = caller.is_bot or (who is not None and who.role == AGENT)
    if not name or name == caller.name:
        return Person(id=_actor(caller, uri), name=caller.name, bot=bot)
    return Person(id=_actor(caller, uri), name=f"{name} ({caller.name})", bot=bot)


def _actor(caller: Caller, uri: str) -> ActorId:
    return ActorId(f"{caller.actor}/{quote(uri, safe='')}") if uri else caller.actor


def _named(envelope: Envelope) -> Mapping[str, Identification]:
    return {one.identification.speaker_uri: one.identification for one in envelope.talk.conversants}

"""Actors of the bridge <-> the URIs under which Open Floor knows speakers. Pure."""

from __future__ import annotations

from urllib.parse import quote, unquote

from bridge.model import ActorId

FOREIGN = "openfloor"
"""The platform of speakers that other bridges and agents name."""

_YEAR = 2026  # a tag URI names a date on which its authority owned the name
_SAFE = ":@!$&'()*+,;=-._~/"


def speaker_uri(actor: str, authority: str) -> str:
    """Return the tag URI of an actor (RFC 4151), such as `tag:chat.example.org,2026:slack:T1:U1`.
    A speaker that a peer named keeps the peer's URI.

    Args:
        authority: the host under which the bridge is known.
    """
    platform, _, uri = actor.partition(":")
    if platform == FOREIGN:
        return unquote(uri)
    return f"tag:{authority},{_YEAR}:{quote(actor, safe=_SAFE)}"


def actor_of(uri: str, authority: str) -> ActorId:
    """Return the actor with this URI: one of ours, or a foreign one."""
    own = f"tag:{authority},{_YEAR}:"
    if uri.startswith(own):
        return ActorId(unquote(uri.removeprefix(own)))
    return foreign_actor(uri)


def foreign_actor(uri: str) -> ActorId:
    """Return the actor of a speaker of a peer, also where its URI claims to be one of ours."""
    return ActorId(f"{FOREIGN}:{quote(uri, safe='')}")

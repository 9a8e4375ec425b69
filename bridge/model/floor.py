"""Who may speak on a floor: what a member wants, what its convener decides, and what agents are
told of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.refs import ActorId

FloorAct = Literal["invite", "grant", "revoke", "uninvite", "yield"]


@dataclass(frozen=True)
class FloorChange:
    """What happens to a member of a floor: it may speak, may not, or has to leave.

    - `to`: the member: an actor's id, or an address of an agent.
    - `reason`: in words for people; "" for none.
    - `token`: what kind of reason it is, in the words of the protocol (`@override`); "" for none.
    """

    act: FloorAct
    to: str
    reason: str = ""
    token: str = ""


@dataclass(frozen=True)
class FloorWish:
    """A member that may not speak wants to.

    - `text`: what it wants to say, as far as that is known.
    """

    actor: ActorId
    name: str
    text: str = ""


@dataclass(frozen=True)
class FloorMember:
    """An agent on a floor, and whether it may speak."""

    actor: ActorId
    name: str
    speaks: bool = True


@dataclass(frozen=True)
class FloorView:
    """A floor with a convener, as its members see it: the actor that convenes, and all agents."""

    convener: ActorId
    agents: tuple[FloorMember, ...] = ()

"""A command: its form, who may give it, and the function that carries it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bridge.content.text.globs import matches
from bridge.model import ActorId, Place
from bridge.router.rooms.rooms import Member, Room


@dataclass(frozen=True)
class CommandCall:
    """A command as somebody gave it.

    - `words` follow its name, with mentions as actor ids.
    - `key` names the delivery: one that comes twice is answered once.
    - `answers`: what the answer must name, where the platform waits for one.
    - `private`: nobody else could read the command.
    - `can_whisper`: an answer can be shown to the asker alone.
    - `replies_to`: the platform's id of the message that the command is a reply to.
    """

    actor: ActorId
    words: tuple[str, ...]
    place: Place
    room: Room
    member: Member
    key: str
    answers: str | None = None
    private: bool = False
    can_whisper: bool = False
    replies_to: str | None = None


@dataclass(frozen=True)
class Command:
    """One command of a channel.

    - `usage` begins with its name.
    - `run` returns the answer in plain words, a line each; it raises BridgeError.
    - `words`: how many words may follow the name.
    - `everybody`: people who are no admins may give it, too.
    - `whispered`: the answer to a mention is shown to the asker alone, where that can be.
    - `fits`: the words of a mention must pass it, or they are an ordinary message.
    - `former_name`: its name in the version before, which works until the next version.
    """

    usage: str
    about: str
    run: Callable[[CommandCall], Awaitable[str]]
    words: range = range(1)
    everybody: bool = False
    whispered: bool = False
    fits: Callable[[Sequence[str]], bool] | None = None
    former_name: str = ""

    @property
    def name(self) -> str:
        return self.usage.split()[0]


def is_admin(actor: ActorId, admins: Sequence[str]) -> bool:
    """`admins` are actor ids, or globs of them (`platform:workspace:*`)."""
    return any(matches(glob, actor) for glob in admins)


def may_operate(room: Room, actor: ActorId, admins: Sequence[str]) -> bool:
    """Whether the actor is an admin, or an operator of one of the room's agents."""
    operators = [glob for membership in room.agents for glob in membership.operators]
    return is_admin(actor, admins) or is_admin(actor, operators)

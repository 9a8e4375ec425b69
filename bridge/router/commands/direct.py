"""The command `dm`: want direct messages of people on other platforms, or not; write to one."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import AccountId, ActorId, RoomId, split_key
from bridge.router.commands.direct_post import write_to
from bridge.router.inbound.context import Surroundings
from bridge.router.rooms.people import nameless


def is_direct_command(words: Sequence[str]) -> bool:
    """Whether these words are the command, and no question to an agent that begins alike."""
    return tuple(words) in (("on",), ("off",)) or "".join(words[:1]).count(":") > 1


async def direct_command(
    actor: ActorId, account: AccountId, room: RoomId, words: Sequence[str], key: str,
    around: Surroundings, *, private: bool = True,
) -> str:  # fmt: skip
    """The answer; `private`: nobody else could read the words, `key` names their delivery. Raises
    BridgeError."""
    match tuple(words):
        case ("on",):
            await around.directs.opt_in(actor, account, room)
            return (
                "People of this room on other platforms, who want it too, may write to you from "
                'now on. It comes to you where you and I are alone: answer there. "dm off" ends it.'
            )
        case ("off",):
            done = await around.directs.opt_out(actor)
            return "Nobody may write to you any more." if done else "Nobody could write to you."
        case () | (_,):
            return "It is: dm on, dm off, or dm @NAME and what you want to say."
        case _:
            return await _write(actor, account, words, key, around, private=private)


async def _write(
    actor: ActorId, account: AccountId, words: Sequence[str], key: str, around: Surroundings,
    *, private: bool,
) -> str:  # fmt: skip
    if not private:
        return 'Everybody here can read that. Say it by "/bridge dm", or to me alone.'
    if around.directs.end_of(actor) is None:
        return 'Say "dm on" first: the answers come to you there.'
    partner, count = await around.directs.named(actor, words)
    text = " ".join(words[count:])
    if not text:
        return "It is: dm @NAME and what you want to say."
    shared = around.directs.shared_room(actor, partner.actor)
    if shared and (why := around.decided.refuses_actor(actor, shared)):
        return f"Not written: {why}."
    author, _ = await around.people.complete(account, nameless(actor))
    await write_to(author, partner, text, key, around)
    known = await around.store.person(partner.actor)
    name = known.name if known else split_key(partner.actor)[-1]
    return f"Written to {name} ({partner.channel.platform.capitalize()})."

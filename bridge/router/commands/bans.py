"""Commands that ban people from a room, and with which people opt out themselves."""

from __future__ import annotations

from bridge.ports.store.people import PeopleStore
from bridge.router.commands.command import Command, CommandCall
from bridge.router.commands.targets import person_meant, reads_as_person
from bridge.router.rooms.bans import BansAndPauses


def ban_commands(store: PeopleStore, bans: BansAndPauses) -> tuple[Command, ...]:
    async def ban(call: CommandCall) -> str:
        actor = await person_meant(call.words, call.room, store)
        await bans.ban(actor, "banned", call.actor, call.room.id)
        return f"{actor} is banned from this room."

    async def unban(call: CommandCall) -> str:
        actor = await person_meant(call.words, call.room, store)
        done = await bans.unban(actor, "banned", call.room.id)
        return f"{actor} is not banned any more." if done else f"{actor} was not banned here."

    async def banned(call: CommandCall) -> str:
        here = [
            ban.actor
            for ban in bans.bans()
            if ban.reason == "banned" and ban.room in (None, call.room.id)
        ]
        return "\n".join(here) or "Nobody is banned here."

    async def optout(call: CommandCall) -> str:
        await bans.ban(call.actor, "opted_out", call.actor, None)
        return 'What you say is neither carried nor kept from now on. "optin" takes it back.'

    async def optin(call: CommandCall) -> str:
        done = await bans.unban(call.actor, "opted_out", None)
        return "What you say is carried and kept again." if done else "You had not opted out."

    return (
        Command("optout", "have nothing of yours carried", optout, everybody=True),
        Command("optin", "take that back", optin, everybody=True),
        Command(
            "ban @PERSON", "carry nothing of theirs here", ban, range(1, 6),
            fits=reads_as_person, former_name="block",
        ),
        Command(
            "unban @PERSON", "lift a ban", unban, range(1, 6),
            fits=reads_as_person, former_name="unblock",
        ),
        Command("banned", "who is banned here", banned, former_name="blocked"),
    )  # fmt: skip

"""Commands that ban people from a room, and with which people opt out themselves."""

from __future__ import annotations

from bridge.ports.store.people import PeopleStore
from bridge.router.commands.command import Command, GivenCommand
from bridge.router.commands.targets import person_meant, reads_as_person
from bridge.router.rooms.bans import BansAndPauses


def ban_commands(store: PeopleStore, bans: BansAndPauses) -> tuple[Command, ...]:
    async def ban(given: GivenCommand) -> str:
        actor = await person_meant(given.words, given.room, store)
        await bans.bar(actor, "banned", given.actor, given.room.id)
        return f"{actor} is banned from this room."

    async def unban(given: GivenCommand) -> str:
        actor = await person_meant(given.words, given.room, store)
        done = await bans.unbar(actor, "banned", given.room.id)
        return f"{actor} is not banned any more." if done else f"{actor} was not banned here."

    async def banned(given: GivenCommand) -> str:
        here = [
            ban.actor
            for ban in bans.barred()
            if ban.why == "banned" and ban.room in (None, given.room.id)
        ]
        return "\n".join(here) or "Nobody is banned here."

    async def optout(given: GivenCommand) -> str:
        await bans.bar(given.actor, "opted_out", given.actor, None)
        return 'What you say is neither carried nor kept from now on. "optin" takes it back.'

    async def optin(given: GivenCommand) -> str:
        done = await bans.unbar(given.actor, "opted_out", None)
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

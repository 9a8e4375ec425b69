"""The command `me`: a person links their accounts on two platforms."""

from __future__ import annotations

from bridge.router.commands.command import Command, CommandCall
from bridge.router.rooms.linking import Linking


def people_commands(linking: Linking) -> tuple[Command, ...]:
    async def me(call: CommandCall) -> str:
        """Make a link code, or use one. Everybody who reads a code can take the account that it was
        made for, so a code is whispered or not made. A used code may be seen by all."""
        if call.words:
            await linking.finish_link(call.actor, call.words[0])
            return "Your accounts are one person's now: a mention of one is a mention of the other."
        if not call.can_whisper:
            return (
                "Nobody can be whispered to here. Ask for a code elsewhere, and give it here: "
                "me CODE"
            )
        code = await linking.begin_link(call.actor)
        return f"Say this on another platform within 10 minutes, to nobody but me: me {code}"

    about = "link your accounts: ask for a code, give it elsewhere"
    return (Command("me [CODE]", about, me, range(2), everybody=True, whispered=True),)

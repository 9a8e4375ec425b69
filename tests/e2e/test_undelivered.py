"""Notices of undelivered messages, with a second try, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import Press, TakesUserActions
from connectors.slack.sandbox.local import LocalSlack
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.e2e.test_commands import mention

# With buttons that a local person can press: those of IRC are numbers.
PLATFORMS = ("slack", "discord", "teams")


@pytest.mark.parametrize("origin", PLATFORMS)
@pytest.mark.parametrize("way", ["note", "whisper"])
async def test_the_author_of_a_refused_message_gets_a_notice_and_can_try_again(
    tmp_path: Path, origin: str, way: str
) -> None:
    other = "discord" if origin != "discord" else "teams"
    async with local_sandbox(names=sorted({origin, other})) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["undelivered"] = way
        platform = local.platforms[origin]
        assert isinstance(platform, TakesUserActions)
        place = local.place(origin, "general")
        person = local.person(origin, place[0])
        _, channel = local.place(other, "general")
        refusal = Fault(kind="status", where=f"{other}:*:{channel}", status=403, times=None)
        whispered = way == "whisper" and origin == "slack"

        def notices() -> list[LocalMessage]:
            if whispered:
                return platform.whispers(place[0], person)
            return [message for message in local.standing(origin, "general") if message.bot]

        def has_notice(words: str) -> bool:
            """In a text, or in a card."""
            return any(words in f"{message.text} {message.raw}" for message in notices())

        async with running(local, settings) as (bridge, _):
            local.context.faults.add(refusal)
            await local.say(origin, "general", "news")
            await local.until(lambda: has_notice("did not reach"))
            assert has_notice(f"{other.capitalize()} ")
            assert len(notices()) == 1
            assert not local.standing(other, "general")

            local.context.faults.clear()
            press = Press(
                workspace=place[0], person=person, channel=place[1], message=notices()[0].id,
                action="Try again",
            )  # fmt: skip
            await platform.press(press)
            await local.until(lambda: len(local.standing(other, "general")) == 1)
            await local.until(lambda: has_notice("delivered after all"))
            assert await bridge.store.dead_letters() == []


@pytest.mark.parametrize("origin", [*PLATFORMS, "irc"])
async def test_a_refused_message_has_a_reaction_until_it_has_arrived(
    tmp_path: Path, origin: str
) -> None:
    """The commands `why` and `retry` do what the text and the button of a notice do."""
    other = "discord" if origin != "discord" else "teams"
    async with local_sandbox(names=sorted({origin, other})) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["undelivered"] = "reaction"
        _, channel = local.place(other, "general")
        refusal = Fault(kind="status", where=f"{other}:*:{channel}", status=403, times=None)
        bot = mention(local, origin)

        def is_answered(words: str) -> bool:
            """In the channel, or whispered."""
            messages = [*local.standing(origin, "general")]
            platform, workspace = local.platforms[origin], local.place(origin, "general")[0]
            if isinstance(platform, LocalSlack):
                messages += platform.whispers(workspace, local.person(origin, workspace))
            return any(message.bot and words in message.text for message in messages)

        def reactions() -> set[str]:
            return set(local.standing(origin, "general")[0].reactions)

        async with running(local, settings) as (bridge, _):
            local.context.faults.add(refusal)
            await local.say(origin, "general", "news")
            await local.until(lambda: reactions() == {"❌"})
            await local.say(origin, "general", f"{bot} why")
            await local.until(lambda: is_answered("“news”: This did not reach"))

            local.context.faults.clear()
            await local.say(origin, "general", f"{bot} retry")
            await local.until(lambda: is_answered("Tried again: 1 message."))
            await local.until(lambda: not reactions())
            (arrived,) = local.standing(other, "general")
            assert "news" in arrived.text
            assert await bridge.store.dead_letters() == []

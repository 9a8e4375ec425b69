"""The IRC connector keeps what every connector promises, as far as IRC has it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence

import pytest

from bridge.model import Call
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.testing.connector_contract import (
    ConnectorContract,
    ConnectorRig,
    delete_of,
    edit_of,
    post_of,
    posted_messages,
    send_all,
    text_of,
)
from connectors.irc.bylines import GAP
from connectors.irc.decode import KINDS
from connectors.irc.formatting import plain
from connectors.irc.link import translated
from connectors.irc.sandbox import Fault as IrcFault
from connectors.irc.sandbox.world import FaultKind
from tests.connectors.irc.conftest import CHANNEL, Local

_FAULTS: dict[str, FaultKind] = {
    "rate_limited": "rate_limited",
    "lose_answer": "lose_answer",
    "status": "close",
    "duplicate": "duplicate",
}


def standing(local: Local) -> Sequence[LocalMessage]:
    """What people see in the channel; a name with a gap in it looks like the name."""
    return [
        LocalMessage(
            platform="irc", workspace="local", channel=CHANNEL, id=message.id, author=message.nick,
            author_id=message.nick, bot=message.nick == "bridge", time=str(message.at),
            raw=message.tags,
            text="\n".join(plain(line) for line in message.text.replace(GAP, "").split("\n")),
        )
        for message in local.irc.messages(CHANNEL)
    ]  # fmt: skip


def errors() -> list[BaseException]:
    """What sockets, TLS and asyncio raise."""
    return [
        ConnectionRefusedError(111, "refused"), ConnectionResetError(104, "reset"),
        BrokenPipeError(32, "broken"), OSError(101, "no route"), TimeoutError(),
        ssl.SSLError(1, "handshake"), ssl.SSLCertVerificationError("expired"),
        asyncio.IncompleteReadError(b"", 1), asyncio.LimitOverrunError("long", 1),
        UnicodeError("host name"),
    ]  # fmt: skip


class TestIrcContract(ConnectorContract):
    @pytest.fixture
    async def rig(self, local: Local) -> AsyncIterator[ConnectorRig]:
        connector = local.connector()
        await local.start(connector)

        def fault(given: Fault) -> None:
            local.irc.fault(
                IrcFault(_FAULTS[given.kind], given.seconds, from_client=given.where == "irc:post")
            )

        yield ConnectorRig(
            connector=connector,
            channel=local.channel,
            inbox=local.inbox,
            say=local.say,
            standing=lambda: standing(local),
            fault=fault,
            post_route="irc:post",
            event_route="irc:event",
            stop=local.stop,
            translate=translated,
            sdk_errors=errors(),
            kinds=[*KINDS, "SOMETHING_NEW"],
            fields={"tasks": ("Receiver", "ChannelEvents", "Link", "Puppets", "_failing")},
        )
        await local.stop()
        assert local.irc.truncated == 0

    async def test_an_answer_in_a_thread_names_the_thread(self, rig: ConnectorRig) -> None:
        """IRC has no threads: an answer names what it answers."""
        root = await rig.say("who has the keys?", None)
        await rig.say("I do", root)
        await rig.inbox.until(
            lambda: any(text_of(event) == "I do" for event in posted_messages(rig))
        )

        answer = next(event for event in posted_messages(rig) if text_of(event) == "I do")

        assert (answer.place.thread, answer.reply_to) == (None, root)

    async def test_a_post_into_a_thread_is_shown_in_that_thread(self, rig: ConnectorRig) -> None:
        """It stands in the channel, and a tag names what it answers."""
        root = await rig.say("lunch?", None)

        (receipt,) = await send_all(rig, post_of(rig, "yes please", thread=root))

        shown = next(shown for shown in rig.standing() if shown.id == receipt.native_id)
        assert (shown.raw["+reply"], receipt.thread) == (root, None)

    async def test_an_edit_changes_the_copy(self, rig: ConnectorRig) -> None:
        """IRC cannot change a line: an edit posts the message again, as a copy of its own."""
        post = post_of(rig, "tpyo")
        (original,) = await send_all(rig, post)

        (correction,) = await send_all(rig, edit_of(post, "typo", [original]))

        lines = {shown.id: shown.text for shown in rig.standing()}
        assert lines == {
            original.native_id: "<Ann> tpyo", correction.native_id: "<Ann> (edited) typo",
        }  # fmt: skip

    async def test_a_longer_edit_adds_copies_and_a_shorter_one_deletes_them(
        self, rig: ConnectorRig
    ) -> None:
        """Every edit posts the whole message again, and changes no earlier copy."""
        post = post_of(rig, "short")
        original = await send_all(rig, post)

        longer = await send_all(rig, edit_of(post, "many words " * 60, original))
        await send_all(rig, edit_of(post, "short again", [*original, *longer]))

        texts = [shown.text for shown in rig.standing()]
        assert texts[0] == "<Ann> short"
        assert " ".join(texts[1:-1]).count("many words") == 60
        assert texts[-1] == "<Ann> (edited) short again"

    async def test_a_deletion_redacts_the_lines_of_earlier_edits(self, rig: ConnectorRig) -> None:
        post = post_of(rig, "tpyo")
        original = await send_all(rig, post)
        corrections = await send_all(rig, edit_of(post, "typo\nin two lines", original))

        await send_all(rig, delete_of(post, [*original, *corrections]))

        assert rig.standing() == []

    def pings(self, call: Call) -> bool:
        """The name in front would ring for whoever has that nick."""
        return "@everyone" in str(call.body["byline"])

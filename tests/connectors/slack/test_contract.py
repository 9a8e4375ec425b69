"""The shipped contract suites, run with the Slack connector against the local Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from bridge.model import Call
from bridge.testing.connector_contract import ConnectorContract, ConnectorRig, post_of
from bridge.testing.inbox import ListInbox
from bridge.testing.streams_contract import StreamRig, StreamsContract, stream_post
from connectors.slack import ids
from connectors.slack.connector import SlackConnector
from connectors.slack.decode import KINDS
from connectors.slack.send import translated
from tests.connectors.slack.conftest import GENERAL, Sandbox, serving
from tests.connectors.slack.foreign_errors import every_foreign_error
from tests.connectors.slack.web import bridge_web


class TestSlackOverASocket(ConnectorContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]:
        async with serving() as sandbox:
            sandbox.context.limits.on = False
            yield await _rig(sandbox, sandbox.connector(), ListInbox())

    def pings(self, call: Call) -> bool:
        return _pings(call)


class TestSlackStreams(StreamsContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]:
        async with serving() as sandbox:
            sandbox.context.limits.on = False
            rig = await _rig(sandbox, sandbox.connector(), ListInbox())
            rig.fields = {"restarted": sandbox.connector()}
            yield rig
            await rig.fields["restarted"].close()

    @pytest.fixture
    async def growing(self, rig: ConnectorRig) -> StreamRig:
        root = await rig.say("a question", None)
        asker = ids.actor_id(GENERAL.workspace, rig.standing()[-1].author_id)
        post = stream_post(rig, post_of(rig, "x"), asker, root)
        return StreamRig(post, rig.standing, rig.fields["restarted"])


class TestSlackOverHttp:
    """The parts that depend on the transport; the others run the same code."""

    test_arrival = ConnectorContract.test_a_persons_post_is_decoded_with_its_place_author_and_time
    test_thread = ConnectorContract.test_an_answer_in_a_thread_names_the_thread
    test_order = ConnectorContract.test_posts_of_one_channel_are_received_in_their_order
    test_echo = ConnectorContract.test_the_echo_of_our_post_is_marked_as_our_own
    test_twice = ConnectorContract.test_an_event_that_is_delivered_twice_is_kept_once
    test_forged = ConnectorContract.test_an_event_with_an_invalid_signature_is_refused_and_not_kept
    test_stopping = ConnectorContract.test_stopping_leaves_no_task_running

    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]:
        async with serving() as sandbox, bridge_web() as web:
            sandbox.context.limits.on = False
            inbox = ListInbox()
            connector = sandbox.connector(receive="http")
            url = web.mount(connector, inbox)
            await sandbox.slack.set_request_url(sandbox.app()["app_id"], url)
            rig = await _rig(sandbox, connector, inbox)
            rig.forge = lambda: _forge(url)
            yield rig


async def _rig(sandbox: Sandbox, connector: SlackConnector, inbox: ListInbox) -> ConnectorRig:
    await sandbox.start(connector, inbox)
    return ConnectorRig(
        connector=connector,
        channel=GENERAL,
        inbox=inbox,
        say=sandbox.say,
        standing=lambda: sandbox.slack.messages(GENERAL.workspace, GENERAL.channel),
        fault=sandbox.context.faults.add,
        post_route="slack:chat.postMessage:*",
        event_route=f"slack:event:{GENERAL.channel}",
        stop=sandbox.stop,
        translate=translated,
        sdk_errors=every_foreign_error(),
        kinds=KINDS,
        fields={"tasks": ["Socket", "SocketModeClient", "SlackConnector", "listen_on_socket"]},
    )


async def _forge(url: str) -> int:
    headers = {"x-slack-request-timestamp": "1", "x-slack-signature": "v0=00"}
    body = {"type": "event_callback"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers=headers) as answer,
    ):
        return answer.status


def _pings(call: Call) -> bool:
    """Slack reads <@U1>, <!here> and <!subteam^S1>, and with link_names also @name."""
    return (
        call.body.get("link_names") is not False
        or call.body.get("parse") != "none"
        or any(sign in str(call.body["text"]) for sign in ("<@", "<!here", "<!ch", "<!ev", "<!sub"))
    )

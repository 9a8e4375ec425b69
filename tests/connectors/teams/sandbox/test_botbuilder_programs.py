"""Plain botbuilder-core programs against the local Teams, with authentication off and on."""

from __future__ import annotations

import datetime
import ipaddress
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from aiohttp import web
from botbuilder.core import (
    BotFrameworkAdapter,
    BotFrameworkAdapterSettings,
    TurnContext,
)
from botbuilder.core.teams import TeamsInfo
from botbuilder.schema import (
    Activity,
    ChannelAccount,
    ConversationParameters,
    ConversationReference,
)
from botframework.connector.auth import PasswordServiceClientCredentialFactory
from botframework.connector.models import ErrorResponseException
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from tests.connectors.teams.sandbox.bots import (
    ISSUER,
    EchoBot,
    OwnCredentials,
    OwnCredentialsFactory,
    PlainAdapter,
    authentication,
    listening,
    message_route,
    no_authentication,
)
from tests.connectors.teams.sandbox.running import RunningTeams


async def test_an_echo_bot_without_authentication_answers_in_the_reply_chain(
    teams: RunningTeams,
) -> None:
    bot = EchoBot()

    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        question = await teams.say("@Noauth Bot hello")
        await teams.settled()

    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel))
    assert [(m.author, m.text, m.thread, m.bot) for m in messages] == [
        ("Ada Lindqvist", "@Noauth Bot hello", None, False),
        ("Noauth Bot", "Echo: hello", question.id, True),
    ]


async def test_the_old_botbuilder_adapter_works(teams: RunningTeams) -> None:
    bot = EchoBot()
    adapter = BotFrameworkAdapter(BotFrameworkAdapterSettings("", ""))

    async def messages(request: web.Request) -> web.Response:
        activity = Activity().deserialize(await request.json())
        await adapter.process_activity(
            activity, request.headers.get("Authorization", ""), bot.on_turn
        )
        return web.Response(status=201)

    async with listening(messages) as url:
        await teams.listen("plain-noauth", url)
        await teams.say("@Noauth Bot hi")
        await teams.settled()

    assert await teams.texts() == ["@Noauth Bot hi", "Echo: hi"]


async def test_a_bot_edits_and_deletes_its_own_message(teams: RunningTeams) -> None:
    bot = EchoBot()

    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.say("@Noauth Bot edit")
        await teams.say("@Noauth Bot delete")
        await teams.settled()

    assert bot.failed == []
    assert await teams.texts() == ["@Noauth Bot edit", "@Noauth Bot delete", "second"]


async def test_a_bot_lists_the_people_and_the_channels_of_its_team(teams: RunningTeams) -> None:
    bot = EchoBot()

    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.say("@Noauth Bot who")
        await teams.settled()

    assert bot.failed == []
    people = "Ada Lindqvist, Bo Tanaka, Carmen Diaz, Dev Patel, Noor Haddad"
    assert (await teams.texts())[1:] == [f"Atlas, 3 channels: {people}"]


async def test_a_stored_reference_posts_later_into_the_same_thread(teams: RunningTeams) -> None:
    bot = EchoBot()
    adapter = PlainAdapter(no_authentication())

    async def remind(turn_context: TurnContext) -> None:
        await turn_context.send_activity("a reminder")

    async with listening(message_route(adapter, bot)) as url:
        await teams.listen("plain-noauth", url)
        question = await teams.say("@Noauth Bot hello")
        await teams.settled()
    stored = bot.references[0].serialize()
    await adapter.continue_conversation(
        ConversationReference().deserialize(stored), remind, bot_app_id=""
    )

    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, teams.channel))
    assert (messages[-1].text, messages[-1].thread) == ("a reminder", question.id)


async def test_a_bot_starts_a_thread_and_answers_in_it(teams: RunningTeams) -> None:
    bot = EchoBot()
    adapter = PlainAdapter(no_authentication())
    other = teams.teams.world().places[2].channel

    async def start(turn_context: TurnContext) -> None:
        await TeamsInfo.send_message_to_teams_channel(
            turn_context, Activity(type="message", text="new chain"), other, bot_app_id="any"
        )

    async with listening(message_route(adapter, bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.say("@Noauth Bot hello")
        await teams.settled()
    await adapter.continue_conversation(bot.references[0], start, bot_app_id="any")
    root = (await teams.call(lambda: teams.teams.messages(teams.tenant, other)))[0]
    reference = bot.references[0]
    assert reference.conversation
    reference.conversation.id = f"{other};messageid={root.id}"
    await adapter.continue_conversation(
        reference, lambda turn: turn.send_activity("and more"), bot_app_id=""
    )

    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, other))
    assert [(m.text, m.thread) for m in messages] == [("new chain", None), ("and more", root.id)]


async def test_a_bot_opens_a_chat_with_one_person(teams: RunningTeams) -> None:
    bot = teams.bot("plain-noauth")
    person = next(iter(teams.teams.tenant.people))
    chat = teams.teams.personal_chat("plain-noauth", person)
    parameters = ConversationParameters(
        is_group=False,
        bot=ChannelAccount(id=bot.id),
        members=[ChannelAccount(id=person)],
        channel_data={"tenant": {"id": teams.tenant}},
    )

    await PlainAdapter(no_authentication()).create_conversation(
        "",
        lambda turn: turn.send_activity("hello you"),
        parameters,
        "msteams",
        teams.teams.service_url("plain-noauth"),
    )

    assert await teams.texts(chat) == ["hello you"]


async def test_a_refusal_reaches_the_program_as_a_botbuilder_error(teams: RunningTeams) -> None:
    bot = EchoBot()
    adapter = PlainAdapter(no_authentication())
    async with listening(message_route(adapter, bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.say("@Noauth Bot hello")
        await teams.settled()
    reference = bot.references[0]
    assert reference.conversation
    reference.conversation.id = teams.teams.world().apps[0]["not_installed"]

    with pytest.raises(ErrorResponseException) as refused:
        await adapter.continue_conversation(
            reference, lambda turn: turn.send_activity("let me in"), bot_app_id=""
        )

    error: Any = refused.value
    assert error.error.error.code == "BotNotInConversationRoster"
    assert error.response.status_code == 403


async def test_with_authentication_bot_and_service_check_each_others_token(
    teams: RunningTeams,
) -> None:
    bot = EchoBot()
    registered = teams.bot("plain")
    own = OwnCredentials(registered.app_id, registered.password, teams.token_url)
    auth = authentication(OwnCredentialsFactory(own), teams.token_url, openid_url(teams))

    async with listening(message_route(PlainAdapter(auth), bot)) as url:
        await teams.listen("plain", url)
        await teams.say("@Plain Bot hello")
        await teams.settled()

    assert bot.failed == []
    assert await teams.texts() == ["@Plain Bot hello", "Echo: hello"]


async def test_botbuilders_own_credentials_work_with_tls_in_front_of_the_login(
    teams: RunningTeams, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = EchoBot()
    registered = teams.bot("plain")
    certificate, key = self_signed(tmp_path)
    monkeypatch.setattr("asyncio.constants.SSL_SHUTDOWN_TIMEOUT", 0.1)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    factory = PasswordServiceClientCredentialFactory(
        registered.app_id, registered.password, teams.tenant
    )

    async with teams.tls(certificate, key) as address:
        login_url = f"{address}/teams/b2c_{teams.tenant}"
        auth = authentication(factory, login_url, openid_url(teams))
        async with listening(message_route(PlainAdapter(auth), bot)) as url:
            await teams.listen("plain", url)
            await teams.say("@Plain Bot hello")
            await teams.settled()

    assert bot.failed == []
    assert await teams.texts() == ["@Plain Bot hello", "Echo: hello"]


async def test_a_forged_token_and_one_for_another_bot_are_refused_by_the_bot(
    teams: RunningTeams,
) -> None:
    bot = EchoBot()
    registered = teams.bot("plain")
    own = OwnCredentials(registered.app_id, registered.password, teams.token_url)
    auth = authentication(OwnCredentialsFactory(own), teams.token_url, openid_url(teams))
    service_url = teams.teams.service_url("plain")
    forged = jwt.encode(
        {
            "iss": ISSUER,
            "aud": registered.app_id,
            "serviceurl": service_url,
            "exp": time.time() + 300,
        },
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "RS256",
        headers={"kid": teams.teams.keys.kid},
    )
    others = await teams.call(
        lambda: teams.teams.push_tokens.token(teams.bot("bridge").app_id, service_url)
    )
    activity = {
        "type": "message",
        "text": "hi",
        "channelId": "msteams",
        "serviceUrl": service_url,
        "conversation": {"id": teams.channel},
        "from": {"id": "29:x"},
        "recipient": {"id": registered.id},
    }

    with pytest.raises(jwt.InvalidSignatureError):
        await auth.authenticate_request(Activity().deserialize(activity), f"Bearer {forged}")
    with pytest.raises(PermissionError):
        await auth.authenticate_request(Activity().deserialize(activity), f"Bearer {others}")

    assert bot.received == []


def openid_url(teams: RunningTeams) -> str:
    return f"{teams.base_url}/teams/keys/openidconfiguration"


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "cert.pem", folder / "key.pem"
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate_file, key_file

"""What `check` and `setup` say, which settings are taken, and connections over TLS."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import ValidationError

from bridge.errors import AuthFailed, ConfigError
from bridge.model import AccountId, ActorId
from bridge.testing.abilities import required
from connectors.irc import connector_type
from connectors.irc.ids import channel_ref
from connectors.irc.sandbox import PLAIN, IrcServer
from connectors.irc.settings import IrcSettings
from tests.connectors.irc.conftest import CHANNEL, GivenTokens, Local, local_network
from tests.connectors.irc.sending import post


async def found(local: Local, *names: str, **changed: Any) -> list[tuple[str, str]]:
    connector = local.connector(channels=[], **changed)
    findings = await required(connector.abilities.health).check(
        [channel_ref("local", name) for name in names]
    )
    return [(finding.level, finding.what) for finding in findings]


async def test_check_finds_no_mistake_in_a_good_account(local: Local) -> None:
    assert await found(local, CHANNEL) == [
        ("ok", "The server lets 'bridge' in"),
        ("ok", "The bridge can read back the messages of a downtime"),
        ("ok", "The bot can join #general"),
    ]


async def test_check_warns_of_the_abilities_that_a_plain_server_lacks() -> None:
    async with local_network(PLAIN) as local:
        findings = await found(local)

    assert [level for level, _ in findings] == ["ok", "warning", "warning"]
    assert "no history" in findings[1][1]


async def test_check_reports_why_the_bot_cannot_join_a_channel(local: Local) -> None:
    local.irc.world.channel("#locked").key = "x"

    assert (await found(local, "#locked"))[-1] == (
        "error", "The bot cannot join #locked: it has a key: set channel_keys",
    )  # fmt: skip


async def test_check_reports_a_refused_login_and_a_missing_server(local: Local) -> None:
    local.tokens = GivenTokens({"P": "wrong"})
    ((level, what),) = await found(local, sasl="plain", password={"env": "P"})
    assert (level, "SASL" in what) == ("error", True)

    local.irc.address = ("127.0.0.1", 1)
    ((level, what),) = await found(local)
    assert (level, "connection failed" in what) == ("error", True)


def test_setup_begins_with_the_permission_of_the_operators() -> None:
    steps = connector_type.setup({"name": "House Bridge", "account": "house"})

    assert steps[0].title == "Ask first"
    example = next(str(step.artifact) for step in steps if "platform: irc" in str(step.artifact))
    assert "nick: House-Bridge" in example
    assert "account: house" in example
    with pytest.raises(ConfigError, match="--receive"):
        connector_type.setup({"receive": "http"})


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"tls": False}, "unencrypted"),
        ({"nick": "7up"}, "no nick"),
        ({"nick": "a b"}, "no nick"),
        ({"alternative_nicks": ["ok", "#no"]}, "no nick"),
        ({"sasl": "plain"}, "needs `password`"),
        ({"sasl": "external"}, "client_certificate"),
        ({"username": "a b"}, "one word"),
        ({"max_lines": 1}, "max_lines"),
        ({"nikc": "x"}, "nikc"),
    ],
)
def test_contradictory_settings_are_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        IrcSettings.model_validate({"host": "irc.example.org", "nick": "bridge"} | given)


def test_a_missing_certificate_file_is_a_configuration_error() -> None:
    settings = IrcSettings(host="irc.example.org", nick="bridge", ca_file="/nowhere.pem")

    with pytest.raises(ConfigError, match="ca_file"):
        connector_type.verify(AccountId("irc"), settings)


async def test_people_are_found_by_account_or_current_nick(local: Local) -> None:
    local.irc.person("bob", account="robert")
    local.irc.join("bob", CHANNEL)
    connector = local.connector()
    await local.start(connector)
    local.irc.say("bob", CHANNEL, "hi")
    await local.inbox.until(lambda: bool(local.inbox.raws))

    named = [
        await required(connector.abilities.people).person(ActorId(f"irc:local:{native}"))
        for native in ("robert", "~alice")
    ]
    assert [person.name for person in named if person] == ["bob", "alice"]
    assert (
        await required(connector.abilities.people).person(ActorId("irc:elsewhere:~alice")) is None
    )
    assert await required(connector.abilities.direct_messages).open(
        ActorId("irc:local:robert")
    ) == channel_ref("local", "=robert")


# --- TLS ------------------------------------------------------------------------------------


def certificate(folder: Path) -> Path:
    """A certificate of this machine's loopback with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "local")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    path = folder / "local.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )  # fmt: skip
    return path


async def test_over_tls_only_a_trusted_certificate_is_accepted(tmp_path: Path) -> None:
    path = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    irc = IrcServer()
    irc.certified = "bridge"
    await irc.start(tls=context)
    local = Local(irc)
    irc.join("alice", CHANNEL)
    try:
        with pytest.raises(AuthFailed, match="not trusted"):
            await local.connector(tls=True).run(local.inbox)
        connector = local.connector(
            tls=True, ca_file=str(path), sasl="external", client_certificate=str(path)
        )
        await local.start(connector)
        await post(connector, local, "over TLS")

        assert irc.clients[-1].account == "bridge"
        assert "over TLS" in irc.texts(CHANNEL)[-1]
    finally:
        await local.stop()
        await irc.stop()
        await asyncio.sleep(0)


async def test_the_local_server_serves_this_machine_alone() -> None:
    with pytest.raises(ValueError, match="loopback"):
        await IrcServer().start(host="0.0.0.0")

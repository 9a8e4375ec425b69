"""How a connection begins: capabilities, SASL, nicks. Each test is the talk, line by line."""

from __future__ import annotations

import base64

import pytest

from bridge.errors import AuthFailed, PlatformError, TokenRefused, Unavailable
from connectors.irc import caps, sasl
from connectors.irc.caps import Multiline
from connectors.irc.registration import Identity, Registration
from connectors.irc.state import State
from connectors.irc.wire import parse

PLAIN = Identity("bridge", others=("bridge-two",), sasl="PLAIN", account="acc", password="pw")
NOBODY = Identity("bridge")


class Talk:
    """A registration that is fed lines as a server sends them."""

    def __init__(self, identity: Identity) -> None:
        self.state = State(identity.nick)
        self.registration = Registration(identity, self.state)

    def feed(self, *lines: str) -> list[str]:
        sent: list[bytes] = []
        for raw in lines:
            line = parse(raw.encode())
            assert line is not None
            self.state.observe(line)
            sent += self.registration.feed(line)
        return [raw.decode().rstrip("\r\n") for raw in sent]


def test_capabilities_are_requested_before_the_nick() -> None:
    talk = Talk(Identity("bridge", server_password="secret", realname="Bridge, ask ops"))

    sent = [raw.decode().rstrip() for raw in talk.registration.begin()]

    assert sent == [
        "PASS secret", "CAP LS 302", "NICK bridge", "USER bridge 0 * :Bridge, ask ops",
    ]  # fmt: skip


def test_a_capability_list_of_several_lines_is_requested_once() -> None:
    talk = Talk(NOBODY)

    assert talk.feed(":s CAP * LS * :batch sasl=PLAIN", ":s CAP * LS :server-time unknown") == [
        "CAP REQ :batch server-time"
    ]
    assert talk.feed(":s CAP * ACK :batch server-time") == ["CAP END"]
    assert (
        talk.feed(":s 001 bridge :hi", ":s 005 bridge NICKLEN=30 :are", ":s 422 bridge :no") == []
    )
    assert talk.registration.done
    assert talk.state.enabled.keys() == {"batch", "server-time"}


def test_after_a_refused_request_the_capabilities_are_requested_singly() -> None:
    talk = Talk(NOBODY)
    talk.feed(":s CAP * LS :batch server-time")

    assert talk.feed(":s CAP * NAK :batch server-time") == ["CAP REQ batch", "CAP REQ server-time"]
    assert talk.feed(":s CAP * NAK :batch") == []
    assert talk.feed(":s CAP * ACK :server-time") == ["CAP END"]
    assert talk.state.enabled.keys() == {"server-time"}


def test_registration_ends_on_a_server_without_capabilities() -> None:
    talk = Talk(NOBODY)

    assert (
        talk.feed(":s 421 * CAP :Unknown command", ":s 001 bridge :hi", ":s 376 bridge :end") == []
    )
    assert talk.registration.done


def test_sasl_plain_sends_account_and_password_before_cap_end() -> None:
    talk = Talk(PLAIN)
    talk.feed(":s CAP * LS :sasl=EXTERNAL,PLAIN")

    assert talk.feed(":s CAP * ACK :sasl") == ["AUTHENTICATE PLAIN"]
    (answer,) = talk.feed("AUTHENTICATE +")
    assert base64.b64decode(answer.split()[1]) == b"acc\0acc\0pw"
    assert talk.feed(":s 900 bridge bridge!u@h acc :in", ":s 903 bridge :ok") == ["CAP END"]
    assert (talk.state.account, talk.registration.logged_in) == ("acc", True)


def test_sasl_external_sends_an_empty_payload() -> None:
    talk = Talk(Identity("bridge", sasl="EXTERNAL"))
    talk.feed(":s CAP * LS :sasl", ":s CAP * ACK :sasl")

    assert talk.feed("AUTHENTICATE +") == ["AUTHENTICATE +"]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ((":s CAP * LS :sasl", ":s CAP * ACK :sasl", ":s 904 * :failed"), TokenRefused),
        ((":s CAP * LS :sasl=SCRAM-SHA-256", ":s CAP * ACK :sasl"), AuthFailed),
        ((":s CAP * LS :batch", ":s CAP * ACK :batch", ":s 376 bridge :end"), AuthFailed),
        ((":s 464 * :bad password",), TokenRefused),
        ((":s 465 * :you are banned",), AuthFailed),
        (("ERROR :Trying to reconnect too fast.",), Unavailable),
    ],
)
def test_a_failed_login_ends_the_registration(
    lines: tuple[str, ...], error: type[PlatformError]
) -> None:
    with pytest.raises(error):
        Talk(PLAIN).feed(*lines)


def test_another_nick_is_taken_while_the_nick_is_in_use() -> None:
    talk = Talk(PLAIN)
    refused = [f":s 433 * n{n} :in use" for n in range(3)]

    assert talk.feed(*refused) == ["NICK bridge-two", "NICK bridge_", "NICK bridge__"]
    with pytest.raises(AuthFailed, match="alternative_nicks"):
        talk.feed(*[":s 433 * n :in use"] * 20)


def test_a_payload_of_exactly_400_characters_is_followed_by_a_plus() -> None:
    assert [len(chunk) for chunk in sasl.chunks("x" * 900)] == [400, 400, 100]
    assert sasl.chunks("x" * 400)[1:] == ["+"]
    assert sasl.chunks("") == ["+"]


def test_the_limits_of_multiline_are_read() -> None:
    on = {"batch": "", "draft/multiline": "max-bytes=4096,max-lines=24"}

    assert caps.multiline_of(on) == Multiline(4096, 24)
    assert caps.multiline_of({"draft/multiline": "max-bytes=4096"}) is None  # needs batches
    assert caps.multiline_of({"batch": "", "draft/multiline": "max-lines=3"}) is None


def test_the_state_follows_changes_of_nick_and_host() -> None:
    talk = Talk(NOBODY)
    talk.feed(":s 001 bridge :hi", ":bridge!u@host JOIN #x", ":s 353 bridge = #x :@bridge +al")
    talk.feed(":s 366 bridge #x :end", ":al!u@h NICK bo", ":bo!u@h ACCOUNT bobby")
    talk.feed(
        ":s 396 bridge longer.host.example :is now your host",
        ":bridge!u@longer.host.example NICK b2",
    )

    state = talk.state
    assert state.mask_bytes == len("b2!u@longer.host.example")
    assert (state.nick, state.mask) == ("b2", "b2!u@longer.host.example")
    assert dict(state.members("#X")) == {"b2": "b2", "bo": "bo"}
    assert (state.account_of("BO"), state.nick_of_account("Bobby")) == ("bobby", "bo")
    talk.feed(":op!u@h KICK #x b2 :out")
    assert not state.is_joined("#x")

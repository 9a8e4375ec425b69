"""An account whose token is not taken is not up, whatever its connection says."""

from __future__ import annotations

from typing import Literal

import pytest

from bridge.errors import AuthFailed, NotFound, PlatformError, TokenRefused, Unavailable
from bridge.ports.abilities.health import Health
from bridge.runtime.credential import Credential

UP = Health("connected", connected_since=1.0, last_event_at=2.0)


def ask(credential: Credential, error: PlatformError | None = None) -> None:
    with credential.watched():
        if error is not None:
            raise error


def test_a_refused_token_is_told_until_it_is_taken_again() -> None:
    credential = Credential()
    assert credential.health(UP) == UP

    with pytest.raises(TokenRefused):
        ask(credential, TokenRefused("the token was revoked"))
    assert credential.health(UP) == Health(
        "failed", connected_since=1.0, last_event_at=2.0, note="the token was revoked"
    )

    ask(credential)
    assert credential.health(UP) == UP


@pytest.mark.parametrize(
    ("error", "taken"),
    [(Unavailable("503"), False), (NotFound("no channel"), True), (AuthFailed("no scope"), True)],
)
def test_other_refusals_say_that_the_token_is_taken_and_silence_says_nothing(
    error: PlatformError, taken: bool
) -> None:
    credential = Credential()
    with pytest.raises(TokenRefused):
        ask(credential, TokenRefused("revoked"))

    with pytest.raises(type(error)):
        ask(credential, error)

    assert (credential.refused == "") is taken


@pytest.mark.parametrize("state", ["connecting", "stopped", "failed"])
def test_what_is_not_up_says_itself_why(
    state: Literal["connecting", "stopped", "failed"],
) -> None:
    credential = Credential()
    with pytest.raises(TokenRefused):
        ask(credential, TokenRefused("revoked"))

    assert credential.health(Health(state, note="own")) == Health(state, note="own")

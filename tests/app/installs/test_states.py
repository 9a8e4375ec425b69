"""The state of an OAuth flow fits one browser, one platform and ten minutes."""

from __future__ import annotations

import pytest

from bridge.app.installs.states import LIFETIME, States
from bridge.errors import Unauthorized

STATES = States(b"k" * 32)
STATE, BROWSER = STATES.begin("slack", 1000.0)


def test_a_state_fits_its_browser_until_it_ends() -> None:
    checked = STATES.check("slack", STATE, BROWSER, 1000.0 + LIFETIME - 1)

    assert checked.expires == 1000.0 + LIFETIME


def test_a_second_tab_keeps_the_secret_of_its_browser() -> None:
    second, browser = STATES.begin("slack", 1001.0, BROWSER)

    assert (browser, second == STATE) == (BROWSER, False)


def test_a_cookie_of_another_form_is_replaced() -> None:
    assert STATES.begin("slack", 1000.0, "chosen by somebody else")[1] != "chosen by somebody else"


@pytest.mark.parametrize(
    ("platform", "state", "browser", "now"),
    [
        ("slack", STATE, BROWSER, 1000.0 + LIFETIME + 1),  # late
        ("slack", STATE, BROWSER, 0.0),  # of the future
        ("discord", STATE, BROWSER, 1000.0),
        ("slack", STATE, STATES.begin("slack", 1000.0)[1], 1000.0),
        ("slack", STATE, "", 1000.0),
        ("slack", STATE.replace("1600", "9999"), BROWSER, 1000.0),
        ("slack", STATE + "\n", BROWSER, 1000.0),
        ("slack", "", BROWSER, 1000.0),
    ],
    ids=["late", "early", "platform", "browser", "no browser", "time", "line", "none"],
)
def test_any_other_state_is_refused(platform: str, state: str, browser: str, now: float) -> None:
    with pytest.raises(Unauthorized):
        STATES.check(platform, state, browser, now)


def test_another_key_makes_other_states() -> None:
    with pytest.raises(Unauthorized):
        States(b"x" * 32).check("slack", STATE, BROWSER, 1000.0)

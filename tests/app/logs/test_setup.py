"""Logs: lines for people, JSON for machines, and no secrets for anybody."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.app import redaction
from bridge.app.logs.setup import redact, to_json
from bridge.app.redaction import HIDDEN, hide_secrets
from tests.examples import examples

SECRETS = {
    "slack bot token": "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "slack app token": "xapp-1-A0123456789-1234567890123-abcdef0123456789",
    "slack refresh token": "xoxe.xoxp-1-Mi0yLTEyMzQ1Njc4OTAxMg",
    "discord token": "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs-ab",
    "json web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize(
    "form", ["{}", "Authorization: Bearer {}", "Bot {}", "at {} end", "('{}',)"]
)
def test_tokens_are_hidden_anywhere_in_an_event(secret: str, form: str) -> None:
    hidden = hide_secrets(form.format(secret))

    assert HIDDEN in hidden
    assert secret[-12:] not in hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("POST https://discord.com/api/v10/webhooks/123456/abcDEF0123456789_-abcd?wait=1",
         f"POST https://discord.com/api/v10/webhooks/{HIDDEN}?wait=1"),
        ("https://hooks.slack.com/actions/T0/123/abcdefgh", f"https://hooks.slack.com/{HIDDEN}"),
        ("https://files.example/a.png?ex=1&hm=abc123&size=2",
         f"https://files.example/a.png?ex=1&hm={HIDDEN}&size=2"),
        ("wss://wss.slack.com/link?ticket=abc-1", f"wss://wss.slack.com/link?ticket={HIDDEN}"),
        ("grant_type=client_credentials&client_secret=s%20x&scope=a",
         f"grant_type=client_credentials&client_secret={HIDDEN}&scope=a"),
        ("Authorization: Bearer abcdefghijklmnop.qrst", f"Authorization: Bearer {HIDDEN}"),
    ],
)  # fmt: skip
def test_signed_addresses_and_headers_are_hidden(text: str, hidden: str) -> None:
    assert hide_secrets(text) == hidden


@pytest.mark.parametrize(
    "text",
    ["channel slack:T0ACME:C0123:1700000000.000100", "the bot token does not work: invalid_auth",
     "operation 531a06365c5441e79c7bb5b647b0c8b8", "agent:echo", "xbox-one", "Bearer of news"],
)  # fmt: skip
def test_text_without_secrets_stays_unchanged(text: str) -> None:
    assert hide_secrets(text) == text


def test_secrets_are_hidden_at_any_depth_and_by_the_name_of_their_key() -> None:
    event = {
        "event": "failed", "bot_token": "anything", "count": 3, "up": True, "none": None,
        "error": "not allowed: xoxb-1234567890-abc", "deep": {"a": [{"password": "p", "ok": "ok"}]},
        "thing": ValueError("Bearer abcdefghijklmnopqrstu"),
    }  # fmt: skip

    assert redact(None, "", dict(event)) == {
        "event": "failed", "bot_token": HIDDEN, "count": 3, "up": True, "none": None,
        "error": f"not allowed: {HIDDEN}", "deep": {"a": [{"password": HIDDEN, "ok": "ok"}]},
        "thing": f"ValueError('Bearer {HIDDEN}",
    } | {"thing": redact(None, "", {"x": event["thing"]})["x"]}  # fmt: skip
    assert "abcdefgh" not in str(redact(None, "", dict(event)))


def test_text_of_people_cannot_forge_a_log_line_or_control_a_terminal() -> None:
    assert redact(None, "", {"channel": "a\rb\x1b[2Jc"}) == {"channel": "a\\x0db\\x1b[2Jc"}


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
            lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_any_event_can_be_logged(event: dict[str, object]) -> None:
    assert isinstance(to_json(None, "", dict(redact(None, "", event))), str)


@pytest.mark.process
@pytest.mark.parametrize("form", ["json", "text"])
def test_events_and_logs_of_sdks_are_lines_on_stderr(form: str) -> None:
    code = f"""
import logging, warnings, structlog
from bridge.app.logs.setup import configure_logs
from bridge.app.settings.sections import LogSettings
from tests.examples import examples
configure_logs(LogSettings(format={form!r}))
structlog.get_logger().info("bridge_started", web="http://127.0.0.1")
structlog.get_logger().debug("unseen")
logging.getLogger("slack_bolt").info("unseen")
logging.getLogger("slack_bolt").warning("retry with xoxb-123456789-abcdef %s", "soon")
logging.getLogger("odd").warning("%d", "no number")
logging.getLogger("odd").log(35, "between two levels")
warnings.warn("old", DeprecationWarning, stacklevel=1)
try:
    raise RuntimeError("xapp-1-A0123456-abcdef")
except RuntimeError:
    structlog.get_logger().exception("broke")
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", code],
                          capture_output=True, text=True, check=True)  # fmt: skip

    assert done.stdout == ""
    assert "unseen" not in done.stderr
    assert not any(secret in done.stderr for secret in ("xoxb-123456789", "xapp-1-A0"))
    if form == "json":
        lines = [orjson.loads(line) for line in done.stderr.splitlines()]
        assert [line["event"] for line in lines][:3] == [
            "bridge_started", f"retry with {HIDDEN} soon", "%d"
        ]  # fmt: skip
        assert list(lines[0]) == ["timestamp", "level", "event", "web"]
        assert "RuntimeError" in lines[-1]["exception"]
    else:
        assert "bridge_started" in done.stderr


_PIECES = (
    "xoxb-", "xapp.", "eyJ", "uacs.", "/webhooks/", "/files/", "hooks.slack.com/", "Bearer ",
    "bot\t", "BASIC\n", "baſic ", "toKen=", "?Token=", "&sig=", "?hm=", "client_secret=",
    "PASSWORD=", "tıcket=", "tİcket=", ".", "-", " ", "\n", "a1_B", "Zz9" * 8, "q" * 27, "7" * 6,
    "Abc123", "&", "ß", "uacs",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=14).map("".join))
@settings(max_examples=examples(400))
def test_the_fast_check_for_secrets_misses_none(text: str) -> None:
    assert hide_secrets(text) == redaction._shapes().secrets.sub(HIDDEN, text)  # pyright: ignore[reportPrivateUsage]

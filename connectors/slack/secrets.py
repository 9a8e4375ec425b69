"""The shapes of Slack's tokens and secret URLs (docs.slack.dev "Tokens", 2026-08)."""

from __future__ import annotations

from bridge.ports.secret_shapes import SecretShape

SECRET_SHAPES = (
    # xoxb-, xapp-, xoxe.xoxp-
    SecretShape(r"\bx(?:ox[a-z]|app)[-.][A-Za-z0-9.-]{6,}", signs=("xox", "xapp")),
    # response and webhook addresses
    SecretShape(r"(?<=hooks\.slack\.com/)[A-Za-z0-9/_-]{8,}", signs=("hooks.slack.com/",)),
)

"""Signatures of what is sent and answered, as Standard Webhooks has them (standardwebhooks.com,
2026-11). Pure: the time is passed in.

`v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`. An answer has the id
`answer:<id>`, the events of a streamed answer `answer:<id>/0`, `answer:<id>/1` ...: so no answer
passes for another, nor for what we sent, and none is left out.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from bridge.errors import AgentError, ConfigError

WINDOW = 300.0
"""Seconds that a signature is good for, before and after."""

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


def signing_key(secret: str) -> bytes:
    """Any string; `whsec_` and base64, where it was made for Standard Webhooks."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ConfigError("the secret of a webhook begins with whsec_ and is no base64") from None


def sign(key: bytes, own_id: str, timestamp: str, body: bytes) -> str:
    signed = f"{own_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def check(key: bytes, own_id: str, timestamp: str, body: bytes, given: str, now: float) -> None:
    """`given` may hold several signatures with spaces between, while a secret is changed. Raises
    AgentError where none is good, or where it is too old."""
    expected = sign(key, own_id, timestamp, body).encode()
    if not any(hmac.compare_digest(expected, one.encode()) for one in given.split()):
        raise AgentError("its answer is not signed as it must be")
    number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16
    if not number or abs(now - int(timestamp)) > WINDOW:
        raise AgentError("its answer was signed too long ago, or its clock is wrong")

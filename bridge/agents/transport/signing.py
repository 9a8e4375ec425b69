"""Signatures of requests and answers by Standard Webhooks (standardwebhooks.com, 2026-11). Pure:
the time is passed in.

`v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`. An answer has the id
`answer:<id>`, the events of a streamed answer `answer:<id>/0`, `answer:<id>/1` ...: so no answer
passes for another or for a request, and none can be left out."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from bridge.errors import AgentError, ConfigError

WINDOW = 300.0
"""Seconds that a signature is valid, before and after its time."""

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


def signing_key(secret: str) -> bytes:
    """Return the key of a secret: any string, or `whsec_` and base64 as Standard Webhooks writes
    it. Raises ConfigError for invalid base64."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ConfigError("the webhook's secret begins with whsec_ but is not base64") from None


def sign(key: bytes, own_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body."""
    signed = f"{own_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def check(
    key: bytes, own_id: str, timestamp: str, body: bytes, signatures: str, now: float
) -> None:
    """Raise AgentError if no signature is valid or the time is outside the window. `signatures` may
    hold several, separated by spaces, while a secret is rotated; `now` is in seconds since 1970."""
    expected = sign(key, own_id, timestamp, body).encode()
    if not any(
        hmac.compare_digest(expected, signature.encode()) for signature in signatures.split()
    ):
        raise AgentError("its answer has no valid signature")
    number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16
    if not number or abs(now - int(timestamp)) > WINDOW:
        raise AgentError("the signature of its answer is too old, or its clock is wrong")

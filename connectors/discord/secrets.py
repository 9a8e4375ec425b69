"""The shapes of a Discord bot's token and a webhook's address (2026-08)."""

from __future__ import annotations

from bridge.ports.secret_shapes import SecretShape

SECRET_SHAPES = (
    # id, time and hmac in base64
    SecretShape(
        r"\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        sign_pattern=r"\.[A-Za-z0-9_-]{6}\.",
    ),
    SecretShape(r"(?<=/webhooks/)\d+/[A-Za-z0-9_-]{20,}", signs=("/webhooks/",)),
)

"""The payloads of SASL PLAIN and EXTERNAL. Pure; IRCv3 sasl-3.1 and RFC 4616."""

from __future__ import annotations

import base64

CHUNK = 400  # characters of one AUTHENTICATE line


def plain_payload(user: str, password: str) -> str:
    identity = f"{user}\0{user}\0{password}".encode()
    return base64.b64encode(identity).decode()


def chunks(payload: str) -> list[str]:
    """The parameters of the AUTHENTICATE lines; an exact multiple of 400 ends with `+`."""
    if not payload:
        return ["+"]
    pieces = [payload[at : at + CHUNK] for at in range(0, len(payload), CHUNK)]
    return [*pieces, "+"] if len(pieces[-1]) == CHUNK else pieces

"""The `state` of an OAuth flow: bound to one browser, ten minutes long, used once. Pure.

A state is `EXPIRES.RANDOM.MAC`; the MAC covers the platform and the secret of the browser's cookie,
which is in no address. A state that somebody else began does not fit the cookie of this browser.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from bridge.errors import Unauthorized

LIFETIME = 600.0  # seconds
COOKIE = "uacs_bridge_install"
_FORM = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
_BROWSER = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_KEY = b"uacs-bridge states of installations"


@dataclass(frozen=True)
class CheckedState:
    """A state that fits its browser. `digest` is what is remembered of it once it is used."""

    digest: bytes
    expires: float


class States:
    """Makes and checks states with the store's key."""

    def __init__(self, key: bytes) -> None:
        self._key = hmac.digest(key, _KEY, "sha256")

    def begin(self, platform: str, now: float, browser: str = "") -> tuple[str, str]:
        """Return a new state and the secret for the browser's cookie: the one that it has, so that
        two tabs of it do not disturb one another, or a new one."""
        if not _BROWSER.fullmatch(browser):
            browser = secrets.token_urlsafe(32)
        expires = str(int(now + LIFETIME))
        random = secrets.token_urlsafe(16)
        return f"{expires}.{random}.{self._mac(platform, expires, random, browser)}", browser

    def check(self, platform: str, state: str, browser: str, now: float) -> CheckedState:
        """Check that this browser began the flow. Raises Unauthorized for any other state."""
        found = _FORM.fullmatch(state)
        if found is None:
            raise Unauthorized("the request has no valid state")
        if not _BROWSER.fullmatch(browser):
            raise Unauthorized("this browser began no installation; cookies may be blocked")
        expires, random, mac = found.groups()
        if not hmac.compare_digest(mac, self._mac(platform, expires, random, browser)):
            raise Unauthorized("the state is not that of this browser")
        if not now < int(expires) <= now + LIFETIME + 1:
            raise Unauthorized("the installation took longer than ten minutes")
        return CheckedState(hashlib.sha256(state.encode()).digest(), float(expires))

    def sign(self, text: str, browser: str) -> str:
        """Return a MAC of a text for this browser."""
        return self._mac("text", text, browser)

    def _mac(self, *parts: str) -> str:
        return hmac.digest(self._key, "\n".join(parts).encode(), "sha256").hex()

"""Text in, the same text without anything that looks like a secret out."""

from __future__ import annotations

import re

HIDDEN = "[hidden]"

# Shapes of secrets as the platforms make them. This guards against mistakes: nothing logs a
# secret on purpose. Slack: docs.slack.dev "Tokens"; Discord: id.time.hmac in base64; 2026-08.
_SECRETS = re.compile(
    r"""
      \bx(?:ox[a-z]|app)[-.][A-Za-z0-9.-]{6,}           # Slack: xoxb-, xapp-, xoxe.xoxp-
    | \b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}  # a Discord bot's token
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*        # a JSON web token
    | \buacs\.[a-z0-9_-]{1,63}\.[A-Za-z0-9_-]{16,}     # a program's token of our own
    | (?<=/webhooks/)\d+/[A-Za-z0-9_-]{20,}             # a Discord webhook's address
    | (?<=/files/)[A-Za-z0-9_-]{64,}                    # our own links to kept files
    | (?<=hooks\.slack\.com/)[A-Za-z0-9/_-]{8,}         # Slack's response and webhook addresses
    | (?i:(?<=bearer\s)|(?<=bot\s)|(?<=basic\s))[A-Za-z0-9._~+/=-]{16,}
    | (?i:(?<=[?&]token=)|(?<=[?&]sig=)|(?<=[?&]hm=)|(?<=client_secret=)|(?<=password=)
      |(?<=ticket=))[^&\s"']+                           # in addresses, forms and signed links
    """,
    re.VERBOSE,
)


# Each alternative above needs one of these: they are looked for first, because that costs a
# fiftieth. Those of the first row are as they stand, the others in any case.
_SIGNS = ("xox", "xapp", "eyJ", "uacs.", "/webhooks/", "/files/", "hooks.slack.com/")
_SIGNS_IN_ANY_CASE = ("token=", "sig=", "hm=", "client_secret=", "password=", "ticket=")
_SCHEMES = ("bearer", "bot", "basic")
_SCHEME = re.compile(r"(?:bearer|bot|basic)\s[a-z0-9._~+/=-]{16}")
_BETWEEN_DOTS = re.compile(r"\.[A-Za-z0-9_-]{6}\.")
_LIKE_ASCII = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}  # to `re` they are these letters


# pydantic shows the value that it refused: often it is what somebody said.
_INPUTS = re.compile(r"input_value=.*?(?=, input_type=)", re.DOTALL)


_PATHS = re.compile(
    r"""
      '(?:[^'\s]*/[^'\s]*|[.~]{0,2}/[^'\n]*)'
    | "(?:[^"\s]*/[^"\s]*|[.~]{0,2}/[^"\n]*)"
    | (?<![\w:/.~])[.~]{0,2}/[^\s/'",;)]+/[^\s'",;)]+  # one name alone is a command, as /invite
    """,
    re.VERBOSE,
)


def hide_inputs(text: str) -> str:
    """The text of an error without the values that a model refused."""
    return _INPUTS.sub(f"input_value={HIDDEN}", text) if "input_value=" in text else text


def hide_secrets(text: str) -> str:
    """The text with everything hidden that looks like a token or a signed link."""
    return _SECRETS.sub(HIDDEN, text) if may_hold_secret(text) else text


def hide_paths(text: str) -> str:
    """The text without the names of files: absolute paths, and what stands in quotes and has a
    slash. Web addresses stay."""
    return _PATHS.sub(lambda found: found[0] if "://" in found[0] else "(a file)", text)


def may_hold_secret(text: str) -> bool:
    """False only where nothing in the text looks like one; cheap."""
    for sign in _SIGNS:
        if sign in text:
            return True
    lower = (text if text.isascii() else text.translate(_LIKE_ASCII)).lower()
    for sign in _SIGNS_IN_ANY_CASE:
        if sign in lower:
            return True
    for scheme in _SCHEMES:
        if scheme in lower and _SCHEME.search(lower):
            return True
    return _BETWEEN_DOTS.search(text) is not None

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


# pydantic shows the value that it refused: often it is what somebody said.
_INPUTS = re.compile(r"input_value=.*?(?=, input_type=)", re.DOTALL)


def hide_inputs(text: str) -> str:
    """The text of an error without the values that a model refused."""
    return _INPUTS.sub(f"input_value={HIDDEN}", text) if "input_value=" in text else text


def hide_secrets(text: str) -> str:
    """The text with everything hidden that looks like a token or a signed link."""
    return _SECRETS.sub(HIDDEN, text)

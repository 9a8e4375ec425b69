"""Text -> the same text without anything that looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from bridge.ports.secret_shapes import HasSecretShapes, SecretShape
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of

HIDDEN = "[hidden]"

# Shapes of secrets of no platform; connectors have the shapes of their platforms. They guard
# against mistakes: no code logs a secret on purpose.
_OWN_SECRETS = r"""
      \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*        # a JSON web token
    | \buacs\.[a-z0-9_-]{1,63}\.[A-Za-z0-9_-]{16,}     # a program's token of our own
    | (?<=/files/)[A-Za-z0-9_-]{64,}                    # our own links to kept files
    | (?i:(?<=bearer\s)|(?<=bot\s)|(?<=basic\s))[A-Za-z0-9._~+/=-]{16,}
    | (?i:(?<=[?&]token=)|(?<=[?&]sig=)|(?<=[?&]hm=)|(?<=client_secret=)|(?<=password=)
      |(?<=ticket=))[^&\s"']+                           # in addresses, forms and signed links
    | (?<=://)[^\s/@"']{0,64}:[^\s/@"']+(?=@)           # user and password of an address
"""

# Each alternative needs a sign: signs are looked for first, because that costs a fiftieth. Those of
# the first row are as they stand, the others in any case. Passwords in addresses have a pattern.
_OWN_SIGNS = ("eyJ", "uacs.", "/files/")
_OWN_SIGN_PATTERN = r"""://[^\s/@"']{0,64}:[^\s/@"']+@"""
_SIGNS_IN_ANY_CASE = ("token=", "sig=", "hm=", "client_secret=", "password=", "ticket=")
_SCHEMES = ("bearer", "bot", "basic")
_SCHEME = re.compile(r"(?:bearer|bot|basic)\s[a-z0-9._~+/=-]{16}")
_LIKE_ASCII = {
    0x130: "i",
    0x131: "i",
    0x17F: "s",
    0x212A: "k",
}  # `re` matches them as these letters when case is ignored


@dataclass(frozen=True)
class _Shapes:
    """Patterns of secrets. Each match of `secrets` contains one of `signs` or matches
    `sign_pattern`."""

    secrets: re.Pattern[str]
    signs: tuple[str, ...]
    sign_pattern: re.Pattern[str]


@cache
def _shapes() -> _Shapes:
    """The shapes of the bridge's own secrets and of the installed connectors."""
    shapes = [shape for name in names_of(CONNECTORS) for shape in _shapes_of(name)]
    patterns = [f"(?:{shape.pattern})" for shape in shapes]
    sign_patterns = [f"(?:{shape.sign_pattern})" for shape in shapes if shape.sign_pattern]
    sign_patterns.append(_OWN_SIGN_PATTERN)
    return _Shapes(
        re.compile("|".join([*patterns, f"(?x:{_OWN_SECRETS})"])),
        (*(sign for shape in shapes for sign in shape.signs), *_OWN_SIGNS),
        re.compile("|".join(sign_patterns)),
    )


def _shapes_of(platform: str) -> Sequence[SecretShape]:
    try:
        kind = connector_type(platform)
        return kind.secret_shapes() if isinstance(kind, HasSecretShapes) else ()
    except Exception:  # noqa: BLE001 - `check` tells what is wrong with it; a log call never fails
        return ()


# pydantic's errors contain the invalid value, which is often text that a person wrote.
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
    """The text of an error without the values that a pydantic model refused."""
    return _INPUTS.sub(f"input_value={HIDDEN}", text) if "input_value=" in text else text


def hide_secrets(text: str) -> str:
    """The text with every token and signed link hidden."""
    return _shapes().secrets.sub(HIDDEN, text) if may_hold_secret(text) else text


def hide_paths(text: str) -> str:
    """The text without names of files: absolute paths, and quoted text with a slash. Web addresses
    stay."""
    return _PATHS.sub(lambda match: match[0] if "://" in match[0] else "(a file)", text)


def may_hold_secret(text: str) -> bool:
    """False only if nothing in the text looks like a secret; fast."""
    shapes = _shapes()
    for sign in shapes.signs:
        if sign in text:
            return True
    lower = (text if text.isascii() else text.translate(_LIKE_ASCII)).lower()
    for sign in _SIGNS_IN_ANY_CASE:
        if sign in lower:
            return True
    for scheme in _SCHEMES:
        if scheme in lower and _SCHEME.search(lower):
            return True
    return shapes.sign_pattern.search(text) is not None

"""Optional port: what a platform's secrets look like, so that logs and answers never show one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class SecretShape:
    """One kind of secret.

    `pattern` is a regular expression without groups; every match is hidden. `signs` are texts of
    which each secret contains one or follows one directly: texts without a sign are not searched,
    which takes a fiftieth of the time. `sign_pattern` is a cheap regular expression for secrets
    without such a text.
    """

    pattern: str
    signs: tuple[str, ...] = ()
    sign_pattern: str = ""


@runtime_checkable
class HasSecretShapes(Protocol):
    """A connector type whose platform's secrets have a recognizable form."""

    def secret_shapes(self) -> Sequence[SecretShape]:
        """Return the shapes of secret tokens and URLs. Pure and cheap: imports no SDK."""
        ...

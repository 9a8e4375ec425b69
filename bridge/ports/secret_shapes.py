"""Optional: how the secrets of a platform look, so that logs and answers never show one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class SecretShape:
    """One kind of secret. `pattern` is a regular expression without groups; whatever it matches is
    hidden.

    `signs`: texts of which each secret of this kind has one in it or just before it. Texts without
    a sign are not searched, which takes a fiftieth of the time. `sign_pattern`: a cheap regular
    expression, for secrets that have no such text.
    """

    pattern: str
    signs: tuple[str, ...] = ()
    sign_pattern: str = ""


@runtime_checkable
class HasSecretShapes(Protocol):
    """A connector type whose platform's secrets can be told by their looks."""

    def secret_shapes(self) -> Sequence[SecretShape]:
        """The shapes of tokens and of addresses that are secret. Pure and cheap: no SDK."""
        ...

"""The input and the output of a codec that writes a card. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.content.cards.tree import Asset
from bridge.model import Loss

_STORED_PREFIX = "blob:"
_MAX_ADDRESS = 500  # characters of an address in a Loss


def public_url(asset: Asset) -> str:
    """Returns the address at which anybody may fetch the bytes; empty if there is none."""
    return "" if asset.private else asset.url


def address_in_loss(url: str) -> str:
    """Returns an address as a Loss quotes it; empty for an address that holds the bytes
    themselves."""
    return "" if url.lower().startswith("data:") else url[:_MAX_ADDRESS]


@dataclass(frozen=True, slots=True)
class Rendering:
    """How to show a card at one destination.

    - `token(path)`: the token of the action at this path of the source; None if nobody receives
      presses: buttons then become links to `origin` (the original message), which is a Loss.
    - `url_of(asset)`: the public address of an asset; empty if there is none.
    - `uploads`: whether stored assets (`file_id`) may travel with the message as files.
    """

    token: Callable[[str], str] | None = None
    origin: str = ""
    url_of: Callable[[Asset], str] = public_url
    uploads: bool = False

    def travels(self, asset: Asset) -> bool:
        """Whether this asset travels as a file; a platform's own file id is no stored file."""
        return self.uploads and asset.file_id.startswith(_STORED_PREFIX)


@dataclass(frozen=True, slots=True)
class NativeMessage:
    """One message as the platform's API accepts it, and the files that travel with it, in order."""

    body: Mapping[str, JsonValue]
    files: tuple[Asset, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A card as messages of a platform, in order, and a Loss for everything that they cannot
    show."""

    messages: tuple[NativeMessage, ...]
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Payload:
    """One rich payload of a native message; `at` is its JSON pointer there."""

    schema_id: str
    data: JsonValue
    at: str = field(default="")

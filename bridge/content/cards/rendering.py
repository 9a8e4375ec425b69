"""What a codec is told when it writes a card, and what it gives back. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.content.cards.tree import Asset
from bridge.model import Loss

_STORED_PREFIX = "blob:"
_MAX_ADDRESS = 500  # characters of an address in a Loss


def public_url(asset: Asset) -> str:
    """Where anybody may fetch the bytes; empty when nobody knows such a place."""
    return "" if asset.private else asset.url


def address_in_loss(url: str) -> str:
    """An address as a Loss names it; nothing for one that holds the bytes themselves."""
    return "" if url.lower().startswith("data:") else url[:_MAX_ADDRESS]


@dataclass(frozen=True, slots=True)
class Rendering:
    """How a card is to be shown at one destination.

    - `token(path)`: the token of the action that stood at this path of the source; None where
      nobody would hear a press: buttons are links to `origin` (the original) then, and a Loss.
    - `url_of(asset)`: where anybody may fetch an asset; empty when there is no such place.
    - `uploads`: assets that we hold (`file_id`) may travel with the message as files.
    """

    token: Callable[[str], str] | None = None
    origin: str = ""
    url_of: Callable[[Asset], str] = public_url
    uploads: bool = False

    def travels(self, asset: Asset) -> bool:
        """Whether this asset goes along as a file: a platform's own id is no file of ours."""
        return self.uploads and asset.file_id.startswith(_STORED_PREFIX)


@dataclass(frozen=True, slots=True)
class NativeMessage:
    """One message as the platform's API takes it, and the files that go with it, in order."""

    body: Mapping[str, JsonValue]
    files: tuple[Asset, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A card as messages of a platform, in order, and all that they could not show."""

    messages: tuple[NativeMessage, ...]
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Payload:
    """One rich payload of a native message: `at` is its JSON pointer there."""

    schema_id: str
    data: JsonValue
    at: str = field(default="")

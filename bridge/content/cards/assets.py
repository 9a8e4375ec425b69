"""Pictures, videos, sounds and files of a card: finding them in order, and replacing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from bridge.content.cards.tree import Asset, Card
from bridge.content.media.file_names import safe_file_name
from bridge.content.text.nodes import node_fields, nodes_in, with_nodes
from bridge.model import Upload

_WORDS = ("text", "label", "title")  # fields without assets


def key_of(asset: Asset) -> str:
    """Returns the identity of an asset's bytes: the platform's own id of a file, else its address;
    empty if it has neither."""
    return asset.file_id or asset.url


def assets_in(card: Card) -> Iterator[Asset]:
    """Yields every asset of a card, in the order of the tree's fields."""
    return nodes_in(card, Asset, _asset_fields)


def with_assets(card: Card, other: Callable[[Asset], Asset]) -> Card:
    """Returns the card with `other(asset)` in place of each asset; unchanged nodes stay the same
    objects."""
    return with_nodes(card, Asset, other, _asset_fields)


def upload_of(asset: Asset) -> Upload:
    """Returns a stored file as an upload, under a name that every platform accepts."""
    return Upload(
        file_id=asset.file_id,
        name=safe_file_name(asset.name, asset.media_type),
        media_type=asset.media_type,
        size=asset.size or 0,
        alt=asset.alt,
        spoiler=asset.spoiler,
    )


@cache
def _asset_fields(kind: type) -> tuple[str, ...]:
    return tuple(name for name in node_fields(kind) if name not in _WORDS)

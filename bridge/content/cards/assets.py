"""Pictures, films, sounds and files of a card: found in order, and put in one another's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from bridge.content.cards.tree import Asset, Card
from bridge.content.media.file_names import safe_file_name
from bridge.content.text.nodes import node_fields, nodes_in, with_nodes
from bridge.model import Upload

_WORDS = ("text", "label", "title")  # of them nothing is an asset


def key_of(asset: Asset) -> str:
    """What names the bytes: the platform's own id of a file, else its address; empty for none."""
    return asset.file_id or asset.url


def assets_in(card: Card) -> Iterator[Asset]:
    """Every asset, in the order of the tree's fields."""
    return nodes_in(card, Asset, _asset_fields)


def with_assets(card: Card, other: Callable[[Asset], Asset]) -> Card:
    """The card with `other(asset)` for each asset; what does not change stays the same object."""
    return with_nodes(card, Asset, other, _asset_fields)


def upload_of(asset: Asset) -> Upload:
    """A kept file as it goes with a message, under a name that every platform takes."""
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

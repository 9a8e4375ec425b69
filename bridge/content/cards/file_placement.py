"""A file and what a destination takes -> it travels along, as a link, or by its name. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bridge.content.cards.rendering import public_url
from bridge.content.cards.tree import Asset
from bridge.content.text.sizes import readable_size
from bridge.model import Loss


def _any_type(_media_type: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Uploads:
    """What a destination takes along with a message: files of at most `limit` bytes (0: none),
    of the media types that it `takes`."""

    limit: int
    takes: Callable[[str], bool] = _any_type


@dataclass(frozen=True, slots=True)
class Placement:
    """`upload`: the bytes of `file_id` go along; `link`: `url` does; `name`: nothing but what the
    file is called. A file that is not all there is a `loss`, which never quotes the address."""

    way: Literal["upload", "link", "name"]
    file_id: str = ""
    url: str = ""
    loss: Loss | None = None


def place_file(
    asset: Asset,
    uploads: Uploads,
    *,
    url_of: Callable[[Asset], str] = public_url,
    at: str = "",
) -> Placement:
    """The best way for a file that we hold (`file_id`) or only know the address of.

    - `file_too_large`, `file_type_not_taken`, `file_size_unknown`, `file_not_taken` (the
      destination takes none): we hold it, and it cannot go along.
    - `file_not_held`: we could not fetch it, and its own address is shown.
    - `file_not_reachable`: there is no address either that its readers could open.
    """
    reason = _why_not(asset, uploads)
    if not reason:
        return Placement("upload", file_id=asset.file_id)
    if url := url_of(asset):
        return Placement("link", url=url, loss=_loss(asset, reason, "link", at))
    if reason == "file_not_held":
        reason = "file_not_reachable"
    if asset.page:
        return Placement("link", url=asset.page, loss=_loss(asset, reason, "link to its page", at))
    return Placement("name", loss=_loss(asset, reason, "name", at))


def file_label(asset: Asset) -> str:
    """What a file is called where it cannot be shown: its name (else what it shows, else its
    type), with its size where that is known."""
    names = (asset.name, asset.alt, asset.media_type)
    name = next((" ".join(text.split()) for text in names if text.strip()), "file")
    return ", ".join(filter(None, (name, readable_size(asset.size))))


def _why_not(asset: Asset, uploads: Uploads) -> str:
    """Why a file cannot go along with a message; empty when it can."""
    if not asset.file_id.startswith("blob:"):
        return "file_not_held"
    if uploads.limit <= 0:
        return "file_not_taken"
    if asset.size is None:
        return "file_size_unknown"
    if asset.size > uploads.limit:
        return "file_too_large"
    return "" if uploads.takes(asset.media_type) else "file_type_not_taken"


def _loss(asset: Asset, kind: str, shown_as: str, at: str) -> Loss:
    return Loss(path=at, kind=kind, what=file_label(asset), shown_as=shown_as)

"""How a destination shows a file: as an upload, as a link, or by its name. Pure."""

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
    """The files that a destination accepts with a message: at most `limit` bytes each (0: none), of
    the media types that it `takes`."""

    limit: int
    takes: Callable[[str], bool] = _any_type


@dataclass(frozen=True, slots=True)
class Placement:
    """How one file is shown: as an `upload` of the bytes of `file_id`, as a `link` to `url`, or by
    its `name` alone.

    `loss` is set if the destination does not show the whole file; it never quotes the address.
    """

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
    """Chooses how to show a file that the bridge has stored (`file_id`) or knows the address of.

    The kinds of its Loss:

    - `file_too_large`, `file_type_not_taken`, `file_size_unknown`, `file_not_taken` (the
      destination accepts none): the bridge has the file and cannot upload it.
    - `file_not_held`: the bridge could not fetch it and shows its own address.
    - `file_not_reachable`: it has no address that its readers could open, either.

    Args:
        asset: The file.
        uploads: What the destination accepts.
        url_of: Returns an address that readers can open; empty if there is none.
        at: The place of the file in the message, for the Loss.
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
    """Returns the text for a file that cannot be shown: its name, else its description, else its
    type; with its size if known."""
    names = (asset.name, asset.alt, asset.media_type)
    name = next((" ".join(text.split()) for text in names if text.strip()), "file")
    return ", ".join(filter(None, (name, readable_size(asset.size))))


def _why_not(asset: Asset, uploads: Uploads) -> str:
    """Why a file cannot be uploaded with a message; empty if it can."""
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

"""Where a file goes: along with the message, as a link, or by its name; and what is lost by it."""

from __future__ import annotations

import pytest

from bridge.content.cards.file_placement import Placement, Uploads, file_label, place_file
from bridge.content.cards.tree import Asset
from bridge.content.text.sizes import readable_size
from bridge.model import Loss

STORED = Asset(
    file_id=f"blob:sha256-{'ab' * 32}", name="film.mp4", media_type="video/mp4", size=20_000_000
)
LINK = "https://bridge.test/files/t/film.mp4"
LABEL = "film.mp4, 20 MB"


def lost(kind: str, shown_as: str, what: str = LABEL) -> Loss:
    return Loss(path="/files/0", kind=kind, what=what, shown_as=shown_as)


def place(asset: Asset, uploads: Uploads, link: str = "") -> Placement:
    return place_file(asset, uploads, url_of=lambda _asset: link, at="/files/0")


@pytest.mark.parametrize("limit", [20_000_000, 10**9])
def test_a_file_within_the_limit_is_uploaded_without_a_loss(limit: int) -> None:
    assert place(STORED, Uploads(limit), LINK) == Placement("upload", file_id=STORED.file_id)


@pytest.mark.parametrize(
    ("uploads", "kind"),
    [
        (Uploads(19_999_999), "file_too_large"),
        (Uploads(0), "file_not_taken"),
        (Uploads(10**9, lambda media_type: media_type.startswith("image/")), "file_type_not_taken"),
    ],
)
def test_a_file_that_cannot_be_uploaded_becomes_a_link_or_its_name(
    uploads: Uploads, kind: str
) -> None:
    assert place(STORED, uploads, LINK) == Placement("link", url=LINK, loss=lost(kind, "link"))
    assert place(STORED, uploads) == Placement("name", loss=lost(kind, "name"))


def test_a_file_of_unknown_size_is_not_uploaded() -> None:
    unknown = Asset(file_id=STORED.file_id, name="film.mp4")

    assert place(unknown, Uploads(10**9), LINK) == Placement(
        "link", url=LINK, loss=lost("file_size_unknown", "link", "film.mp4")
    )


def test_a_file_that_is_not_stored_becomes_its_own_address() -> None:
    foreign = Asset(url="https://files.test/film.mp4", name="film.mp4", file_id="F012")

    assert place_file(foreign, Uploads(10**9), at="/files/0") == Placement(
        "link", url=foreign.url, loss=lost("file_not_held", "link", "film.mp4")
    )


def test_a_private_file_that_is_not_stored_becomes_its_page_or_its_name() -> None:
    private = Asset(
        url="https://files.test/p", private=True, name="p", page="https://files.test/see"
    )
    alone = Asset(url="https://files.test/p", private=True, alt=" a  cat ")

    assert place_file(private, Uploads(1), at="/files/0") == Placement(
        "link", url=private.page, loss=lost("file_not_reachable", "link to its page", "p")
    )
    assert place_file(alone, Uploads(1), at="/files/0") == Placement(
        "name", loss=lost("file_not_reachable", "name", "a cat")
    )


@pytest.mark.parametrize(
    ("asset", "label"),
    [
        (STORED, LABEL),
        (Asset(name="a\n b ", size=0), "a b"),
        (Asset(media_type="image/png", size=10**19), "image/png"),
        (Asset(), "file"),
    ],
)
def test_the_label_of_a_file_has_its_name_and_size(asset: Asset, label: str) -> None:
    assert file_label(asset) == label


def test_sizes_are_written_with_units() -> None:
    sizes = (
        1,
        999,
        1000,
        1500,
        9_999,
        10_000,
        123_456_789,
        5 * 10**12,
        10**16,
        10**18,
        0,
        -1,
        None,
    )

    assert [readable_size(size) for size in sizes] == [
        "1 bytes", "999 bytes", "1.0 KB", "1.5 KB", "10.0 KB", "10 KB", "123 MB", "5.0 TB",
        "10000 TB", "", "", "", "",
    ]  # fmt: skip

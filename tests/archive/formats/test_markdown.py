"""An export as Markdown reads as the conversation, and nothing of a message breaks its frame."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bridge.archive.formats.markdown import Markdown
from bridge.content.markdown import markdown_to_text
from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
)
from bridge.ports.exports import ReadOptions, WriteOptions
from bridge.testing.export_contract import archived, write_all
from bridge.uacs import FilePart, MediaSource
from tests.archive.conversation import BOB, DEN, HOME, a_conversation, exported


def written(tmp_path: Path, items: Sequence[ExportItem]) -> Path:
    target = tmp_path / "out"
    write_all(Markdown(), items, target, "tin")
    return target


def test_a_file_for_each_month_and_an_index(tmp_path: Path) -> None:
    out = written(tmp_path, a_conversation())

    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.md")) == [
        "README.md",
        "den/2024-03.md",
        "home/2024-02.md",
        "home/2024-03.md",
    ]
    index = (out / "README.md").read_text()
    assert "## home\n\n**Tea**" in index
    assert "- [2024-03](<home/2024-03.md>)" in index


def test_a_message_has_author_time_text_and_notes(tmp_path: Path) -> None:
    home = (written(tmp_path, a_conversation()) / "home" / "2024-02.md").read_text()
    later = (tmp_path / "out" / "home" / "2024-03.md").read_text()

    assert "## 2024-02-29\n\n- **Ann** 23:59 *(pinned)*\n\n    message 1\n" in home
    assert "👍 2  :party: 1" in home
    assert "- **Bob 漢字** 00:00 *(edited)*" in later
    assert "*(deleted)*" in later


def test_replies_stand_below_their_root_or_name_it(tmp_path: Path) -> None:
    root, reply = exported(10), exported(11, root="10")
    late = replace(
        exported(12, root="10"),
        posted=exported(12, root="10").posted.model_copy(
            update={"time": root.posted.time + timedelta(days=40)}
        ),
    )
    out = written(tmp_path, [ExportedChannel(HOME, "home"), root, reply, late])

    month = (out / "home" / "2024-03.md").read_text()
    next_month = (out / "home" / "2024-04.md").read_text()
    assert "    - **Ann** 00:00\n\n        message 11" in month
    assert "*In the thread of `tin:W1:home:10`*" in next_month


def test_mentions_are_names(tmp_path: Path) -> None:
    text = "hi [@U2](uacs:actor/tin:W1:U2) and [@here](uacs:here), [a](https://a.test)"
    items = [ExportedPerson(BOB), ExportedChannel(HOME, "home"), exported(10, text=text)]

    month = (written(tmp_path, items) / "home" / "2024-03.md").read_text()

    assert "hi @Bob 漢字 and @here, [a](https://a.test)" in month


def test_code_that_is_not_closed_ends_with_its_message(tmp_path: Path) -> None:
    items = [ExportedChannel(HOME, "home"), exported(10, text="```\nopen"), exported(11)]

    month = (written(tmp_path, items) / "home" / "2024-03.md").read_text()

    assert month.count("```") == 2
    assert len(list(markdown_to_text(month))) > 1


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (("../../etc", "/", ".."), {"etc", "channel", "channel-2"}),
        (("General", "general"), {"General", "general-2"}),
        (("files",), {"files-2"}),
        (("a b/c",), {"a-b-c"}),
        (("日本",), {"日本"}),
    ],
)
def test_folders_have_safe_names_of_their_own(
    tmp_path: Path, names: Sequence[str], folders: set[str]
) -> None:
    channels = [ExportedChannel(DEN, name) for name in names]

    out = written(tmp_path, channels)

    assert {path.name for path in out.iterdir() if path.is_dir()} == folders
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_files_are_copied_once_and_linked(tmp_path: Path) -> None:
    file_id = f"blob:sha256-{'ab' * 32}"
    writer = Markdown().writer(tmp_path / "out", WriteOptions(lambda _: io.BytesIO(b"PDF")))
    writer.channel(ExportedChannel(HOME, "home"))
    for number in (10, 11):
        message = _with_file(exported(number), file_id)
        writer.message(archived(message, "tin"))

    assert writer.finish() == []
    assert [path.read_bytes() for path in (tmp_path / "out" / "files").iterdir()] == [b"PDF"]
    assert "](<../files/abababababababab-" in (tmp_path / "out/home/2024-03.md").read_text()


def test_a_file_without_bytes_is_reported(tmp_path: Path) -> None:
    writer = Markdown().writer(tmp_path / "out", WriteOptions())
    writer.channel(ExportedChannel(HOME, "home"))
    writer.message(archived(_with_file(exported(10), f"blob:sha256-{'ab' * 32}"), "tin"))

    assert len(writer.finish()) == 1


def test_markdown_cannot_be_read(tmp_path: Path) -> None:
    assert not Markdown().recognises(tmp_path)
    with pytest.raises(ExportUnreadable, match="can only be written"):
        Markdown().reader(tmp_path, ReadOptions())


def _with_file(item: ExportedMessage, file_id: str) -> ExportedMessage:
    part = FilePart(source=MediaSource(file_id=file_id), media_type="application/pdf")
    content = (*item.posted.message.content, part)
    message = item.posted.message.model_copy(update={"content": content})
    return replace(item, posted=item.posted.model_copy(update={"message": message}))

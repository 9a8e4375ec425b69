"""`uacs-bridge archive import`, `export`, `convert` and `formats`, without a bridge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.model.export_records import ExportedMessage
from bridge.testing.export_contract import read_all, write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    write_all(UacsLines(), a_conversation(), path, "tin")
    return path


def archive(*args: object) -> Result:
    return cli("archive", *map(str, args))


def texts(path: Path) -> list[str]:
    return [
        item.posted.message.content[0].text  # pyright: ignore
        for item in read_all(UacsLines(), path)
        if isinstance(item, ExportedMessage)
    ]


def test_what_is_imported_is_exported_again(lines: Path, tmp_path: Path) -> None:
    store, out = tmp_path / "archive.sqlite3", tmp_path / "out.jsonl"

    imported = archive("import", lines, "--store", store)
    exported = archive("export", out, "--format", "uacs-lines", "--store", store, "--deleted")

    assert "8 messages added, 0 changed, 0 known already" in imported.output
    assert f"Written: {out} (2 channels, 8 messages)" in exported.output.replace("\n", " ")
    assert sorted(out.read_bytes().splitlines()) == sorted(lines.read_bytes().splitlines())


def test_the_digests_beside_an_export_are_those_of_its_files(lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    archive("convert", lines, out, "--to", "uacs-lines")

    checked = subprocess.run(
        ["sha256sum", "--check", "out.jsonl.sha256"], cwd=tmp_path, capture_output=True, check=False
    )

    assert checked.returncode == 0, checked.stdout


def test_an_import_of_the_same_file_again_adds_nothing(lines: Path, tmp_path: Path) -> None:
    store = tmp_path / "archive.sqlite3"
    archive("import", lines, "--store", store)

    again = json.loads(archive("import", lines, "--store", store, "--json").stdout)

    assert (again["added"], again["parts"], again["parts_before"]) == (0, 1, 1)


def test_convert_leaves_nothing_but_the_export(lines: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"

    result = archive("convert", lines, folder / "out.jsonl", "--to", "uacs-lines")

    assert result.exit_code == 0, result.output
    assert {path.name for path in folder.iterdir()} == {"out.jsonl", "out.jsonl.sha256"}


def test_an_export_may_be_of_some_channels_and_times(lines: Path, tmp_path: Path) -> None:
    store, out = tmp_path / "archive.sqlite3", tmp_path / "out.jsonl"
    archive("import", lines, "--store", store)

    archive(
        "export", out, "--format", "uacs-lines", "--store", store, "--only", "home",
        "--since", "2024-03-01T00:00:00Z", "--until", "2024-03-01T00:00:02Z",
    )  # fmt: skip

    assert texts(out) == ["in the thread", "message 3"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("import", "missing.zip", "--store", "s.sqlite3"), "There is no file or folder"),
        (("import", "notes.txt", "--store", "s.sqlite3"), "is of no format that the bridge knows"),
        (("import", "in.jsonl", "--store", "s.sqlite3", "--format", "uacs-line"),
         "Did you mean 'uacs-lines'?"),
        (("import", "in.jsonl", "--store", "s.sqlite3", "--timezone", "Mars/Base"),
         "There is no time zone 'Mars/Base'"),
        (("export", "in.jsonl", "--store", "s.sqlite3", "--format", "uacs-lines"),
         "exists already"),
        (("export", "o.jsonl", "--store", "s.sqlite3", "--format", "uacs-lines", "--since", "soon"),
         "--since 'soon' is no time"),
        (("export", "o.jsonl", "--store", "s.sqlite3", "--format", "uacs-lines", "--only", "attic"),
         "no room or channel 'attic'"),
        (("export", "o.jsonl", "--store", "none.sqlite3", "--format", "uacs-lines"),
         "There is no store"),
        (("convert", "in.jsonl", "in.jsonl", "--to", "uacs-lines"), "exists already"),
    ],
    ids=["missing", "unknown", "misspelt", "zone", "target", "time", "room", "store", "itself"],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_to_do(
    lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no export")
    archive("import", lines, "--store", "s.sqlite3")
    before = lines.read_bytes()

    result = archive(*args)

    assert result.exit_code in (1, 2)
    assert words in result.stderr
    assert lines.read_bytes() == before
    assert not (tmp_path / "o.jsonl").exists()


def test_formats_lists_the_formats() -> None:
    listed = json.loads(archive("formats", "--json").stdout)

    assert {
        "name": "uacs-lines",
        "title": "UACS, JSON lines",
        "reads": True,
        "writes": True,
    } in listed
    assert len({form["name"] for form in listed}) == len(listed)
    assert "read, write" in archive("formats").stdout


@pytest.mark.process
def test_an_import_that_is_killed_goes_on_where_it_was(lines: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    store, out = tmp_path / "archive.sqlite3", tmp_path / "out.jsonl"
    head = [line for line in lines.read_text().splitlines() if '"message"' not in line[:12]]
    message = next(line for line in lines.read_text().splitlines() if '"native_id":"5"' in line)
    rest = [
        message.replace(":home:5", f":home:{number}").replace('"5"', f'"{number}"')
        for number in range(100, 4100)
    ]
    many.write_text("\n".join([*head, *rest]) + "\n")
    command = [sys.executable, "-m", "bridge", "archive", "import", many, "--store", store]
    for seconds in (0.9, 1.1, 1.3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()

    archive("import", many, "--store", store)
    archive("export", out, "--format", "uacs-lines", "--store", store)

    exported = [line for line in out.read_text().splitlines() if '"message"' in line[:12]]
    assert sorted(exported) == sorted(rest)


def test_search_finds_what_was_imported(lines: Path, tmp_path: Path) -> None:
    store = tmp_path / "archive.sqlite3"
    archive("import", lines, "--store", store)

    human = archive("search", "thread", "from:tin:W1:U2", "--store", store).stdout
    found = json.loads(archive("search", "message", "in:home", "--store", store, "--json").stdout)
    first = json.loads(
        archive("search", "message", "--limit", "1", "--store", store, "--json").stdout
    )
    deleted = archive("search", "message 4", "--deleted", "--store", store).stdout
    nothing = archive("search", "nobody", "--store", store).stdout
    refused = archive("search", "has:soul", "--store", store)

    assert "in the thread" in human
    assert "tin:W1:home:2" in human
    assert [item["text"] for item in found["found"]] == ["message 3", "message 1"]
    assert found["next"] is None
    assert first["next"] is not None
    assert "(deleted)" in deleted
    assert nothing == "Nothing found\n"
    assert "it may be image" in refused.stderr

"""`uacs-bridge db encrypt`, `change-key` and `decrypt`; other commands work with an encrypted
store."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.store.vault import NEW_VARIABLE, VARIABLE, is_encrypted
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation

pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")


@pytest.fixture
def config(tmp_path: Path) -> str:
    lines, config = tmp_path / "in.jsonl", tmp_path / "bridge.yaml"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    config.write_text("store: {path: archive.sqlite3}\n")
    result = cli("archive", "import", str(lines), "-c", str(config))
    assert result.exit_code == 0, result.output
    return str(config)


def test_a_store_is_encrypted_read_given_another_key_and_decrypted(
    config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "archive.sqlite3"
    refused = cli("db", "encrypt", "-c", config)
    assert f"set {VARIABLE}" in refused.output
    assert not is_encrypted(store)

    monkeypatch.setenv(VARIABLE, "the first key of all")
    assert "Encrypted" in cli("db", "encrypt", "-c", config).output
    assert is_encrypted(store)
    for command in (
        ("archive", "verify"), ("archive", "search", "thread"), ("archive", "stats"), ("status",),
        ("db", "vacuum"),
        ("archive", "export", str(tmp_path / "out.jsonl"), "--format", "uacs-lines"),
        ("archive", "erase", "message", "tin:W1:home:1", "--yes"),
        ("db", "backup", str(tmp_path / "b.sqlite3")), ("db", "migrate"),
    ):  # fmt: skip
        result = cli(*command, "-c", config)
        assert result.exit_code == 0, (command, result.output)
    assert is_encrypted(tmp_path / "b.sqlite3")

    monkeypatch.setenv(NEW_VARIABLE, "the second key of all")
    assert "is changed" in cli("db", "change-key", "-c", config).output
    assert "does not open" in cli("archive", "verify", "-c", config).output
    monkeypatch.setenv(VARIABLE, "the second key of all")
    assert "Decrypted" in cli("db", "decrypt", "-c", config).output
    monkeypatch.delenv(VARIABLE)
    assert cli("archive", "verify", "-c", config).exit_code == 0


def test_without_sqlcipher_the_error_says_what_to_install(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "the first key of all")
    monkeypatch.setitem(__import__("sys").modules, "sqlcipher3", None)

    assert "pip install '.[encryption]'" in cli("db", "encrypt", "-c", config).output

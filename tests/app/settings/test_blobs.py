"""A bucket in the configuration: what is valid, what is missing, what is never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.app.build import secret_refs
from bridge.app.files.blob_store import place_of
from bridge.app.settings.blobs import BlobSettings
from bridge.app.settings.file import read_settings
from bridge.app.settings.needs import unmet
from bridge.app.settings.secrets import SecretReader
from bridge.app.settings.sections import Settings
from bridge.errors import ConfigError
from bridge.runtime import extras
from bridge.store.s3.place import S3Keys, S3Place

KEYS = "access_key_id: {env: TEST_S3_ID}, secret_access_key: {env: TEST_S3_KEY}"


def settings(tmp_path: Path, blobs: str) -> Settings:
    path = tmp_path / "bridge.yaml"
    path.write_text(f"store: {{path: a.sqlite3, blobs: {blobs}}}\n")
    return read_settings(path)


async def test_a_bucket_is_named_with_its_server_and_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_S3_ID", "id")
    monkeypatch.setenv("TEST_S3_KEY", "key")
    text = f"{{url: s3://files/cell-1, endpoint: https://s3.example.org/, region: eu-1, {KEYS}}}"

    blobs = settings(tmp_path, text).store.blobs

    assert blobs is not None
    assert await place_of(blobs) == S3Place(
        "files", "cell-1", "https://s3.example.org", "eu-1", S3Keys("id", "key")
    )


@pytest.mark.parametrize(
    ("blobs", "problem"),
    [
        ("{}", "store.blobs.url: this key is needed"),
        ("{url: files}", "store.blobs.url: this is no s3://BUCKET"),
        ("{url: s3://files, endpoint: s3.example.org}", "endpoint: this is no https://HOST"),
        ("{url: s3://files, endpoint: 'https://a:b@s3.example.org'}", "an address holds no keys"),
        ("{url: s3://files, access_key_id: {env: A}}", "both access_key_id and secret_access_key"),
        ("{url: s3://files, bucket: x}", "unknown key"),
        (
            "{url: s3://files, access_key_id: {sealed: a}, secret_access_key: {sealed: b}}",
            "name env or file",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, blobs: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, blobs)

    assert problem in str(caught.value)


def test_a_key_in_the_file_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, "{url: s3://files, access_key_id: AKIA, secret_access_key: hidden-key}")

    assert "this file never contains secrets" in str(caught.value)
    assert "hidden-key" not in str(caught.value)


async def test_a_key_that_is_not_set_is_missed_before_the_start(tmp_path: Path) -> None:
    named = settings(tmp_path, f"{{url: s3://files, {KEYS}}}")

    needs = await unmet(named, SecretReader(None))

    assert [(need.part, need.problem.partition(":")[0]) for need in needs] == [
        ("store.blobs", "access_key_id"),
        ("store.blobs", "secret_access_key"),
    ]


def test_agents_never_see_the_keys_of_the_bucket(tmp_path: Path) -> None:
    named = settings(tmp_path, f"{{url: s3://files, {KEYS}}}")

    assert {ref.env for ref in secret_refs(named)} == {"TEST_S3_ID", "TEST_S3_KEY"}


async def test_the_server_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")

    from_environment = await place_of(BlobSettings(url="s3://files"))
    from_file = await place_of(BlobSettings(url="s3://files", endpoint="https://s3.example.org"))

    assert from_environment.endpoint == "http://127.0.0.1:9000"
    assert from_file.endpoint == "https://s3.example.org"


async def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_none(_name: str) -> Any:
        return None

    monkeypatch.setattr(extras.importlib.util, "find_spec", find_none)

    with pytest.raises(ConfigError, match=r"pip install '\.\[s3\]'"):
        await place_of(BlobSettings(url="s3://files"))

"""Files of messages in a bucket: they are relayed, and follow their message after the bucket was
away."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.app import build
from bridge.app.build import timeouts_of
from bridge.app.files.blob_store import files_left_in
from bridge.app.settings.sections import Settings
from bridge.router import Timeouts
from bridge.sandbox.user_actions import FileUpload
from bridge.store.s3 import blobs as s3_blobs
from bridge.store.s3.bucket import Retries
from bridge.store.s3.place import S3Place
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_awaited_files import is_shown
from tests.e2e.test_changes import PNG, files, standing
from tests.store.s3_server import KEYS, S3Server, s3_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def place(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Place:
    """A bucket, whose requests are made once."""
    monkeypatch.setattr(s3_blobs, "Retries", lambda: Retries(most=0))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_access_key)
    return server.new_place()


def in_bucket(local: Sandbox, place: S3Place, store: Path) -> dict[str, Any]:
    """The configuration of a bridge with files in the bucket."""
    settings = configuration(local, store, channels=("general",))
    settings["files"] = {"allow_loopback": True}
    settings["store"]["blobs"] = {"url": f"s3://{place.bucket}", "endpoint": place.endpoint}
    return settings


async def test_a_message_goes_without_its_file_while_the_bucket_is_away_and_gets_it_later(
    server: S3Server, place: S3Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def soon(settings: Settings) -> Timeouts:
        return replace(timeouts_of(settings), file_timeout=0.6)

    monkeypatch.setattr(build, "timeouts_of", soon)
    async with local_sandbox(limits=False, names=("slack", "discord")) as local:
        settings = in_bucket(local, place, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            workspace, channel = local.place("slack", "general")
            at = (workspace, channel, local.person("slack", workspace))
            platform = local.platforms["slack"]
            picture = [FileUpload(name="a.png", data=PNG)]
            server.fail("PUT", 503, "SlowDown", times=1_000_000)
            await platform.post_files(*at, picture, "with a picture")  # type: ignore[attr-defined]
            await platform.post_as(*at, "and on we go")
            await local.until(lambda: is_shown(local, "discord", "and on we go"))
            assert is_shown(local, "discord", "with a picture")
            assert files(local, "discord") == []
            assert bridge.router.operations.files_awaited == 1

            server.works()
            await local.until(lambda: len(files(local, "discord")) == 1)
            await local.until(lambda: not bridge.router.operations.files_awaited)
            assert (await bridge.files.blobs.total()).files == 1
            assert await bridge.store.dead_letters() == []
    assert files_left_in(tmp_path / "bridge.sqlite3") == 0


@pytest.mark.parametrize(("origin", "target"), [("slack", "discord"), ("discord", "slack")])
async def test_a_file_that_cannot_be_read_for_a_while_is_sent_once_later(
    server: S3Server, place: S3Place, tmp_path: Path, origin: str, target: str
) -> None:
    async with local_sandbox(limits=False, names=("slack", "discord")) as local:
        settings = in_bucket(local, place, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            workspace, channel = local.place(origin, "general")
            at = (workspace, channel, local.person(origin, workspace))
            picture = [FileUpload(name="a.png", data=PNG)]
            server.fail("GET", 503, "SlowDown", times=2)

            platform = local.platforms[origin]
            await platform.post_files(*at, picture, "with a picture")  # type: ignore[attr-defined]
            await local.until(lambda: len(files(local, target)) == 1)

            await local.until(lambda: is_shown(local, target, "with a picture"))
            raws = [str(message.raw) for message in standing(local, target)]
            assert sum("with a picture" in raw for raw in raws) == 1
            assert await bridge.store.dead_letters() == []

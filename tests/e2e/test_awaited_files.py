"""A file that its platform does not give for a while follows its message, and stands in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bridge.app import build
from bridge.app.build import timeouts_of
from bridge.app.settings.sections import Settings
from bridge.router import Timeouts
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import FileUpload
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_changes import PNG, files, standing

GIVES = {
    "slack": "slack:files.download:*",
    "discord": "discord:cdn:*",
    "teams": "teams:attachment.get:*",
}


@pytest.mark.parametrize("origin", [*GIVES])
async def test_a_file_that_its_platform_returns_later_is_added_to_its_message(
    tmp_path: Path, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def soon(settings: Settings) -> Timeouts:
        return replace(timeouts_of(settings), file_timeout=0.6)

    monkeypatch.setattr(build, "timeouts_of", soon)
    others = [name for name in ("slack", "discord") if name != origin]
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        async with running(local, settings) as (bridge, _):
            workspace, channel = local.place(origin, "general")
            platform = local.platforms[origin]
            at = (workspace, channel, local.person(origin, workspace))
            local.context.faults.add(
                Fault(kind="status", where=GIVES[origin], status=503, times=None)
            )
            picture = [FileUpload(name="a.png", data=PNG)]
            await platform.post_files(*at, picture, "with a picture")  # type: ignore[attr-defined]
            await platform.post_as(*at, "and on we go")
            await local.until(lambda: all(is_shown(local, o, "and on we go") for o in others))
            assert all(is_shown(local, other, "with a picture") for other in others)
            assert [files(local, other) for other in others] == [[] for _ in others]
            assert bridge.router.operations.files_awaited == 1

            local.context.faults.clear()
            await local.until(lambda: all(len(files(local, other)) == 1 for other in others))
            await local.until(lambda: not bridge.router.operations.files_awaited)
            for other in others:
                raws = [str(message.raw) for message in standing(local, other)]
                assert sum("with a picture" in raw for raw in raws) == 1
            assert await bridge.store.dead_letters() == []


def is_shown(local: Sandbox, platform: str, text: str) -> bool:
    return any(text in str(message.raw) for message in standing(local, platform))

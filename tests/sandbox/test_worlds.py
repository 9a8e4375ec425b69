"""Larger worlds of the local platforms."""

from __future__ import annotations

import pytest

from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.platform import SandboxContext, World


def world_of(platform: str, workspaces: int) -> World:
    context = SandboxContext("http://sandbox", channels=2, workspaces=workspaces)
    return local_platform_types()[platform].build(context).world()


@pytest.mark.parametrize("platform", ["slack", "discord", "teams"])
def test_each_further_workspace_has_an_app_of_its_own_and_leaves_the_others_as_they_are(
    platform: str,
) -> None:
    usual, larger = world_of(platform, 2), world_of(platform, 4)

    assert larger.apps[: len(usual.apps)] == usual.apps
    assert larger.places[: len(usual.places)] == usual.places
    assert larger.people[: len(usual.people)] == usual.people
    assert len({place.workspace_name for place in larger.places}) == 4
    assert len({place.channel for place in larger.places}) == len(larger.places) == 8
    name = usual.apps[0]["name"]
    further = [app for app in larger.apps[len(usual.apps) :] if app["name"] == name]
    places = larger.places[len(usual.places) :: 2]
    served = [
        app.get("workspace") or app.get("guilds") or [team["name"] for team in app["teams"]]
        for app in further
    ]
    expected = {
        "slack": [place.workspace for place in places],
        "discord": [[place.workspace] for place in places],
        "teams": [[place.workspace_name] for place in places],
    }
    assert served == expected[platform]

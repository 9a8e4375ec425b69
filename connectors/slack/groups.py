"""Whether a Slack member is a guest, and the user groups of a member, looked up by id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bridge.model import ActorId
from bridge.model.refs import join_key
from connectors.slack import ids
from connectors.slack.json_values import objects_at, text_at
from connectors.slack.send import WebApi


class Groups:
    """The user groups and guests of one workspace."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        """The groups among `globs` that the actor is in.

        Guests are members of single channels and people of other organisations. User groups need
        the scope `usergroups:read`. Bots are in no group. Raises PlatformError.
        """
        parts = ids.split_actor(actor)
        if parts is None or parts[1].startswith("B") or parts[2] is not None:
            return frozenset()
        team, user, _ = parts
        groups: set[str] = set()
        if any(glob.startswith("guest:") for glob in globs) and await self._is_guest(user):
            groups.add(join_key("guest", ids.PLATFORM, team))
        if any(glob.startswith("group:") for glob in globs):
            answer = await self._api.read("usergroups.list", include_users="true")
            groups |= {
                join_key("group", ids.PLATFORM, team, text_at(group, "id"))
                for group in objects_at(answer, "usergroups")
                if user in _members(group.get("users"))
            }
        return frozenset(groups)

    async def by_id(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """The handles of the workspace's user groups by their ids. Raises PlatformError."""
        if not workspaces:
            return {}
        answer = await self._api.read("usergroups.list")
        return {
            text_at(group, "id"): text_at(group, "handle")
            for group in objects_at(answer, "usergroups")
        }

    async def _is_guest(self, user: str) -> bool:
        user_object = (await self._api.read("users.info", user=user)).get("user")
        if not isinstance(user_object, dict):
            return False
        return any(user_object.get(name) is True for name in _OF_GUESTS)


def _members(users: object) -> Sequence[object]:
    return users if isinstance(users, list) else ()


_OF_GUESTS = ("is_restricted", "is_ultra_restricted", "is_stranger")

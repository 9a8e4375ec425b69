"""Whether a Slack member is a guest, and in which user groups they are, looked up by their id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.model import ActorId
from bridge.model.refs import join_key
from connectors.slack import ids
from connectors.slack.json_values import objects_at, text_at
from connectors.slack.send import WebApi


async def groups_of(api: WebApi, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
    """Guests are those of some channels alone, and people of other organisations. User groups need
    the scope `usergroups:read`. Bots are in none. Raises PlatformError."""
    parts = ids.split_actor(actor)
    if parts is None or parts[1].startswith("B") or parts[2] is not None:
        return frozenset()
    team, user, _ = parts
    found: set[str] = set()
    if any(one.startswith("guest:") for one in wanted) and await _is_guest(api, user):
        found.add(join_key("guest", ids.PLATFORM, team))
    if any(one.startswith("group:") for one in wanted):
        answer = await api.read("usergroups.list", include_users="true")
        found |= {
            join_key("group", ids.PLATFORM, team, text_at(group, "id"))
            for group in objects_at(answer, "usergroups")
            if user in _members(group.get("users"))
        }
    return frozenset(found)


async def list_groups(api: WebApi) -> Mapping[str, str]:
    """The handles of the workspace's user groups, by their ids. Raises PlatformError."""
    answer = await api.read("usergroups.list")
    return {
        text_at(group, "id"): text_at(group, "handle") for group in objects_at(answer, "usergroups")
    }


async def _is_guest(api: WebApi, user: str) -> bool:
    known = (await api.read("users.info", user=user)).get("user")
    if not isinstance(known, dict):
        return False
    return any(known.get(one) is True for one in _OF_GUESTS)


def _members(users: object) -> Sequence[object]:
    return users if isinstance(users, list) else ()


_OF_GUESTS = ("is_restricted", "is_ultra_restricted", "is_stranger")

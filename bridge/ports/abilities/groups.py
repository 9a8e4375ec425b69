"""User groups, roles and guests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from bridge.model import ActorId


@runtime_checkable
class KnowsGroups(Protocol):
    """Whether somebody is a guest, and in which groups they are, can be looked up."""

    async def groups_of(self, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
        """`guest:PLATFORM:WORKSPACE`, and `group:PLATFORM:WORKSPACE:ID` for each user group or
        role; `wanted` are the globs that somebody asks about: nothing else need be looked up.

        Raises PlatformError where the platform does not tell: then nobody knows."""
        ...


@runtime_checkable
class ListsGroups(Protocol):
    """User groups or roles can be listed."""

    async def groups(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """Of these workspaces: the name by the id. Raises PlatformError where the platform does not
        tell."""
        ...

"""User groups, roles and guests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from bridge.model import ActorId


class Groups(Protocol):
    """Whether somebody is a guest, and in which groups they are, can be looked up."""

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        """`guest:PLATFORM:WORKSPACE`, and `group:PLATFORM:WORKSPACE:ID` for each user group or
        role; `globs` are those of the configuration: nothing else need be looked up.

        Raises PlatformError where the platform does not tell: then nobody knows."""
        ...


class GroupNames(Protocol):
    """User groups or roles can be listed."""

    async def by_id(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """The names of the groups of these workspaces, by their ids. Raises PlatformError where the
        platform does not tell."""
        ...

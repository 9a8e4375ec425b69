"""User groups, roles and guests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from bridge.model import ActorId


class Groups(Protocol):
    """Looks up whether a person is a guest, and in which groups they are."""

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        """Return `guest:PLATFORM:WORKSPACE` for a guest, and `group:PLATFORM:WORKSPACE:ID` for each
        user group or role of the person.

        Args:
            actor: the person.
            globs: the patterns of the configuration; the connector may skip other groups.

        Raises:
            PlatformError: the platform does not tell.
        """
        ...


class GroupNames(Protocol):
    """Lists user groups or roles."""

    async def by_id(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """Return the names of the groups of these workspaces, by id.

        Raises:
            PlatformError: the platform does not tell.
        """
        ...

"""Optional: a platform that has a local twin, which the sandbox, the demo and the tests start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasLocalPlatform(Protocol):
    """A connector type with a local twin of its platform in its `sandbox/` folder."""

    def local_platform(self) -> object:
        """The twin's `bridge.sandbox.platform.LocalPlatformType`.

        Imports the twin when it is called and not before: a bridge in production loads none of it.
        """
        ...

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        """Settings as they would stand in the YAML for an app of the twin (an entry of
        `World.apps`). Secrets are `{"env": NAME}`; their values stand under the extra key
        `environment` ({NAME: value}), which the caller takes out and puts into its own."""
        ...

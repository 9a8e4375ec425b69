"""Optional port: a platform's local twin, which the sandbox, the demo and the tests start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasLocalPlatform(Protocol):
    """A connector type with a local twin of its platform in its `sandbox/` folder."""

    def local_platform(self) -> object:
        """Return the twin's `bridge.sandbox.platform.LocalPlatformType`.

        Imports the twin only when called: a bridge in production loads none of it.
        """
        ...

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        """Return the account settings for an app of the twin, as in the YAML file.

        Args:
            app: an entry of `World.apps`.
            base_url: URL of the sandbox, without a slash at the end.

        Returns:
            Settings in which secrets are `{"env": NAME}`. The extra key `environment` holds their
            values ({NAME: value}); the caller removes it and sets the variables.
        """
        ...

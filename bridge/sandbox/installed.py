"""The installed connectors -> the local platforms that they bring."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bridge.errors import ConfigError
from bridge.ports.local_platform import HasLocalPlatform
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of
from bridge.sandbox.platform import LocalPlatformType


@cache
def local_platform_types() -> Mapping[str, LocalPlatformType]:
    """The local platforms of all installed connectors by the platform's name, in their order.

    Imports every twin. Raises ConfigError where a connector's `local_platform` returns something
    else than a `LocalPlatformType`.
    """
    types: dict[str, LocalPlatformType] = {}
    for name in names_of(CONNECTORS):
        kind = connector_type(name)
        if not isinstance(kind, HasLocalPlatform):
            continue
        local = kind.local_platform()
        if not isinstance(local, LocalPlatformType):
            raise ConfigError(
                f"local_platform() of the connector {name!r} returned {local!r}; return a "
                "bridge.sandbox.platform.LocalPlatformType"
            )
        types[name] = local
    return dict(sorted(types.items(), key=lambda item: (item[1].order, item[0])))

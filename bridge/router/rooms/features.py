"""How far the platform of an account shows a feature, and what people call a platform."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.model import AccountId, Level
from bridge.ports.connector import Connector


def level_of(connectors: Mapping[AccountId, Connector], account: AccountId, feature: str) -> Level:
    """What its capabilities say; FULL for a feature that they do not name, and for an account that
    is gone."""
    connector = connectors.get(account)
    return (
        Level.FULL
        if connector is None
        else connector.capabilities.features.get(feature, Level.FULL)
    )


def platform_name(connectors: Mapping[AccountId, Connector], platform: str) -> str:
    """As people write it: the label of its connector, else its id with a capital letter."""
    capabilities = (connector.capabilities for connector in connectors.values())
    labels = (each.label for each in capabilities if each.platform == platform)
    return next(filter(None, labels), platform.capitalize())


def has_threads(connectors: Mapping[AccountId, Connector], account: AccountId) -> bool:
    return level_of(connectors, account, "threads") in (Level.FULL, Level.PARTIAL)


def has_whispers(connectors: Mapping[AccountId, Connector], account: AccountId) -> bool:
    """Whether a message can be shown to one person in a channel of an account that is there."""
    connector = connectors.get(account)
    features = connector.capabilities.features if connector else {}
    return features.get("whispers", Level.DROPPED) in (Level.FULL, Level.PARTIAL)


def shows_growth(connectors: Mapping[AccountId, Connector], account: AccountId) -> bool:
    """Whether a message can be shown while it is written: where an edit is another message, it
    is said when it is whole."""
    return level_of(connectors, account, "edit") is Level.FULL

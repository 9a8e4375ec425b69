"""What a connector can do beyond its life cycle: a record with one small Protocol for each ability.

The Protocols are in this folder, one file per subject.
"""

from __future__ import annotations

from dataclasses import dataclass

from bridge.ports.abilities.channels import Channels, Outsiders
from bridge.ports.abilities.direct_messages import DirectMessages
from bridge.ports.abilities.files import PlatformFiles
from bridge.ports.abilities.groups import GroupNames, Groups
from bridge.ports.abilities.health import AccountHealth
from bridge.ports.abilities.http import HttpEndpoint
from bridge.ports.abilities.links import Links
from bridge.ports.abilities.past import Past
from bridge.ports.abilities.people import Emails, People
from bridge.ports.abilities.platform_history import (
    ChannelMetadataReader,
    MessageLookup,
    PlatformHistory,
    Reactors,
    ReadBack,
)
from bridge.ports.abilities.progress import Progress, Typing
from bridge.ports.abilities.reactions import OwnReactions
from bridge.ports.abilities.sending import Deliveries, SimplerForms
from bridge.ports.abilities.streams import Streams


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """The abilities of one connector. A field that is None is an ability that the platform lacks:
    the router then does without it.

    A connector builds the record once. One object may fill several fields, and a module of pure
    functions may fill one.
    """

    # The connection
    health: AccountHealth | None = None
    http: HttpEndpoint | None = None

    # Reading
    history: PlatformHistory | None = None
    lookup: MessageLookup | None = None
    read_back: ReadBack | None = None
    past: Past | None = None
    reactors: Reactors | None = None
    channel_metadata: ChannelMetadataReader | None = None
    files: PlatformFiles | None = None

    # Sending
    deliveries: Deliveries | None = None
    simpler_forms: SimplerForms | None = None
    streams: Streams | None = None
    typing: Typing | None = None
    progress: Progress | None = None
    reactions: OwnReactions | None = None

    # People and places
    people: People | None = None
    emails: Emails | None = None
    groups: Groups | None = None
    group_names: GroupNames | None = None
    channels: Channels | None = None
    outsiders: Outsiders | None = None
    direct_messages: DirectMessages | None = None
    links: Links | None = None

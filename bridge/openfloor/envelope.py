"""Envelopes, events and dialog events of Open Floor, in the words of version 1.1.0.

Every version is read into these classes and written from them. `extra` holds the keys of an object
that no version names, so that they pass through. Source: Open Floor conversation envelope 0.9.0 to
1.1.0, dialog event 1.0.0 to 1.0.2, assistant manifest 0.9.0 to 1.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

Root = Literal["openFloor", "ovon"]
"""The key that holds an envelope: `ovon` before version 0.9.4."""

Json = Mapping[str, JsonValue]
NEWEST = "1.1.0"
NEWEST_OF_OVON = "0.9.3"

UTTERANCE = "utterance"
INVITE = "invite"
ACCEPT_INVITE = "acceptInvite"
DECLINE_INVITE = "declineInvite"
UNINVITE = "uninvite"
BYE = "bye"
GET_MANIFESTS = "getManifests"
PUBLISH_MANIFESTS = "publishManifests"
REQUEST_FLOOR = "requestFloor"
GRANT_FLOOR = "grantFloor"
REVOKE_FLOOR = "revokeFloor"
YIELD_FLOOR = "yieldFloor"
EVENT_TYPES = frozenset((
    UTTERANCE, INVITE, ACCEPT_INVITE, DECLINE_INVITE, UNINVITE, BYE, GET_MANIFESTS,
    PUBLISH_MANIFESTS, REQUEST_FLOOR, GRANT_FLOOR, REVOKE_FLOOR, YIELD_FLOOR,
))  # fmt: skip


def _none() -> Json:
    return {}


@dataclass(frozen=True)
class Address:
    """Whom an event is for; of a private one nobody else learns."""

    speaker_uri: str | None = None
    service_url: str | None = None
    private: bool = False
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Token:
    """A piece of a feature: a value, or the URL of one."""

    value: JsonValue = None
    value_url: str | None = None
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Feature:
    """One form of what is said: text, HTML, a sound, a picture, data.

    - `alternates`: the other hypotheses of a recogniser, each a list of tokens.
    """

    mime_type: str
    tokens: tuple[Token, ...]
    lang: str | None = None
    encoding: str | None = None
    token_schema: str | None = None
    alternates: tuple[tuple[Token, ...], ...] = ()
    extra: Json = field(default_factory=_none)

    @property
    def text(self) -> str:
        """The values of all tokens that are texts, joined."""
        return "".join(token.value for token in self.tokens if isinstance(token.value, str))


@dataclass(frozen=True)
class Span:
    """When it was said: times in ISO 8601, or durations since the conversation began. As the peer
    wrote them."""

    start_time: str | None = None
    start_offset: str | None = None
    end_time: str | None = None
    end_offset: str | None = None
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class DialogEvent:
    """What one speaker says, in one or more features."""

    speaker_uri: str
    features: Mapping[str, Feature]
    span: Span = field(default_factory=Span)
    id: str | None = None
    previous_id: str | None = None
    extra: Json = field(default_factory=_none)

    @property
    def text(self) -> str:
        """The text that everybody understands."""
        feature = self.features.get("text")
        return "" if feature is None else feature.text


@dataclass(frozen=True)
class Identification:
    """Who an agent or a person is.

    - `roles`: `convener` and `discovery`: whether it can take that role on a floor.
    """

    speaker_uri: str
    service_url: str = ""
    organization: str = ""
    conversational_name: str = ""
    synopsis: str = ""
    department: str | None = None
    role: str | None = None
    roles: Mapping[str, bool] = field(default_factory=dict[str, bool])
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Capability:
    """What an agent can do; `languages` are BCP 47 tags."""

    keyphrases: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("text",)
    outputs: tuple[str, ...] = ("text",)
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Manifest:
    """An agent describes itself; `score` from 0 to 1 says how well it fits a task."""

    identification: Identification
    capabilities: tuple[Capability, ...] = ()
    score: float | None = None
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Conversant:
    """A member of a conversation."""

    identification: Identification
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Talk:
    """The conversation of an envelope.

    - `assigned_roles`: speakers by the role that they have, such as `convener`.
    - `floor_granted`: speakers who have the floor; None: everybody has.
    """

    id: str
    conversants: tuple[Conversant, ...] = ()
    assigned_roles: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    floor_granted: tuple[str, ...] | None = None
    extra: Json = field(default_factory=_none)


@dataclass(frozen=True)
class Sender:
    """Who sends an envelope; `reply_to` is where answers go, if not to `service_url`."""

    speaker_uri: str | None = None
    service_url: str | None = None
    reply_to: str | None = None
    extra: Json = field(default_factory=_none)

    @property
    def identity(self) -> str:
        """The URI that names the sender; "" if the envelope names none."""
        return self.speaker_uri or self.service_url or ""


@dataclass(frozen=True)
class Event:
    """Something that one speaker does on a floor.

    - `to`: whom it is for; None: everybody.
    - `reason`: free text with tokens such as `@timedOut`.
    - `dialog_event`: what is said (utterance); `history`: what was said before (invite), oldest
      first.
    - `servicing`, `discovery`: agents that can do a task, and agents that know such agents
      (publishManifests); `scope`: internal, external or all (getManifests).
    - `parameters`: the other parameters.
    """

    type: str
    to: Address | None = None
    reason: str | None = None
    dialog_event: DialogEvent | None = None
    history: tuple[DialogEvent, ...] = ()
    servicing: tuple[Manifest, ...] = ()
    discovery: tuple[Manifest, ...] = ()
    scope: str | None = None
    parameters: Json = field(default_factory=_none)
    extra: Json = field(default_factory=_none)

    @property
    def is_private(self) -> bool:
        """Whether only the addressee may learn of it."""
        return self.type == UTTERANCE and self.to is not None and self.to.private


@dataclass(frozen=True)
class Envelope:
    """One message between two endpoints.

    - `root`, `version`: as the peer wrote them; an answer has the same.
    """

    talk: Talk
    sender: Sender
    events: tuple[Event, ...] = ()
    root: Root = "openFloor"
    version: str = NEWEST
    schema_extra: Json = field(default_factory=_none)
    extra: Json = field(default_factory=_none)

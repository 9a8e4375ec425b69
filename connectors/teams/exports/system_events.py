"""What a system message of Teams says, in English: from its `eventDetail`. Pure.

Source: learn.microsoft.com, Graph v1.0 "eventMessageDetail resource type" and its subtypes (2025).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from connectors.teams.activity import Json, object_of, objects, string

Named = Callable[[Json], str]
"""An identity set (`{"user": {...}}`) -> a name for it."""

_UPPER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SUFFIX = "EventMessageDetail"
_SENTENCES = {
    "membersAdded": "{who} added {members}",
    "membersDeleted": "{who} removed {members}",
    "membersJoined": "{members} joined",
    "membersLeft": "{members} left",
    "conversationMemberRoleUpdated": "{who} changed the role of {members}",
    "chatRenamed": "{who} renamed the chat to “{name}”",
    "channelRenamed": "{who} renamed the channel to “{name}”",
    "channelAdded": "{who} added the channel “{name}”",
    "channelDeleted": "{who} deleted the channel “{name}”",
    "channelDescriptionUpdated": "{who} changed the description of the channel to “{name}”",
    "teamCreated": "{who} created the team “{name}”",
    "teamRenamed": "{who} renamed the team to “{name}”",
    "teamDescriptionUpdated": "{who} changed the description of the team to “{name}”",
    "teamArchived": "{who} archived the team",
    "teamUnarchived": "{who} restored the team",
    "messagePinned": "{who} pinned a message",
    "messageUnpinned": "{who} unpinned a message",
    "callStarted": "{who} started a call",
    "callEnded": "The call ended",
    "callRecording": "A recording of the call is available",
    "callTranscript": "A transcript of the call is available",
    "teamsAppInstalled": "{who} added the app “{name}”",
    "teamsAppRemoved": "{who} removed the app “{name}”",
    "teamsAppUpgraded": "{who} updated the app “{name}”",
    "tabUpdated": "{who} changed the tab “{name}”",
}
_NAMES = (
    "chatDisplayName", "channelDisplayName", "teamDisplayName", "channelDescription",
    "teamDescription", "teamsAppDisplayName", "tabName",
)  # fmt: skip


def sentence_of(detail: Json, named: Named) -> str:
    """Return what happened; of an unknown kind, its name in words."""
    kind = string(detail, "@odata.type") or string(detail, "odataType")
    kind = kind.rpartition(".")[2].removesuffix(_SUFFIX)
    kind = kind[:1].lower() + kind[1:]
    members = _listed([named({"user": member}) for member in objects(detail, "members")])
    if (sentence := _SENTENCES.get(kind)) is None:
        words = _UPPER.sub(" ", kind).lower() or "system message"
        initiator = object_of(detail, "initiator")
        return f"{words.capitalize()} (by {named(initiator)})" if initiator else words.capitalize()
    name = next((text for key in _NAMES if (text := string(detail, key))), "")
    return sentence.format(who=named(object_of(detail, "initiator")), members=members, name=name)


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "somebody"
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)

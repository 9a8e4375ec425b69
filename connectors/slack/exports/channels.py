"""A channel object of an export -> the exported channel, and the ts of its pinned messages."""

from __future__ import annotations

from bridge.content.markdown import text_to_markdown
from bridge.model.export_records import ChannelKind, ExportedChannel
from connectors.slack import ids
from connectors.slack.exports.people import People
from connectors.slack.json_values import Json, objects_at, text_at
from connectors.slack.text import mrkdwn_to_text

# The index files of an export, and the kind of their channels.
INDICES: dict[str, ChannelKind] = {
    "channels.json": "public",
    "groups.json": "private",
    "mpims.json": "group",
    "dms.json": "direct",
}


def exported_channel(
    native: Json, team: str, people: People, kind: ChannelKind | None = None
) -> ExportedChannel:
    """The channel of a channel object; `kind` is that of its index file, if it is in one."""
    channel = text_at(native, "id")
    kind = kind or kind_of(native)
    listed = native.get("members")
    members = list(dict.fromkeys(member for member in listed if isinstance(member, str))) if (
        isinstance(listed, list)
    ) else []  # fmt: skip
    if not members and kind == "direct" and text_at(native, "user"):
        members = [text_at(native, "user")]
    return ExportedChannel(
        channel=ids.channel_ref(team, channel),
        name=text_at(native, "name") or _names(members, team, people) or channel,
        kind=kind,
        topic=_topic(text_at(native, "topic", "value"), team),
        members=tuple(ids.actor_id(team, member) for member in members),
        created=_seconds(native.get("created")),
        native=native,
    )


def kind_of(native: Json) -> ChannelKind:
    """The kind that a channel object of the API states."""
    channel = text_at(native, "id")
    if native.get("is_im") is True or ids.is_direct(channel):
        return "direct"
    if native.get("is_mpim") is True:
        return "group"
    if native.get("is_private") is True or native.get("is_group") is True:
        return "private"
    return "public"


def pins_of(native: Json) -> frozenset[str]:
    """The ts of the messages that the channel object names as pinned."""
    return frozenset(
        ts for pin in objects_at(native, "pins") if ids.is_ts(ts := text_at(pin, "id"))
    )


def _names(members: list[str], team: str, people: People) -> str:
    persons = ((people.person(team, member), member) for member in members)
    return ", ".join(person.name if person else member for person, member in persons)


def _topic(mrkdwn: str, team: str) -> str:
    return text_to_markdown(mrkdwn_to_text(mrkdwn, team)) if mrkdwn else ""


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < 10**11 else None

"""Translates one rich message from one format to another: JSON in, JSON and losses out. Pure.

Formats are the installed platforms, `uacs` (a Message or a Conversation), `card` (the neutral
tree) and the agent APIs that take a conversation (`openai-chat` and others: a request).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

from pydantic import JsonValue

from bridge.agents.codec.prompt import ROLE_DEMOTED
from bridge.agents.codec.speakers import display_name
from bridge.app.translation.conversations import (
    APIS,
    conversation_of,
    is_conversation,
    json_to_conversation,
    read_api,
    uacs_json,
    write_api,
)
from bridge.app.translation.json_text import check_json
from bridge.app.translation.uacs import (
    card_to_message,
    json_to_message,
    message_to_card,
    message_to_native,
    native_to_message,
)
from bridge.content.cards.codec import Codec, ReportsUnreadContent, ReportsWrongShapes
from bridge.content.cards.interactions import action_token
from bridge.content.cards.json import MAX_DEPTH, card_from_json, card_to_json
from bridge.content.cards.json_tree import check_nesting
from bridge.content.cards.native_home import at_place
from bridge.content.cards.reader import Cards
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.shapes import unread_losses
from bridge.content.cards.tree import Button, Card, Native, Node
from bridge.content.cards.walk import walk
from bridge.content.messages.metadata import read_bridge_metadata, select_parts
from bridge.content.safety.mentions import reference_rule
from bridge.errors import CodecError
from bridge.model import Counterparts, Loss
from bridge.ports.connector import ConnectorType
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of
from bridge.uacs import Conversation, Message, StructuredDataPart

UACS, CARD = "uacs", "card"
_DEEPEST_VALUE = 40


@dataclass(frozen=True, slots=True)
class Translation:
    """The messages in the target's format, one or more, and the losses."""

    messages: tuple[JsonValue, ...]
    losses: tuple[Loss, ...] = ()


@cache
def _kind(platform: str) -> ConnectorType:
    """The connector type, cached: a look-up of entry points reads the disk, which takes 20 ms, ten
    times as long as a translation."""
    return connector_type(platform)


def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return (*names_of(CONNECTORS), UACS, CARD, *APIS)


def translate(
    payload: JsonValue,
    *,
    source: str,
    target: str,
    through_tree: bool = False,
    copy: bool = False,
) -> Translation:
    """Translate `payload`, as the source's API returns it, to messages as the target's API takes
    them.

    Every action counts as live; its token depends only on its place. A message to its own platform
    stays unchanged, except for fields that the platform fills in. `copy`: it is for another channel
    of the platform, so its mentions become readable text. `through_tree` always reads and writes
    the neutral card instead.

    Raises:
        CodecError: The payload is not valid in the source's format.
        ConfigError: A format is not installed.
    """
    check_json(payload)
    match source, target:
        case _ if source in APIS and source == target and not through_tree:
            read_api(source, payload)
            return Translation((payload,))
        case _ if source in APIS:
            return _from_api(source, payload, target)
        case ("uacs", _) if is_conversation(payload):
            return _from_conversation(json_to_conversation(payload), payload, target)
        case ("uacs", _) if target in APIS:
            own_conversation = conversation_of(json_to_message(payload), said_by_somebody=True)
            return _to_api(own_conversation, target)
        case _ if target in APIS:
            as_uacs = translate(payload, source=source, target=UACS)
            read = conversation_of(json_to_message(as_uacs.messages[0]), said_by_somebody=False)
            written = _to_api(read, target)
            return Translation(written.messages, (*as_uacs.losses, *written.losses))
        case ("uacs", _):
            return _from_uacs(payload, target, through_tree, copy)
        case ("card", "card") if not through_tree:
            card_from_json(payload)
            return Translation((payload,))
        case ("card", "uacs"):
            message, losses = card_to_message(payload)
            return Translation((message,), losses)
        case ("card", _):
            return _write(card_from_json(payload), target)
        case _:
            return _from_platform(_kind(source), payload, target, through_tree, copy)


def token(path: str) -> str:
    """The token of the action at this place: 22 characters, the same in every run."""
    return action_token(bytes(32), "", path)


_NO_MENTIONS = reference_rule(Counterparts(), {})
RENDERING = Rendering(token=token)


# --- agent APIs -----------------------------------------------------------------------------


def _from_api(kind: str, payload: JsonValue, target: str) -> Translation:
    read = read_api(kind, payload)
    if isinstance(read, Conversation):
        return _from_conversation(read, uacs_json(read), target)
    if target in APIS:
        return _to_api(conversation_of(read, said_by_somebody=True), target)
    return translate(uacs_json(read), source=UACS, target=target)


def _to_api(conversation: Conversation, target: str) -> Translation:
    written, losses = write_api(target, conversation)
    return Translation((written,), losses)


def _from_conversation(conversation: Conversation, payload: JsonValue, target: str) -> Translation:
    """Translate to a request of an agent API; to a platform message by message."""
    if target == UACS:
        return Translation((payload,))
    if target in APIS:
        return _to_api(conversation, target)
    messages: list[JsonValue] = []
    losses: list[Loss] = []
    for number, message in enumerate(conversation.messages):
        written = translate(uacs_json(message), source=UACS, target=target)
        messages += written.messages
        at = f"/messages/{number}"
        if message.actor.role == "system" and target != CARD:
            instructions = f"system {display_name(message.actor)}"
            shown_as = "an ordinary message"
            losses.append(
                Loss(path=f"{at}/actor", kind=ROLE_DEMOTED, what=instructions, shown_as=shown_as)
            )
        losses += (loss.model_copy(update={"path": f"{at}{loss.path}"}) for loss in written.losses)
    return Translation(tuple(messages), tuple(losses))


# --- from a platform ------------------------------------------------------------------------


def _from_platform(
    kind: ConnectorType, native: JsonValue, target: str, through_tree: bool, copy: bool
) -> Translation:
    codec = kind.codec()
    if target == UACS:
        message, losses = native_to_message(kind.platform, codec, native)
        return Translation((message,), losses)
    if target == kind.platform and not through_tree:
        codec.payloads(native)  # raises CodecError if it is no message of this platform
        home = kind.home(native)
        return Translation((codec.as_copy(home, _NO_MENTIONS) if copy else home,))
    card = codec.read_message(native)
    written = _write(card, target)
    lost = (*_wrong_shapes(codec, native, card), *_not_read(codec, native))
    return Translation(written.messages, (*lost, *written.losses))


def _wrong_shapes(codec: Codec, native: JsonValue, card: Card, at: str = "") -> tuple[Loss, ...]:
    """Losses for values of the wrong type, which were not read."""
    if not isinstance(codec, ReportsWrongShapes) or not (losses := codec.wrong_shapes(native)):
        return ()
    placed = (loss.model_copy(update={"path": f"{at}{loss.path}"}) for loss in losses)
    visible_places = (node.at for node in walk(card.nodes) if not _is_mute(node))
    return tuple(unread_losses(placed, visible_places))


def _is_mute(node: Node) -> bool:
    """Whether the node is kept as it is because nothing of it could be read."""
    return isinstance(node, Native) and not node.fallback


def _not_read(codec: Codec, native: JsonValue) -> Iterator[Loss]:
    if not isinstance(codec, ReportsUnreadContent):
        return
    for payload in codec.payloads(native):
        yield from codec.left_out(payload)
        for path in codec.unexpanded(payload):
            value = at_place(native, path)
            placeholder = value if isinstance(value, str) else "a place for data"
            kind = "template_unexpanded"
            yield Loss(path=path, kind=kind, what=placeholder, shown_as=placeholder)


# --- from UACS ------------------------------------------------------------------------------


def _from_uacs(payload: JsonValue, target: str, through_tree: bool, copy: bool) -> Translation:
    message = json_to_message(payload)
    if target == UACS:
        return Translation((payload,))
    if not through_tree and (home := _native_already(target, message, copy)) is not None:
        return Translation((home,))
    card, losses = _cards().read(message)
    written = _write(card, target)
    wrong = tuple(_wrong_in_parts(message, card))
    return Translation(written.messages, (*losses, *wrong, *written.losses))


def _wrong_in_parts(message: Message, card: Card) -> Iterator[Loss]:
    codecs = _cards().codecs
    for index, part in select_parts(message, codecs.keys()):
        if isinstance(part, StructuredDataPart) and (codec := codecs.get(part.schema_id)):
            data = cast("JsonValue", part.data)
            yield from _wrong_shapes(codec, data, card, f"/content/{index}/data")


def _native_already(target: str, message: Message, copy: bool) -> JsonValue:
    """The native message of the target that the UACS message contains already; None if it must be
    written. A message without the metadata `home` was never on the target, so it becomes a copy."""
    if target == CARD:
        return message_to_card(message)
    kind = _kind(target)
    native = message_to_native(kind.platform, kind.codec(), message)
    if native is None:
        return None
    home = kind.home(native)
    additions, _ = read_bridge_metadata(message)
    if additions.home is not None and not copy:
        return home
    return kind.codec().as_copy(home, reference_rule(Counterparts(), additions.names))


@cache
def _cards() -> Cards:
    """The card codecs of all installed platforms, because a message may contain payloads of any."""
    return Cards.over((_kind(name).codec() for name in names_of(CONNECTORS)), bytes(32))


# --- writing --------------------------------------------------------------------------------


def _write(card: Card, target: str) -> Translation:
    if target == CARD:
        written, losses = _card_json(card)
        return Translation((written,), losses)
    if target == UACS:
        return translate(card_to_json(card), source=CARD, target=UACS)
    written = _kind(target).codec().write_card(card, RENDERING)
    messages = tuple(cast("JsonValue", message.body) for message in written.messages)
    return Translation(messages, written.losses)


def _card_json(card: Card) -> tuple[JsonValue, tuple[Loss, ...]]:
    """The card as JSON that can be read again, without authors' values that are nested too
    deeply."""
    written = card_to_json(card)
    if not _is_deep(written, MAX_DEPTH):
        return written, ()
    deep = [node for node in walk(card.nodes) if _is_deep(_own_value(node), _DEEPEST_VALUE)]
    losses = (
        Loss(path=node.at, kind="value_dropped", what=f"{node.type}: a value of many levels")
        for node in deep
    )
    return _without_deep_values(written), tuple(losses)


def _own_value(node: Node) -> JsonValue:
    """The node's value that only its author understands; None if it has none."""
    match node:
        case Native(payload=value) | Button(value=value):
            return value
        case _:
            return None


def _is_deep(value: object, max_depth: int) -> bool:
    try:
        check_nesting(value, max_depth)
    except CodecError:
        return True
    return False


def _without_deep_values(written: JsonValue) -> JsonValue:
    stack: list[JsonValue] = [written]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += value
        elif isinstance(value, dict):
            own = "payload" if value.get("type") == "native" else "value"
            if own in value and _is_deep(value[own], _DEEPEST_VALUE):
                value[own] = None
            stack += (item for key, item in value.items() if key != own)
    return written

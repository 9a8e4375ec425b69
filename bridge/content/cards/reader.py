"""Rich messages for every part of the bridge: one reader over all codecs. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.assets import key_of, with_assets
from bridge.content.cards.codec import Codec, WritesNativePresses
from bridge.content.cards.interactions import (
    Interaction,
    WrongInput,
    action_token,
    find_action,
    interaction_with,
    wrong_inputs,
)
from bridge.content.cards.json import SCHEMA_ID, card_from_json
from bridge.content.cards.link_safety import shows_all_addresses, with_visible_links
from bridge.content.cards.messages import card_of, unknown_parts
from bridge.content.cards.parts import DetailedPart, card_parts
from bridge.content.cards.rendering import Payload, Rendering, public_url
from bridge.content.cards.tree import Asset, Card
from bridge.content.cards.values import is_value, value_nodes
from bridge.content.cards.walk import actions_of
from bridge.content.messages.agent_parts import is_hidden
from bridge.content.messages.authors import agent_of, receives_presses, workspace_in
from bridge.content.messages.metadata import (
    KeptFile,
    PartDetails,
    has_summary,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.content.safety.mentions import Rule, reference_rule, with_names
from bridge.errors import CodecError
from bridge.model import Counterparts, Loss, split_key
from bridge.model.refs import BRIDGE
from bridge.uacs import ContentPart, Message, StructuredDataPart

_ID_IN_SUMMARY = re.compile(r"([@#])([\w-]+)")
_IN_PART = re.compile(r"/content/(\d{1,9})/data")


@dataclass(frozen=True)
class Cards:
    """Reads any message as a card.

    Args:
        codecs: The codec for each schema id.
        key: The secret from which the tokens of actions derive.
    """

    codecs: Mapping[str, Codec]
    key: bytes

    @staticmethod
    def over(codecs: Iterable[Codec], key: bytes) -> Cards:
        """Returns a reader with every schema id that one of the codecs reads."""
        return Cards({schema_id: codec for codec in codecs for schema_id in codec.SCHEMA_IDS}, key)

    def read(self, message: Message) -> tuple[Card, tuple[Loss, ...]]:
        """Returns the whole message as one card with visible links, and a Loss for each part that
        it cannot show."""
        card, losses = self._read(message)
        safe_card, link_losses = with_visible_links(card, of_agent=agent_of(message) is not None)
        return safe_card, (*losses, *link_losses)

    def can_pass_unchanged(self, message: Message) -> bool:
        """Whether the message's payloads show the address of each of their links, so that they may
        be shown unchanged."""
        card, _ = self._read(message)
        agent = agent_of(message) is not None
        if with_visible_links(card, of_agent=agent)[0] is not card:
            return False
        parts = (part for part in message.content if isinstance(part, StructuredDataPart))
        return not agent or shows_all_addresses(card, (part.data for part in parts))

    def _read(self, message: Message) -> tuple[Card, tuple[Loss, ...]]:
        readers = {
            schema_id: partial(_read_payload, codec, workspace_in(message, codec.PLATFORM))
            for schema_id, codec in self.codecs.items()
        }
        card, losses = card_of(message, readers)
        additions = read_bridge_metadata(message)[0]
        if additions.names:
            summary = _with_names_in(card.summary, additions.names)
            card = replace(with_names(card, additions.names), summary=summary)
        files = additions.kept
        return (with_assets(card, partial(_with_stored_bytes, files)) if files else card), losses

    @staticmethod
    def rule(message: Message, known: Counterparts) -> Rule:
        """Returns the rule for the message's mentions: `known` says what they become at a
        destination."""
        return reference_rule(known, read_bridge_metadata(message)[0].names)

    def rendering(
        self, message: Message, *, url_of: Callable[[Asset], str] = public_url, uploads: bool
    ) -> Rendering:
        """Returns how to show the message on another platform.

        Its actions work if an agent or a program wrote it; otherwise they become links to the
        original message.

        Args:
            message: The message.
            url_of: Returns the public address of an asset; empty if there is none.
            uploads: Whether stored assets may travel with the message as files.
        """
        origin = read_bridge_metadata(message)[0].origin or ""
        token = self.live_tokens(message)
        return Rendering(token=token, origin=origin, url_of=url_of, uploads=uploads)

    def with_fallbacks(self, message: Message) -> Message:
        """Returns the message with a fallback behind each payload that has none; agents need not
        write them."""
        additions, _ = read_bridge_metadata(message)
        if additions.fallbacks or not any(
            isinstance(part, StructuredDataPart) for part in message.content
        ):
            return message
        parts: list[ContentPart] = []
        details: dict[str, PartDetails] = {}
        fallbacks: dict[str, tuple[int, ...]] = {}
        for index, part in enumerate(message.content):
            if (own_details := additions.parts.get(str(index))) is not None:
                details[str(len(parts))] = own_details
            parts.append(part)
            fallback = self._fallback_parts(part)
            if fallback:
                first = len(parts)
                fallbacks[str(first - 1)] = tuple(range(first, first + len(fallback)))
            for detailed in fallback:
                if detailed.details is not None:
                    details[str(len(parts))] = detailed.details
                parts.append(detailed.part)
        if not fallbacks:
            return message
        changes: dict[str, object] = {"fallbacks": fallbacks, "parts": details}
        with_parts = message.model_copy(update={"content": tuple(parts)})
        return with_bridge_metadata(with_parts, additions.model_copy(update=changes))

    def unknown_parts(self, message: Message) -> Iterator[tuple[str, ContentPart]]:
        """Yields the parts that no codec can show, with their places."""
        return unknown_parts(message, self.codecs.keys())

    def _fallback_parts(self, part: ContentPart) -> tuple[DetailedPart, ...]:
        if not isinstance(part, StructuredDataPart):
            return ()
        codec = self.codecs.get(part.schema_id)
        data = cast("JsonValue", part.data)
        if is_value(part.schema_id):
            return card_parts(value_nodes(part.data))
        try:
            if part.schema_id == SCHEMA_ID:
                return card_parts(card_from_json(data).nodes)
            if codec is not None:
                return card_parts(codec.read_payload(Payload(part.schema_id, data)).nodes)
        except CodecError:
            return ()
        return ()

    def faults(self, parts: Iterable[ContentPart]) -> Iterator[CodecError]:
        """Yields the first mistake of each card among the parts of a posted message.

        A mistake is what makes the card unreadable, or what its platform would refuse; its pointer
        begins at the message. Parts of unknown schemas have no mistakes.
        """
        for index, part in enumerate(parts):
            if not isinstance(part, StructuredDataPart):
                continue
            at = f"/content/{index}/data"
            data = cast("JsonValue", part.data)
            try:
                if part.schema_id == SCHEMA_ID:
                    card_from_json(data, at)
                elif (codec := self.codecs.get(part.schema_id)) is not None:
                    payload = Payload(part.schema_id, data, at)
                    codec.read_payload(payload)
                    yield from codec.mistakes(payload)[:1]
            except CodecError as error:
                yield CodecError(f"{at}{error.pointer.removeprefix(at)}", error.reason)

    def tokens(self, message: Message) -> Callable[[str], str]:
        """Returns the function from a path to the token of the action at that path of this
        message."""
        return partial(action_token, self.key, message.message_id)

    def live_tokens(self, message: Message) -> Callable[[str], str] | None:
        """Returns the same function if somebody behind this bridge receives presses of this
        message; else None."""
        return self.tokens(message) if receives_presses(message) else None

    def interaction(
        self, message: Message, token: str, values: Mapping[str, JsonValue]
    ) -> Interaction | None:
        """Returns the meaning of a press of this token.

        Only tokens identify actions of the bridge's own cards, which ask for permission to call
        tools: the ids on them are the same on each card and known to everybody.

        Args:
            message: The message of the card.
            token: What the platform reports.
            values: The values of the inputs, by token or id.

        Returns:
            The interaction; None if no action of the message has this token.
        """
        card, _ = self.read(message)
        token_of = self.tokens(message)
        action = find_action(card, token_of, token, by_id=message.actor.id != BRIDGE)
        if action is None:
            return None
        interaction = interaction_with(card, action, values, token_of, message.message_id)
        return interaction.model_copy(update={"native": self._native_press(message, interaction)})

    def wrong_inputs(
        self, message: Message, interaction: Interaction, values: Mapping[str, JsonValue], *,
        all_present: bool,
    ) -> list[WrongInput]:  # fmt: skip
        """Returns the inputs that must change before this submission counts; see
        `interactions.wrong_inputs`."""
        if interaction.kind != "submitted":
            return []
        card, _ = self.read(message)
        action = next(
            (candidate for candidate in actions_of(card) if candidate.at == interaction.path), None
        )
        if action is None:
            return []
        return wrong_inputs(card, action, values, self.tokens(message), all_present=all_present)

    def _native_press(self, message: Message, interaction: Interaction) -> JsonValue:
        """What the author would have received on the payload's own platform."""
        place = _IN_PART.match(interaction.path)
        part = message.content[int(place.group(1))] if place else None
        if place is None or not isinstance(part, StructuredDataPart):
            return None
        codec = self.codecs.get(part.schema_id)
        if not isinstance(codec, WritesNativePresses):
            return None
        payload = Payload(part.schema_id, cast("JsonValue", part.data), place.group())
        return codec.native_press(payload, interaction)


def _read_payload(codec: Codec, workspace: str, payload: Payload) -> Card:
    return codec.read_payload(payload, workspace)


def _with_names_in(summary: str, names: Mapping[str, str]) -> str:
    """The summary with names in place of ids: a summary is plain text, with ids as `@U1` and
    `#C1`."""
    names_by_id = {split_key(key)[-1]: name for key, name in names.items()}
    return _ID_IN_SUMMARY.sub(
        lambda match: f"{match[1]}{names_by_id.get(match[2], match[2])}", summary
    )


def _with_stored_bytes(files: Mapping[str, KeptFile], asset: Asset) -> Asset:
    """The asset with its stored copy, if the bridge has one."""
    file = files.get(key_of(asset))
    if file is None:
        return asset
    return replace(
        asset, url="", private=False, file_id=file.file_id, media_type=file.media_type,
        size=file.size,
    )  # fmt: skip


NO_CARDS = Cards({}, b"")


def is_rich(message: Message) -> bool:
    """Whether the message has more to show than text, or a notification text of its own."""
    has_more = any(part.type != "text" and not is_hidden(part) for part in message.content)
    return has_more or has_summary(message)

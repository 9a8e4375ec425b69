"""What dresses a delivery before it is encoded: PRESENTATION lists the steps in their order.

The archive keeps the message as its author wrote it; the steps change only what one channel shows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bridge.content.cards.reader import is_rich
from bridge.content.cards.rendering import public_url
from bridge.content.cards.tool_calls import ToolsShown, has_tools, tool_steps, with_tools_shown
from bridge.content.cards.tree import Asset
from bridge.content.markdown import text_to_markdown
from bridge.content.markdown.replacements import replaced_in_markdown
from bridge.content.messages.authors import agent_of
from bridge.content.messages.citations import has_sources, with_source_list, with_source_numbers
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    select_parts,
    with_bridge_metadata,
)
from bridge.content.messages.parts import MediaPart, message_text, parts_text, plain_to_markdown
from bridge.content.safety.link_targets import message_with_visible_targets
from bridge.content.text.patterns import replaced_in_text
from bridge.content.text.tree import Paragraph, Text, Timestamp
from bridge.model import AccountId, Delivery, EditMessage, Loss, MessageId, PostMessage
from bridge.model.operations import CITED, is_replay
from bridge.model.refs import is_notice
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.conversations import ConversationStore
from bridge.router.outbound.references import References
from bridge.router.outbound.translations import Translations
from bridge.router.rooms.options import MemberOptions
from bridge.router.rooms.rooms import Rooms
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    TextPart,
    VideoPart,
)

UrlOf = Callable[[Asset], str]
_Detailed = tuple[ContentPart, PartDetails | None]
_MEDIA = (ImagePart, VideoPart, AudioPart, FilePart)


@dataclass(frozen=True)
class Dressed:
    """A delivery after a step, and what the step left out."""

    delivery: Delivery
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True)
class PresentationContext:
    """What the steps look things up in. `url_of` returns the public link of a stored file."""

    store: ConversationStore
    connectors: Mapping[AccountId, Connector]
    rooms: Rooms
    references: References
    clock: Clock
    url_of: UrlOf
    translations: Translations


Step = Callable[[Delivery, PresentationContext], Awaitable[Dressed]]


async def present(
    delivery: Delivery, context: PresentationContext, steps: Sequence[Step] | None = None
) -> Dressed:
    """The delivery as its room and its channel want it shown, with the losses of all steps, which
    are PRESENTATION. Raises StoreError."""
    losses: list[Loss] = []
    for step in PRESENTATION if steps is None else steps:
        dressed = await step(delivery, context)
        delivery = dressed.delivery
        losses += dressed.losses
    return Dressed(delivery, tuple(losses))


# --- the steps ----------------------------------------------------------------------------------


async def translate(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Show the message in the language that the channel reads, once it is whole. What cannot be
    translated is shown as it is."""
    operation = delivery.operation
    options = context.rooms.altering(operation.room, operation.channel)
    wanted = options.translation if options is not None else None
    if wanted is None or not isinstance(operation, PostMessage | EditMessage) or operation.grows:
        return Dressed(delivery)
    if is_notice(MessageId(delivery.message.message_id)):
        return Dressed(delivery)
    translated = await context.translations.of(delivery.message, wanted)
    if translated is None:
        what = f"its translation into {wanted.language}"
        loss = Loss(path="/content", kind="not_translated", what=what, shown_as="the original")
        return Dressed(delivery, (loss,))
    return Dressed(_with(delivery, translated))


async def number_sources(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Cite an agent's sources as numbers in its words. The platform's own citations show the first
    sources where there is nothing but text; a list below shows the others, once the message is
    whole."""
    if agent_of(delivery.message) is None or not has_sources(delivery.message):
        return Dressed(delivery)
    connector = context.connectors.get(delivery.operation.account)
    plain, sources, losses = with_source_numbers(delivery.message, r"\[{}\]".format)
    own = 0 if connector is None or is_rich(plain) else connector.capabilities.citations
    if own:
        plain, sources, losses = with_source_numbers(
            delivery.message, lambda n: (CITED if n <= own else r"\[{}\]").format(n)
        )
    growing = delivery.operation.grows
    message, unquoted = (plain, ()) if growing else with_source_list(plain, sources[own:])
    changes = {"message": message, "sources": sources[:own]}
    return Dressed(delivery.model_copy(update=changes), (*losses, *unquoted))


async def show_link_targets(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Show where the links of agents lead, and those of people whose name is another address."""
    del context
    message = delivery.message
    return Dressed(
        _with(delivery, message_with_visible_targets(message, always=agent_of(message) is not None))
    )


async def show_tools(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Show of an agent's tool calls what the room wants."""
    message = delivery.message
    if agent_of(message) is None or not has_tools(message):
        return Dressed(delivery)
    tools_shown = context.rooms.tools_shown(delivery.operation.room)
    return Dressed(_with(delivery, with_tools_shown(message, tools_shown)))


async def ask_for_feedback(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Ask what people think of an agent's answer to all, where the room wants it, once the answer
    is whole."""
    operation = delivery.operation
    if not context.rooms.asks_for_feedback(operation.room):
        return Dressed(delivery)
    if not isinstance(operation, PostMessage | EditMessage) or operation.stream or operation.to:
        return Dressed(delivery)
    if agent_of(delivery.message) is None:
        return Dressed(delivery)
    return Dressed(delivery.model_copy(update={"feedback": True}))


async def hide_older_words(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Leave out the quoted words that were written before the channel was in the room; their
    author is still named. The channel knows what stands in the channel itself."""
    operation, quoted = delivery.operation, delivery.quoted
    if quoted is None or quoted.native_id is not None or not quoted.excerpt:
        return Dressed(delivery)
    room = context.rooms.by_id.get(operation.room)
    answered = operation.reply_to if isinstance(operation, PostMessage | EditMessage) else None
    if room is None or answered is None or is_notice(answered) or room.shows_all_history:
        return Dressed(delivery)
    if await context.store.was_present(room.id, operation.channel.key, answered):
        return Dressed(delivery)
    nameless = quoted.model_copy(update={"excerpt": ""})
    return Dressed(delivery.model_copy(update={"quoted": nameless}))


async def resolve_references(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Add the destination's counterparts of the people, groups, channels and messages that the
    message refers to. What is replayed pings nobody."""
    if not context.references.any_in(delivery):
        return Dressed(delivery)
    resolved = await context.references.resolved(delivery)
    if is_replay(delivery.operation.id):
        quiet = {"people": {}, "groups": {}, "everyone": False}
        counterparts = resolved.counterparts.model_copy(update=quiet)
        resolved = resolved.model_copy(update={"counterparts": counterparts})
    return Dressed(resolved)


async def apply_channel_options(delivery: Delivery, context: PresentationContext) -> Dressed:
    """Apply what the channel's options change: words, names, files, and the time of late posts."""
    operation = delivery.operation
    options = context.rooms.altering(operation.room, operation.channel)
    if options is None:
        return Dressed(delivery)
    shown, losses = as_shown(delivery, options, now=context.clock.time(), url_of=context.url_of)
    return Dressed(shown, losses)


PRESENTATION: tuple[Step, ...] = (
    translate,
    number_sources,
    show_link_targets,
    show_tools,
    ask_for_feedback,
    hide_older_words,
    resolve_references,
    apply_channel_options,
)


def with_tools_as_steps(delivery: Delivery, tools_shown: ToolsShown) -> Delivery:
    """The delivery with an agent's tool calls as steps beside its words, and not among them."""
    message = delivery.message
    if agent_of(message) is None or not has_tools(message):
        return delivery
    changes = {
        "message": with_tools_shown(message, "off"),
        "steps": tool_steps(message, tools_shown),
    }
    return delivery.model_copy(update=changes)


def _with(delivery: Delivery, message: Message) -> Delivery:
    if message is delivery.message:
        return delivery
    return delivery.model_copy(update={"message": message})


# --- the options of a channel -------------------------------------------------------------------


def as_shown(
    delivery: Delivery, options: MemberOptions, *, now: float, url_of: UrlOf = public_url
) -> tuple[Delivery, tuple[Loss, ...]]:
    """The delivery for a channel with these options, and what it leaves out; `now` in seconds
    since 1970."""
    operation = delivery.operation
    if not isinstance(operation, PostMessage | EditMessage):
        return delivery, ()
    message, losses = _message(delivery.message, options, url_of)
    if isinstance(operation, PostMessage) and is_late(delivery.message, options, now):
        message = _with_its_time(message)
    changes: dict[str, object] = {"message": message}
    if options.rename:
        name = replaced_in_text(operation.byline.name, options.rename).strip()
        byline = operation.byline.model_copy(update={"name": name or operation.byline.name})
        changes["operation"] = operation.model_copy(update={"byline": byline})
    if delivery.quoted is not None:
        quoted = {
            "author": replaced_in_text(delivery.quoted.author, options.rename),
            "excerpt": replaced_in_text(delivery.quoted.excerpt, options.replace),
        }
        changes["quoted"] = delivery.quoted.model_copy(update=quoted)
    return delivery.model_copy(update=changes), losses


def is_late(message: Message, options: MemberOptions, now: float) -> bool:
    """Whether more than `max_delay` has passed since the message was posted."""
    return options.max_delay is not None and now - _posted_at(message) > options.max_delay


def _posted_at(message: Message) -> float:
    return datetime.fromisoformat(message.timestamp).timestamp()


def _message(
    message: Message, options: MemberOptions, url_of: UrlOf
) -> tuple[Message, tuple[Loss, ...]]:
    """The message with its words and files as the options want them, and what is lost. A message
    that changes is shown as the fallbacks of its payloads: a payload would still hold the words
    that are replaced."""
    files = options.files != "keep" and any(isinstance(part, _MEDIA) for part in message.content)
    text = message_text(message)[0] if options.replace else ""
    if not files and not any(replacement.pattern.is_in(text) for replacement in options.replace):
        return message, ()
    additions, _ = read_bridge_metadata(message)
    parts: list[_Detailed] = []
    losses: list[Loss] = []
    for index, part in select_parts(message, ()):
        details = additions.parts.get(str(index))
        if isinstance(part, _MEDIA) and options.files != "keep":
            parts.append((_without_file(part, details, options, url_of), None))
            shown = "a link" if options.files == "link" else "its kind"
            lost = Loss(
                path=f"/content/{index}", kind="files_option", what=part.type, shown_as=shown
            )
            losses.append(lost)
        elif isinstance(part, TextPart):
            parts.append((_replaced(part, options), details))
        else:
            parts.append((part, details))
    return _made_of(message, parts, additions.origin), tuple(losses)


def _made_of(message: Message, parts: list[_Detailed], origin: str | None) -> Message:
    details = {
        str(n): part_details
        for n, (_, part_details) in enumerate(parts)
        if part_details is not None
    }
    changed = message.model_copy(update={"content": tuple(part for part, _ in parts)})
    return with_bridge_metadata(changed, BridgeMetadata(parts=details, origin=origin))


def _without_file(
    part: MediaPart, details: PartDetails | None, options: MemberOptions, url_of: UrlOf
) -> TextPart:
    """A link to the file where the options allow one; else only the kind of file."""
    if options.files == "off":
        return TextPart(text=plain_to_markdown(f"[{part.type}]"))
    url = part.source.url
    if part.source.file_id is not None:
        name = (details.name if details else None) or ""
        url = url_of(Asset(file_id=part.source.file_id, media_type=part.media_type, name=name))
    linked = part.model_copy(update={"source": MediaSource(url=url or "about:blank")})
    return TextPart(text=parts_text([(linked, details)]))


def _replaced(part: TextPart, options: MemberOptions) -> TextPart:
    if part.is_markdown:
        return TextPart(text=replaced_in_markdown(part.text, options.replace))
    return TextPart(text=replaced_in_text(part.text, options.replace), format="plain")


def _with_its_time(message: Message) -> Message:
    """The message with its time in small print above: it stands below later messages."""
    posted = datetime.fromisoformat(message.timestamp).astimezone(UTC)
    words = posted.strftime("%Y-%m-%d %H:%M UTC")
    moment = Timestamp(int(posted.timestamp()), "f", words)
    line = text_to_markdown((Paragraph((Text("said "), moment), subtle=True),))
    first = message.content[0]
    if isinstance(first, TextPart) and first.is_markdown:
        text = first.model_copy(update={"text": f"{line}\n\n{first.text}"})
        return message.model_copy(update={"content": (text, *message.content[1:])})
    additions, _ = read_bridge_metadata(message)
    moved = additions.model_copy(
        update={
            "parts": {str(int(n) + 1): details for n, details in additions.parts.items()},
            "fallbacks": {
                str(int(n) + 1): tuple(index + 1 for index in fallback)
                for n, fallback in additions.fallbacks.items()
            },
        }
    )
    later = message.model_copy(update={"content": (TextPart(text=line), *message.content)})
    return with_bridge_metadata(later, moved)

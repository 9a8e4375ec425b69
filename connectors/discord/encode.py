"""A delivery -> the requests that carry it out: webhook posts in guilds, bot posts in DMs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from pydantic import JsonValue

from bridge.content.cards.bodies import Body
from bridge.content.cards.reader import NO_CARDS, Cards, is_rich
from bridge.content.markdown import markdown_to_text
from bridge.content.messages.calls import calls_in_slots, copy_call, post_call, standing_copies
from bridge.content.messages.parts import message_text
from bridge.content.messages.written_once import WrittenOnce
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.names import cut_name
from bridge.content.text.split import cut_text, split_text
from bridge.content.text.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Table,
    Text,
)
from bridge.model import (
    Byline,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Loss,
    PostMessage,
    QuotedMessage,
    RateLimitKey,
    Receipt,
    split_key,
)
from bridge.ports.files import Files
from connectors.discord import ids
from connectors.discord.capabilities import (
    GLOBAL,
    MESSAGE_CREATE,
    MESSAGE_EDIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    WEBHOOK_EXECUTE,
)
from connectors.discord.commands import ANSWER
from connectors.discord.feedback import with_question
from connectors.discord.marks import encode_mark
from connectors.discord.rich import rich_bodies
from connectors.discord.text import escape, text_to_discord

WEBHOOK_POST, WEBHOOK_EDIT, WEBHOOK_DELETE = "webhook.execute", "webhook.edit", "webhook.delete"
BOT_POST, BOT_EDIT, BOT_DELETE = "message.create", "message.edit", "message.delete"

SUPPRESS_EMBEDS = 1 << 2  # a message's flag
NO_PINGS: dict[str, JsonValue] = {"parse": []}
_EXCERPT = 80
_NOTHING = "-# (no text)"
# Discord refuses names with these words (docs: resources/webhook) and the names that ping all.
_FORBIDDEN = re.compile(r"(?i)(?P<head>disc|cly)(?P<tail>ord|de)|(?P<ticks>``)(?=`)")
_RESERVED = re.compile(r"(?i)(every)(one)|(he)(re)")
_GAP = "\u200a"  # a hair space: Discord accepts it, and it is hardly visible
# The six pictures that Discord shows for users without one (docs: reference#image-formatting).
_STAND_INS = "https://cdn.discordapp.com/embed/avatars"
_URL = re.compile(r"https?://[^\s\"<>]{1,2040}")
_WRITTEN = WrittenOnce[tuple[list[Body], tuple[Loss, ...]]]()


def encode(delivery: Delivery, cards: Cards = NO_CARDS, files: Files | None = None) -> Encoded:
    """Return the calls of a delivery and their losses.

    A post continues after the copies that exist; an edit changes, adds and deletes copies.
    """
    operation = delivery.operation
    match operation:
        case EditMessage(to=to) if to is not None:
            return Encoded(calls=())  # a private answer cannot be edited later
        case PostMessage(byline=byline) | EditMessage(byline=byline):
            bodies, losses = _bodies(delivery, byline, cards, files)
            return Encoded(calls=tuple(_calls(delivery, byline, bodies)), losses=losses)
        case DeleteMessage():
            copies = standing_copies(delivery)
            return Encoded(calls=tuple(_delete(delivery, copy) for copy in copies))
        case mark:
            return encode_mark(delivery, mark)


def _calls(delivery: Delivery, byline: Byline, bodies: Sequence[Body]) -> Iterator[Call]:
    copies = standing_copies(delivery)
    thread = next((copy.thread for copy in copies if copy.thread), delivery.thread)
    return calls_in_slots(
        delivery, bodies, post=lambda slot, body: _post(delivery, byline, slot, body, thread),
        edit=partial(_edit, delivery), delete=partial(_delete, delivery),
    )  # fmt: skip


def _post(
    delivery: Delivery, byline: Byline, slot: int, content_body: Body, thread: str | None
) -> Call:
    operation = delivery.operation
    if isinstance(operation, PostMessage) and operation.answers is not None:
        return _answer(delivery, operation.answers, slot, content_body)
    direct = ids.is_direct(operation.channel)
    # Links of people keep their previews (no SUPPRESS_EMBEDS): users expect them. An agent's links
    # have none: Discord requests each previewed address, and an agent that was tricked could put
    # secrets into it.
    body: dict[str, JsonValue] = {**content_body.content, "allowed_mentions": _allowed(delivery)}
    if byline.agent and _is_text(content_body):
        body["flags"] = SUPPRESS_EMBEDS
    if direct:
        body |= {"nonce": ids.nonce_of(operation.id, slot), "enforce_nonce": True}
    else:
        body["username"] = webhook_name(byline.name)
        if byline.picture and _URL.fullmatch(byline.picture):
            body["avatar_url"] = byline.picture
        elif byline.color is not None:
            body["avatar_url"] = f"{_STAND_INS}/{byline.color % 6}.png"
    rule = MESSAGE_CREATE if direct else WEBHOOK_EXECUTE
    return post_call(
        delivery, slot, method=BOT_POST if direct else WEBHOOK_POST, body=body,
        rate_limits=_rate_limits(delivery, rule), thread=thread, files=content_body.files,
    )  # fmt: skip


def _answer(delivery: Delivery, command: str, slot: int, content_body: Body) -> Call:
    """Return the private answer to a command."""
    body: dict[str, JsonValue] = {**content_body.content, "allowed_mentions": NO_PINGS}
    return post_call(
        delivery, slot, method=ANSWER, body=body,
        rate_limits=_rate_limits(delivery, WEBHOOK_EXECUTE), thread=None, native_id=command,
    )  # fmt: skip


def _edit(delivery: Delivery, copy: Receipt, content_body: Body) -> Call:
    """Return the edit of a copy; it clears the fields that the new body lacks."""
    operation = delivery.operation
    agent = isinstance(operation, EditMessage) and operation.byline.agent and _is_text(content_body)
    quiet: dict[str, JsonValue] = {"flags": SUPPRESS_EMBEDS} if agent else {}
    return copy_call(
        delivery, copy, "edit",
        method=BOT_EDIT if ids.is_direct(operation.channel) else WEBHOOK_EDIT,
        body={
            **_cleared_fields(content_body), **content_body.content, **quiet,
            "allowed_mentions": _allowed(delivery),
        },
        rate_limits=_rate_limits(delivery, MESSAGE_EDIT), files=content_body.files,
    )  # fmt: skip


def _allowed(delivery: Delivery) -> dict[str, JsonValue]:
    """Return `allowed_mentions`: only the users and roles with a counterpart on Discord."""
    counterparts = delivery.counterparts
    users = sorted({split_key(person.id)[-1] for person in counterparts.people.values()})
    roles = sorted({split_key(group)[-1] for group in counterparts.groups.values()})
    if not (users or roles or counterparts.everyone):
        return NO_PINGS
    allowed: dict[str, JsonValue] = {"parse": ["everyone"] if counterparts.everyone else []}
    if users:
        allowed["users"] = [*users]
    if roles:
        allowed["roles"] = [*roles]
    return allowed


def _is_text(body: Body) -> bool:
    """Return whether the body is plain text, whose links Discord previews."""
    return "content" in body.content and not (body.content.keys() & {"embeds", "flags"})


def _cleared_fields(body: Body) -> dict[str, JsonValue]:
    """Return empty fields: those that an edit omits stay unchanged (docs: resources/message)."""
    if body.content.keys() == {"content"}:
        return {}
    empty: dict[str, JsonValue] = {"content": None, "embeds": []}
    return empty if "flags" in body.content else {**empty, "components": []}


def _delete(delivery: Delivery, copy: Receipt) -> Call:
    operation = delivery.operation
    original = isinstance(operation, DeleteMessage) and operation.original
    by_bot = original or ids.is_direct(operation.channel)
    return copy_call(
        delivery, copy, "delete", method=BOT_DELETE if by_bot else WEBHOOK_DELETE, body={},
        rate_limits=_rate_limits(delivery, MESSAGE_EDIT),
    )  # fmt: skip


def _rate_limits(delivery: Delivery, rule: str) -> tuple[RateLimitKey, ...]:
    """Return the rate limits, narrowest first: it applies when Discord does not name one."""
    operation = delivery.operation
    return (
        RateLimitKey(rule=rule, of=operation.channel.channel),
        RateLimitKey(rule=GLOBAL, of=operation.account),
    )


def _bodies(
    delivery: Delivery, byline: Byline, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    write = partial(_written, delivery, byline, cards, files)
    return _WRITTEN.of(delivery, _seen_above(delivery, byline), cards, files, write=write)


def _seen_above(delivery: Delivery, byline: Byline) -> tuple[object, ...]:
    """Return what the lines above a message show beside the quoted words."""
    channel, quoted = delivery.operation.channel, delivery.quoted
    answers = quoted is not None and quoted.native_id is not None
    linked = (channel, delivery.thread) if answers else None
    return linked, byline.name if ids.is_direct(channel) else None


def _written(
    delivery: Delivery, byline: Byline, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    if is_rich(delivery.message):
        bodies, losses = rich_bodies(
            delivery.message, _lines_above(delivery, byline), cards, files, delivery.counterparts
        )
    else:
        texts, losses = _texts(delivery, byline)
        bodies = [Body({"content": text}) for text in texts]
    if not delivery.feedback:
        return bodies, losses
    with_buttons, feedback_losses = with_question(bodies)
    return with_buttons, (*losses, *feedback_losses)


def _lines_above(delivery: Delivery, byline: Byline) -> Document:
    """Return the line of the quoted message and, in DMs, the author's name."""
    blocks: list[Block] = []
    if delivery.quoted:
        quoted = delivery.quoted
        line: list[Inline] = [Text(f"↪ {cut_name(_one_line(quoted.author), NAME_LIMIT)}: ")]
        if quoted.native_id:
            link = ids.jump_link(delivery.operation.channel, delivery.thread, quoted.native_id)
            line.append(Link(link, (Text(link),)))
        else:
            line.append(Text(cut_text(_one_line(quoted.excerpt), _EXCERPT)))
        blocks.append(Paragraph(tuple(line)))
    if ids.is_direct(delivery.operation.channel):
        blocks.append(Paragraph((Strong((Text(f"{_one_line(byline.name) or '?'}:"),)),)))
    return tuple(blocks)


# --- words ----------------------------------------------------------------------------------


def _texts(delivery: Delivery, byline: Byline) -> tuple[list[str], tuple[Loss, ...]]:
    markdown, losses = message_text(delivery.message)
    document = with_counterparts(markdown_to_text(markdown), delivery.counterparts)
    text = text_to_discord(document)
    if ids.is_direct(delivery.operation.channel):
        gap = "\n" if _begins_with_block(document) else " "
        text = f"**{escape(_one_line(byline.name)) or '?'}:**{gap}{text}"
    if delivery.quoted:
        text = f"{_quote_line(delivery, delivery.quoted)}\n{text}"
    pieces = [piece.strip() for piece in split_text(text, TEXT_LIMIT)]
    texts = [piece for piece in pieces if piece] or [_NOTHING]
    return texts, (*losses, *_losses(document, ""))


def _begins_with_block(document: Document) -> bool:
    return bool(document) and isinstance(document[0], Heading | List | Quote | CodeBlock | Table)


def _quote_line(delivery: Delivery, quoted: QuotedMessage) -> str:
    """Return the small line that names the quoted author: webhooks cannot reply (docs)."""
    author = escape(cut_name(_one_line(quoted.author), NAME_LIMIT)) or "?"
    if quoted.native_id:
        channel = delivery.operation.channel
        return f"-# ↪ {author}: {ids.jump_link(channel, delivery.thread, quoted.native_id)}"
    excerpt = escape(cut_text(_one_line(quoted.excerpt), _EXCERPT))
    return f"-# ↪ {author}: {excerpt}" if excerpt else f"-# ↪ {author}"


def webhook_name(name: str) -> str:
    """Return the name as Discord accepts it: 1 to 80 characters, none of its reserved words.

    Invisible spaces break reserved words up, so the name looks the same.
    """
    visible_name = _one_line(name)
    if not any(character.isprintable() and not character.isspace() for character in visible_name):
        return "(no name)"
    visible_name = _FORBIDDEN.sub(_with_gap, visible_name)
    if reserved := _RESERVED.fullmatch(visible_name):
        first, second = (group for group in reserved.groups() if group)
        visible_name = f"{first}{_GAP}{second}"
    return cut_name(visible_name, NAME_LIMIT)


def _with_gap(match: re.Match[str]) -> str:
    if match["ticks"]:
        return f"`{_GAP}`{_GAP}"
    pairs = {"disc": "ord", "cly": "de"}
    head, tail = match["head"], match["tail"]
    return f"{head}{_GAP}{tail}" if pairs[head.lower()] == tail.lower() else match[0]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _losses(blocks: Sequence[Block], path: str) -> Iterator[Loss]:
    """Yield the blocks that Discord cannot show in their form."""
    for index, block in enumerate(blocks):
        block_path = f"{path}/{index}"
        match block:
            case Table():
                yield Loss(
                    path=block_path, kind="table_as_code", what="table", shown_as="code block"
                )
            case Rule():
                yield Loss(path=block_path, kind="rule_as_text", what="rule", shown_as="a line")
            case Heading(level=level) if level > 3:
                yield Loss(path=block_path, kind="heading_level", what=f"h{level}", shown_as="h3")
            case Quote(blocks=inner):
                yield from _losses(inner, block_path)
            case List(items=items):
                for number, item in enumerate(items):
                    yield from _losses(item.blocks, f"{block_path}/{number}")
            case _:
                pass

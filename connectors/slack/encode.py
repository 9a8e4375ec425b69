"""A delivery -> the Web API calls that carry it out. Pure and stable: no network, no clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.bodies import Body
from bridge.content.cards.reader import NO_CARDS, Cards, is_rich
from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.messages.calls import copy_call, post_call, standing_copies
from bridge.content.messages.parts import message_text
from bridge.content.messages.written_once import WrittenOnce
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.names import cut_name
from bridge.content.text.split import cut_text, split_text
from bridge.content.text.tree import Paragraph, Quote, Strong, Text
from bridge.model import (
    FIRST_SLOT_OF_FILES,
    ActorId,
    Byline,
    Call,
    Counterparts,
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
from connectors.slack import ids
from connectors.slack.capabilities import (
    DELETE_PER_WORKSPACE,
    EXCERPT_LIMIT,
    METADATA_TYPE,
    NAME_LIMIT,
    POST_PER_CHANNEL,
    POST_PER_WORKSPACE,
    SHARE_FILES,
    TEXT_LIMIT,
    UPDATE_PER_WORKSPACE,
    WHISPER,
)
from connectors.slack.feedback import with_question
from connectors.slack.marks import encode_mark
from connectors.slack.rich import rich_bodies
from connectors.slack.text import text_to_mrkdwn

# Slack would unfurl links into Slack with our bot's rights, whoever wrote the link; and a link to a
# file may share the file.
_OF_SLACK = re.compile(r"(?i)slack(?:-files|-edge)?\.com|slack-redir\.net")
_NAMELESS = "somebody"
# Emoji for authors without a picture: each author keeps one colour.
_STAND_INS = (
    ":large_blue_circle:", ":red_circle:", ":large_green_circle:", ":large_purple_circle:",
    ":large_orange_circle:", ":large_brown_circle:", ":large_yellow_circle:", ":black_circle:",
)  # fmt: skip
_NOTHING_YET = "…"
_SECTION = 2950  # encoded characters: a section takes 3,000
_NOT_WHISPERED = ("metadata", "unfurl_links", "unfurl_media", "mrkdwn")
_WRITTEN = WrittenOnce[tuple[list[Body], tuple[Loss, ...]]]()


def encode(delivery: Delivery, cards: Cards = NO_CARDS, files: Files | None = None) -> Encoded:
    """The calls of a delivery in their order, and the losses."""
    match delivery.operation:
        case PostMessage() as operation:
            bodies, losses = _bodies(delivery, cards, files)
            return Encoded(calls=tuple(_posts(delivery, operation, bodies)), losses=losses)
        case EditMessage() as operation:
            bodies, losses = _bodies(delivery, cards, files)
            return Encoded(calls=tuple(_edits(delivery, operation, bodies)), losses=losses)
        case DeleteMessage():
            calls = tuple(_delete(delivery, copy) for copy in standing_copies(delivery))
            return Encoded(calls=calls)
        case mark:
            return encode_mark(delivery, mark)


def _posts(delivery: Delivery, operation: PostMessage, bodies: list[Body]) -> Iterator[Call]:
    slots = {copy.slot for copy in delivery.copies}
    for slot, body in _slotted(bodies):
        if slot not in slots:
            yield _post(delivery, operation, slot, body)


def _edits(delivery: Delivery, operation: EditMessage, bodies: list[Body]) -> Iterator[Call]:
    """The changed copies, then further ones if the text is longer, or deletions if it is shorter.

    A copy that somebody deleted stays deleted. Files of a standing copy stay; when other files are
    needed, or text would follow them, they are shared again, since a message cannot change its
    files. An ephemeral message cannot change: it is posted again.
    """
    slotted = _slotted(bodies)
    if operation.to is not None:
        yield from (_post(delivery, operation, slot, body) for slot, body in slotted)
        return
    copies = {copy.slot: copy for copy in delivery.copies}
    above: list[Receipt | None] = []
    for slot, body in slotted:
        copy = copies.get(slot)
        if copy is None:
            yield _post(delivery, operation, slot, body)
        elif not copy.deleted and not body.files:
            yield _update(delivery, copy, body)
        elif not copy.deleted and (operation.files_changed or not _stands_below(copy, above)):
            yield _delete(delivery, copy)
            yield _post(delivery, operation, slot, body)
        above.append(copy)
    slots = {slot for slot, _ in slotted}
    for copy in standing_copies(delivery):
        if copy.slot not in slots:
            yield _delete(delivery, copy)


def _slotted(bodies: list[Body]) -> list[tuple[int, Body]]:
    """Texts and files are counted separately, so that neither uses the other's copies."""
    words, files = count(), count(FIRST_SLOT_OF_FILES)
    return [(next(files if body.files else words), body) for body in bodies]


def _stands_below(files: Receipt, above: list[Receipt | None]) -> bool:
    """Whether all text above these files was there before them."""
    return all(receipt is not None and receipt.native_id < files.native_id for receipt in above)


def _bodies(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    write = partial(_written, delivery, cards, files)
    return _WRITTEN.of(delivery, cards, files, write=write)


def _written(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    bodies, losses = _bodies_of(delivery, cards, files)
    if not delivery.feedback:
        return bodies, losses
    pieces = () if is_rich(delivery.message) else _pieces(delivery)[0]
    last = pieces[-1][0] if pieces else ""
    with_buttons, unasked = with_question(bodies, partial(_sections, last, delivery.counterparts))
    return with_buttons, (*losses, *unasked)


def _sections(markdown: str, counterparts: Counterparts, text: str) -> list[str]:
    """The mrkdwn as parts that fit sections; `markdown` is its source, if known."""
    if len(text) <= _SECTION or not markdown:
        return [part for part in split_text(text, _SECTION) if part.strip()]
    exact = partial(_encoded_length, counterparts=counterparts)
    return [part for _, part in _cut(markdown, (exact,), counterparts, _SECTION) if part.strip()]


def _bodies_of(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    if not is_rich(delivery.message):
        texts, losses = _texts(delivery)
        return [Body({"text": text}) for text in texts], losses
    quoted = () if delivery.quoted is None else markdown_to_text(_quote(delivery.quoted))
    url_of = None if files is None else files.url_of
    bodies, losses = rich_bodies(delivery.message, quoted, cards, url_of, delivery.counterparts)
    return _files_apart(bodies), losses


def _files_apart(bodies: list[Body]) -> list[Body]:
    """The files in a message of their own, which follows the text."""
    apart: list[Body] = []
    for body in bodies:
        if body.content or not body.files:
            apart.append(Body(body.content or {"text": _NOTHING_YET}))
        if body.files:
            apart.append(Body({}, body.files))
    return apart


# --- text -----------------------------------------------------------------------------------


def parts(delivery: Delivery) -> list[str]:
    """The Markdown of each message that a text becomes."""
    return [markdown for markdown, _ in _pieces(delivery)[0]]


def _texts(delivery: Delivery) -> tuple[list[str], tuple[Loss, ...]]:
    """The message as mrkdwn, in parts that fit."""
    pieces, losses = _pieces(delivery)
    return [written for _, written in pieces] or [_NOTHING_YET], losses


def _pieces(delivery: Delivery) -> tuple[list[tuple[str, str]], tuple[Loss, ...]]:
    """The Markdown and the mrkdwn of each part."""
    markdown, losses = message_text(delivery.message)
    if delivery.quoted is not None:
        markdown = f"{_quote(delivery.quoted)}\n\n{markdown}"
    counterparts = delivery.counterparts
    whole = _mrkdwn(markdown, counterparts)
    if len(whole) <= TEXT_LIMIT:
        return [(markdown, whole if whole.strip() else _NOTHING_YET)], losses
    exact = partial(_encoded_length, counterparts=counterparts)
    lengths = (_length_of_prose, _length_of_signs, exact)
    return [part for part in _cut(markdown, lengths, counterparts) if part[1].strip()], losses


def _cut(
    markdown: str,
    lengths: Sequence[Callable[[str], int]],
    counterparts: Counterparts,
    limit: int = TEXT_LIMIT,
) -> Iterator[tuple[str, str]]:
    """The Markdown and the mrkdwn of each part.

    Measuring needs a rendering, which is slow: so lengths are estimated, and only a part that is
    too long is cut again with the next, more exact measure.
    """
    for part in split_text(markdown, limit, lengths[0]):
        written = _mrkdwn(part, counterparts)
        if len(written) <= limit or len(lengths) == 1:
            yield part, written
        else:
            yield from _cut(part, lengths[1:], counterparts, limit)


def _mrkdwn(markdown: str, counterparts: Counterparts) -> str:
    return text_to_mrkdwn(with_counterparts(markdown_to_text(markdown), counterparts))


def _length_of_prose(markdown: str) -> int:
    return len(markdown) + 4 * sum(map(markdown.count, "&<>"))


def _length_of_signs(markdown: str) -> int:
    """An upper bound in nearly all cases: a literal sign becomes a date of 25 characters."""
    return _length_of_prose(markdown) + 24 * sum(map(markdown.count, "*_~`:>"))


def _encoded_length(markdown: str, counterparts: Counterparts) -> int:
    return len(_mrkdwn(markdown, counterparts))


def _quote(quoted: QuotedMessage) -> str:
    """One line with the author and the start of the answered message: Slack has no replies."""
    author = Strong((Text(_name(quoted.author)),))
    excerpt = Text(f": {cut_text(' '.join(quoted.excerpt.split()), EXCERPT_LIMIT)}")
    return text_to_markdown((Quote((Paragraph((author, excerpt)),)),))


def _name(name: str) -> str:
    """The name with single spaces; a name that is too long ends in an ellipsis."""
    return cut_name(" ".join(name.split()), NAME_LIMIT, len)


# --- calls ----------------------------------------------------------------------------------


def _post(
    delivery: Delivery, operation: PostMessage | EditMessage, slot: int, content: Body
) -> Call:
    if content.files:
        return _share(delivery, operation, slot, content)
    text = str(content.content.get("text", ""))
    body: dict[str, JsonValue] = {
        "channel": operation.channel.channel,
        **content.content,
        **byline_fields(operation.byline),
        **_harmless(),
        "unfurl_links": False,
        # A link preview requests the URL, and an agent's text may have secrets in a URL.
        "unfurl_media": not operation.byline.agent and not _OF_SLACK.search(text),
        "metadata": {
            "event_type": METADATA_TYPE,
            "event_payload": {"operation": operation.id, "slot": slot},
        },
    }
    method = "chat.postMessage"
    if operation.to is not None:
        method, body = WHISPER, _whispered(body, operation.to)
    if delivery.thread is not None:
        body["thread_ts"] = delivery.thread
        if isinstance(operation, PostMessage) and operation.broadcast:
            body["reply_broadcast"] = True
    return post_call(
        delivery, slot, method=method, body=body, rate_limits=_post_limits(operation),
        thread=delivery.thread,
    )  # fmt: skip


def _post_limits(operation: PostMessage | EditMessage) -> tuple[RateLimitKey, ...]:
    channel = ids.rate_limited_channel(operation.account, operation.channel)
    return (
        RateLimitKey(rule=POST_PER_CHANNEL, of=channel),
        RateLimitKey(rule=POST_PER_WORKSPACE, of=operation.account),
    )


def _whispered(body: dict[str, JsonValue], to: ActorId) -> dict[str, JsonValue]:
    """The call of chat.postEphemeral: one person sees the message until they reload."""
    fields = {key: value for key, value in body.items() if key not in _NOT_WHISPERED}
    return {**fields, "user": split_key(to)[-1]}


def _share(
    delivery: Delivery, operation: PostMessage | EditMessage, slot: int, content: Body
) -> Call:
    """Files below a line with the author's name, since Slack shares files only in the
    bot's name."""
    author = _name(operation.byline.name) or _NAMELESS
    comment = text_to_mrkdwn((Paragraph((Strong((Text(author),)),)),))
    return post_call(
        delivery, slot, method=SHARE_FILES,
        body={"channel": operation.channel.channel, "initial_comment": comment},
        rate_limits=_post_limits(operation), thread=delivery.thread, files=content.files,
    )  # fmt: skip


def _update(delivery: Delivery, copy: Receipt, content: Body) -> Call:
    """The edit of a copy. The name and the picture cannot change; metadata stays when it is
    omitted.

    Attachments, and blocks beside them, would also stay, so members that are gone are removed.
    """
    removed: dict[str, JsonValue] = (
        {"blocks": []} if "attachments" in content.content else {"attachments": []}
    )
    body: dict[str, JsonValue] = {**removed, **content.content, **_harmless()}
    return _on_copy(delivery, copy, "edit", "chat.update", UPDATE_PER_WORKSPACE, body)


def _delete(delivery: Delivery, copy: Receipt) -> Call:
    return _on_copy(delivery, copy, "delete", "chat.delete", DELETE_PER_WORKSPACE, {})


def _on_copy(
    delivery: Delivery,
    copy: Receipt,
    kind: Literal["edit", "delete"],
    method: str,
    rule: str,
    body: dict[str, JsonValue],
) -> Call:
    operation = delivery.operation
    return copy_call(
        delivery, copy, kind, method=method,
        body={"channel": operation.channel.channel, "ts": copy.native_id, **body},
        rate_limits=(RateLimitKey(rule=rule, of=operation.account),),
    )  # fmt: skip


def _harmless() -> dict[str, JsonValue]:
    """Disable Slack's own resolution of names and links in the text."""
    return {"mrkdwn": True, "parse": "none", "link_names": False}


def byline_fields(byline: Byline) -> dict[str, JsonValue]:
    """The name and picture members of methods that post under another name."""
    body: dict[str, JsonValue] = {"username": _name(byline.name) or _NAMELESS}
    if byline.picture and byline.picture.lower().startswith(("https://", "http://")):
        body["icon_url"] = byline.picture
    elif byline.color is not None:
        body["icon_emoji"] = _STAND_INS[byline.color % len(_STAND_INS)]
    return body

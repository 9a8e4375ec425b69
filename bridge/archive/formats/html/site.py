"""Writes the site: pages of channels, pages of threads, the start page, files, and the index."""

from __future__ import annotations

import hashlib
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import orjson

from bridge.archive.formats.html.cards import CardDrawing
from bridge.archive.formats.html.search_index import SearchIndex
from bridge.content.cards.tree import Asset
from bridge.content.markdown import markdown_to_text
from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.parts import message_text
from bridge.content.text.plain import text_to_plain
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import WriteOptions

_PER_PAGE = 300  # messages
_COLOURS = 8
_ROOTS = 20_000  # messages that may become the root of a thread page
_EXCERPT = 90  # characters of a quoted message
_SCRIPTS = ("site.css", "site.js", "search.js")
_POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:;"
    " media-src 'self' file:; base-uri 'none'; form-action 'none'"
)
_LATEST = 253_402_300_799  # seconds: the last moment of the year 9999


@dataclass
class _Channel:
    """A channel while its pages are written."""

    number: int
    folder: str
    name: str
    topic: str
    kind: str
    pages: int = 0
    messages: int = 0
    first: float | None = None
    last: float = 0.0
    months: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


@dataclass(frozen=True)
class _Shown:
    """What a later message of its thread shows of a message."""

    page: int
    author: str
    excerpt: str
    html: str


class Site:
    """An export that is being written."""

    def __init__(self, path: Path, options: WriteOptions) -> None:
        self._path = path
        self._options = options
        self._cards = CardDrawing(self._stored)
        self._index = SearchIndex(path)
        self._channels: list[_Channel] = []
        self._rows: list[str] = []  # of the page at hand
        self._day = ""
        self._known: OrderedDict[str, _Shown] = OrderedDict()
        self._threads: dict[str, str] = {}  # file of each thread's page, by its root
        self._not_written: list[NotWritten] = []
        self._names: dict[str, str] = {}

    def person(self, person: ExportedPerson) -> None:
        self._names[person.person.id] = person.person.name

    def channel(self, channel: ExportedChannel) -> None:
        self._end_channel()
        number = len(self._channels)
        folder = f"c{number}"
        (self._path / folder).mkdir()
        self._channels.append(_Channel(number, folder, channel.name, channel.topic, channel.kind))

    def message(self, message: ArchivedMessage) -> None:
        channel = self._channels[-1]
        if len(self._rows) >= _PER_PAGE:
            self._write_page(has_next=True)
        page = channel.pages + 1
        day = _day(message.time)
        separator = "" if day == self._day else f'<h3 class="day"><span>{day}</span></h3>'
        self._day = day
        month = day[:7]
        if not channel.months or channel.months[-1][0] != month:
            channel.months.append((month, page))
        body, text = self._body(message)
        row = self._row(message, body, page)
        self._rows.append(separator + row)
        channel.messages += 1
        channel.first = message.time if channel.first is None else channel.first
        channel.last = message.time
        anchor = _anchor(message.message.message_id)
        address = f"{channel.folder}/{page}.html#{anchor}"
        self._index.add(address, channel.number, message.author.name, message.time, text)
        self._remember(message, _Shown(page, message.author.name, text[:_EXCERPT], row))
        if message.root and message.root != message.message.message_id:
            self._add_to_thread(message.root, row)

    def finish(self) -> Sequence[NotWritten]:
        self._end_channel()
        for file in self._threads.values():
            with (self._path / "t" / file).open("a", encoding="utf-8") as page:
                page.write("</main></body></html>\n")
        self._write_start()
        (self._path / "assets").mkdir(exist_ok=True)
        for name in _SCRIPTS:
            source = files("bridge.archive.formats.html").joinpath("static", name)
            (self._path / "assets" / name).write_text(source.read_text("utf-8"), "utf-8")
        self._index.finish()
        return self._not_written

    def close(self) -> None:
        self._index.close()

    # --- one message ----------------------------------------------------------------------------

    def _body(self, message: ArchivedMessage) -> tuple[str, str]:
        """The content as HTML, and its words for the index."""
        text = text_to_plain(markdown_to_text(message_text(message.message)[0]))
        if message.deleted:
            return '<p class="subtle">This message was deleted.</p>', text
        card, losses = self._options.cards.read(message.message)
        for loss in losses:
            what = f"part of a message: {loss.kind.replace('_', ' ')}"
            self._not_written.append(NotWritten(None, what, loss.shown_as or ""))
        try:
            return self._cards.nodes(card.nodes), text
        except RecursionError:
            return f"<p>{escape(text)}</p>", text

    def _row(self, message: ArchivedMessage, body: str, page: int) -> str:
        name, anchor = message.author.name or "?", _anchor(message.message.message_id)
        role = message.message.actor.role
        at = datetime.fromtimestamp(message.time, UTC)
        notes = [
            *(["bot"] if message.author.bot else []),
            *(["edited"] if message.edited_at and not message.deleted else []),
            *(["pinned"] if message.pinned else []),
        ]
        noted = "".join(f' <span class="note">{note}</span>' for note in notes)
        where = "" if message.place is None else message.place.channel.platform
        platform = f' <span class="note platform">{escape(where)}</span>' if where else ""
        classes = f"m {role}{' deleted' if message.deleted else ''}"
        return (
            f'<article class="{classes}" id="{anchor}" tabindex="-1">'
            f'<div class="face c{_colour(message.author.id)}" aria-hidden="true">'
            f"{escape(_initials(name))}</div><div class=said>"
            f"<header><b>{escape(name)}</b>{platform}"
            f' <a class="at" href="#{anchor}"><time datetime="{at.isoformat()}">'
            f"{at.strftime('%H:%M')}</time></a>{noted}</header>"
            f"{self._answers(message, page)}<div class=body>{body}</div>"
            f"{_reactions(message, self._names)}</div></article>\n"
        )

    def _answers(self, message: ArchivedMessage, page: int) -> str:
        """A line with the message that it answers, and a link to its thread."""
        lines: list[str] = []
        answered = message.reply_to or message.root
        shown = self._known.get(answered or "")
        own = message.message.message_id
        if answered and answered != own and shown is not None:
            target = f"{shown.page}.html#{_anchor(answered)}"
            target = target if shown.page != page else f"#{_anchor(answered)}"
            excerpt = escape(" ".join(shown.excerpt.split()))
            lines.append(
                f'<a class="answers" href="{target}">{escape(shown.author)}: {excerpt}</a>'
            )
        if message.root and message.root != own:
            lines.append(f'<a class="thread" href="../t/{_thread_file(message.root)}">Thread</a>')
        return f'<p class="refers">{" ".join(lines)}</p>' if lines else ""

    def _stored(self, asset: Asset) -> str | None:
        """The file of an asset, copied into the site."""
        stream = self._options.files(asset.file_id) if asset.file_id else None
        if stream is None:
            if asset.file_id:
                self._not_written.append(
                    NotWritten(None, "file whose bytes are not in the archive", "its name")
                )
            return None
        name = safe_file_name(asset.name, asset.media_type)
        digest = asset.file_id.rpartition("-")[2][:16]
        target = self._path / "files" / f"{digest}-{name}"
        target.parent.mkdir(exist_ok=True)
        with stream:
            if not target.exists():
                with target.open("wb") as file:
                    shutil.copyfileobj(stream, file)
        return f"../files/{_in_url(target.name)}"

    def _remember(self, message: ArchivedMessage, shown: _Shown) -> None:
        self._known[message.message.message_id] = shown
        if len(self._known) > _ROOTS:
            self._known.popitem(last=False)

    # --- pages ----------------------------------------------------------------------------------

    def _add_to_thread(self, root: str, row: str) -> None:
        """Pages of threads grow with the messages, so that no thread is held in memory."""
        file = self._threads.get(root)
        channel = self._channels[-1]
        if file is None:
            file = self._threads[root] = _thread_file(root)
            (self._path / "t").mkdir(exist_ok=True)
            shown = self._known.get(root)
            back = f"../{channel.folder}/{shown.page if shown else 1}.html"
            head = _head(f"Thread in {channel.name}", "thread-page", channel.number)
            start = (
                f"{head}<main><nav class=pager><a href='{back}#{_anchor(root)}'>"
                f"← {escape(channel.name)}</a></nav><h1>Thread</h1>\n"
            )
            (self._path / "t" / file).write_text(start + (shown.html if shown else ""), "utf-8")
        with (self._path / "t" / file).open("a", encoding="utf-8") as page:
            page.write(row)

    def _end_channel(self) -> None:
        if self._channels:
            self._write_page(has_next=False)
            self._write_months(self._channels[-1])
        self._known.clear()
        self._day = ""

    def _write_page(self, *, has_next: bool) -> None:
        channel = self._channels[-1]
        if not self._rows and channel.pages:
            return
        channel.pages += 1
        page = channel.pages
        links = [
            f'<a rel="prev" href="{page - 1}.html">← Earlier</a>' if page > 1 else "",
            '<a href="months.html">All months</a>',
            f'<a rel="next" href="{page + 1}.html">Later →</a>' if has_next else "",
        ]
        pager = f'<nav class="pager" aria-label="Pages">{"".join(links)}</nav>'
        topic = f'<p class="topic">{escape(channel.topic)}</p>' if channel.topic else ""
        rows = "".join(self._rows) or "<p>There are no messages.</p>"
        title = f"{channel.name}, page {page}"
        html = (
            f"{_head(title, 'channel-page', channel.number)}<main><h1>{escape(channel.name)}</h1>"
            f"{topic}{pager}{rows}{pager}</main></body></html>\n"
        )
        (self._path / channel.folder / f"{page}.html").write_text(html, "utf-8")
        self._rows = []
        self._day = ""

    def _write_months(self, channel: _Channel) -> None:
        items = "".join(
            f'<li><a href="{page}.html">{month}</a></li>' for month, page in channel.months
        )
        html = (
            f"{_head(f'{channel.name}, months', 'months-page', channel.number)}<main>"
            f"<h1>{escape(channel.name)}</h1><ul class=months>{items}</ul></main></body></html>\n"
        )
        (self._path / channel.folder / "months.html").write_text(html, "utf-8")

    def _write_start(self) -> None:
        (self._path / "assets").mkdir(exist_ok=True)
        listed = [[c.name, f"{c.folder}/{c.pages}.html", c.kind] for c in self._channels]
        script = b"window.CHANNELS=" + orjson.dumps(listed) + b";\n"
        (self._path / "assets" / "channels.js").write_bytes(script)
        items = "".join(
            f'<li><a href="{c.folder}/{c.pages}.html">{escape(c.name)}</a>'
            f'<span class="subtle"> {c.messages:,} messages{_span(c)}</span>'
            f"{f'<p>{escape(c.topic)}</p>' if c.topic else ''}</li>"
            for c in self._channels
        )
        total = sum(c.messages for c in self._channels)
        html = (
            f"{_head('Archive', 'start-page', -1, top='')}<main><h1>Archive</h1>"
            f'<p class="topic">{total:,} messages in {len(self._channels):,} channels</p>'
            f"<ul class=channels>{items}</ul></main></body></html>\n"
        )
        (self._path / "index.html").write_text(html, "utf-8")
        search = (
            f"{_head('Search', 'search-page', -1, top='')}<main><h1>Search</h1>"
            '<form id="search" role="search"><label for="q">Words, "phrases", from:name</label>'
            '<input id="q" type="search" autocomplete="off" autofocus>'
            '<label for="in">Channel</label><select id="in"><option value="">All channels</option>'
            '</select></form><p id="state" role="status" aria-live="polite"></p>'
            '<ol id="results"></ol><button id="more" hidden>More</button>'
            "<noscript><p>Search needs scripts.</p></noscript></main>"
            '<script src="assets/search.js"></script></body></html>\n'
        )
        (self._path / "search.html").write_text(search, "utf-8")


def _head(title: str, page: str, channel: int, top: str = "../") -> str:
    """The beginning of a page, up to its content; `top` leads to the folder of the site."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{top}assets/site.css">'
        f'</head><body class="{page}" data-channel="{channel}" data-top="{top}">'
        f'<a class="skip" href="#content">To the messages</a>'
        f'<nav class="side" aria-label="Channels"><p><a href="{top}index.html">Archive</a> '
        f'<a class="find" href="{top}search.html">Search</a></p><ul id="channels"></ul></nav>'
        f'<script src="{top}assets/channels.js"></script>'
        f'<script src="{top}assets/site.js"></script><span id="content"></span>'
    )


def _reactions(message: ArchivedMessage, names: dict[str, str]) -> str:
    people: dict[str, list[str]] = {}
    for reaction in message.reactions:
        name = names.get(reaction.actor) or reaction.actor.rpartition(":")[2]
        people.setdefault(reaction.emoji, []).append(name)
    items = "".join(
        f'<li title="{escape(", ".join(who[:20]))}">{escape(emoji)} {len(who)}</li>'
        for emoji, who in people.items()
    )
    return f'<ul class="reactions" aria-label="Reactions">{items}</ul>' if items else ""


def _anchor(message_id: str) -> str:
    return f"m-{_digest(message_id, 6).hex()}"


def _thread_file(root: str) -> str:
    return f"{_anchor(root)[2:]}.html"


def _colour(actor: str) -> int:
    return _digest(actor, 1)[0] % _COLOURS


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _initials(name: str) -> str:
    words = [word for word in name.split() if word[0].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or name[:1]


def _day(time: float) -> str:
    return datetime.fromtimestamp(min(max(time, 0), _LATEST), UTC).strftime("%Y-%m-%d")


def _span(channel: _Channel) -> str:
    if channel.first is None:
        return ""
    first, last = _day(channel.first), _day(channel.last)
    return f", {first}" if first == last else f", {first} to {last}"


def _in_url(name: str) -> str:
    return quote(name)

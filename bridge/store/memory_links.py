"""Native ids <-> messages of the in-memory twin: the same rules as `links`, over one dict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bridge.model import MessageId, Receipt
from bridge.model.refs import native_id_in

SAID, COPY, STAND_IN = 0, 1, 2
_THREADS = 200  # at most, of one channel


@dataclass
class Link:
    """A native id and the message that it shows. `channel` is a ChannelRef's key, `at` seconds
    since 1970; `instead`: it stands for a root that had come, and was gone by then."""

    channel: str
    native_id: str
    message: MessageId
    kind: int
    slot: int = 0
    thread: str | None = None
    at: float = 0.0
    instead: bool = False
    gone: bool = False

    @property
    def stands(self) -> bool:
        """The message itself or a copy of it, and still there."""
        return self.kind < STAND_IN and not self.gone


@dataclass
class Links:
    """One link for each native id, message, and whether it only stands for that."""

    _links: dict[tuple[str, str, MessageId, bool], Link] = field(
        default_factory=dict[tuple[str, str, MessageId, bool], Link]
    )

    def note(self, new: Link) -> Link:
        """The link that is kept: this one, or one that was known."""
        key = (new.channel, new.native_id, new.message, new.kind == STAND_IN)
        return self._links.setdefault(key, new)

    def note_copies(
        self, channel: str, message: MessageId, receipts: Sequence[Receipt], now: float
    ) -> None:
        """Of two copies for one slot the later stands."""
        for one in receipts:
            new = Link(channel, one.native_id, message, COPY, one.slot, one.thread, now)
            link = self.note(new)
            link.slot, link.gone = one.slot, one.deleted
            link.thread = one.thread or link.thread
            if not one.deleted:
                self._take_place(link)

    def note_gone(self, channel: str, native_id: str) -> None:
        """A copy was taken away by somebody else."""
        for link in self.of_channel(channel):
            if link.native_id == native_id and link.kind == COPY:
                link.gone = True

    def message_of(self, channel: str, native_id: str) -> MessageId | None:
        found = [link for link in self.of_channel(channel) if link.native_id == native_id]
        best = min(found, key=lambda link: (link.kind, link.message), default=None)
        return None if best is None else best.message

    def of_message(self, message: MessageId, channel: str) -> Iterator[Link]:
        return (link for link in self.of_channel(channel) if link.message == message)

    def of_channel(self, channel: str) -> Iterator[Link]:
        return (link for link in self._links.values() if link.channel == channel)

    def copies(self, message: MessageId, channel: str) -> tuple[Receipt, ...]:
        """What stands, the original among it, by rising slot."""
        standing = [link for link in self.of_message(message, channel) if link.stands]
        standing.sort(key=lambda link: (link.slot, link.at, link.native_id))
        return tuple(
            Receipt(slot=link.slot, native_id=link.native_id, thread=link.thread)
            for link in standing
        )

    def root_in_channel(self, root: MessageId, channel: str) -> str | None:
        best = min(self.of_message(root, channel), key=_closest, default=None)
        return native_id_in(channel, root) if best is None else best.native_id

    def live_threads(self, channel: str, since: float) -> Sequence[str]:
        newest: dict[str, float] = {}
        for link in self.of_channel(channel):
            if link.at >= since:
                thread = link.thread or link.native_id
                newest[thread] = max(newest.get(thread, since), link.at)
        return sorted(newest, key=lambda thread: (newest[thread], thread), reverse=True)[:_THREADS]

    def _take_place(self, new: Link) -> None:
        for link in self.of_message(new.message, new.channel):
            if link.kind == COPY and link.slot == new.slot and link.native_id != new.native_id:
                link.gone = True


def _closest(link: Link) -> tuple[int, int, int, float, str]:
    return link.gone - link.instead, link.kind, link.slot, link.at, link.native_id

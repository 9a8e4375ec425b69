"""Logs of IRC clients and bouncers: the export format `irc-logs`.

irssi, WeeChat, ZNC, XChat/HexChat and supybot write one line of text for each event. A log has no
ids, reactions, edits or threads. The network and the channel are in its path, its times have no
offset.

Sources: irssi `irclogs/$tag/$0.log`; WeeChat `irc.network.#channel.weechatlog`; ZNC's log module
`network/window/YYYY-MM-DD.log`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from connectors.irc.exports.files import logs_in, looks_like_a_log
from connectors.irc.ids import PLATFORM

if TYPE_CHECKING:
    from bridge.ports.exports import ReadOptions, WriteOptions
    from connectors.irc.exports.reader import Reader

_TRIED = 20  # files of a folder that are looked into to recognise it


class IrcLogs:
    """The export format."""

    name: str = "irc-logs"
    title: str = "IRC logs (irssi, WeeChat, ZNC, XChat, supybot)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = False

    def recognises(self, path: Path) -> bool:
        tried = zip(range(_TRIED), logs_in(path), strict=False)
        return any(looks_like_a_log(log.path) for _, log in tried)

    def reader(self, path: Path, options: ReadOptions) -> Reader:
        """Open a log or a folder of logs. Raises ExportUnreadable if there is none, or if the time
        zone or the network is not known."""
        from connectors.irc.exports.reader import Reader  # loads the decoder

        return Reader(path, options)

    def writer(self, path: Path, options: WriteOptions) -> None:
        """Logs are only read."""
        del path, options


FORMATS = (IrcLogs(),)

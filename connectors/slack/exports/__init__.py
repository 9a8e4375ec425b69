"""The export formats of Slack: its own export, and the three of slackdump.

`kinds.py` tells the formats apart. The readers give each message to the live decoder (`posts.py`);
the writer (`zip_writer.py`) keeps Slack's own objects and writes those of other platforms anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.ports.exports import ExportFormat
from connectors.slack.exports.slackdump_formats import (
    SlackdumpChunk,
    SlackdumpDump,
    SlackdumpSqlite,
)
from connectors.slack.exports.zip_format import SlackZip

FORMATS: Sequence[ExportFormat] = (
    SlackdumpSqlite(), SlackdumpChunk(), SlackdumpDump(), SlackZip(),
)  # fmt: skip

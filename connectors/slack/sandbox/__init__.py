"""A local Slack: Web API, Socket Mode and signed HTTP over one seeded world.

| address | what |
|---|---|
| `/slack/api/<method>` | the Web API |
| `/slack/oauth/v2/authorize` | where people allow the app that any workspace can install |
| `/slack/socket/link/` | Socket Mode; `apps.connections.open` gives the whole address |
| `/slack/upload/v1/<ticket>` | where the bytes of a new file go (`files.getUploadURLExternal`) |
| `/slack/files-pri/...`, `/slack/files-tmb/...` | files, to holders of a bot token |
| `/slack/actions/...` | response URLs: five uses within half an hour |
| `POST /slack/_control/request_url` | `{app, url}`: send an app's events and interactions there |
| `PUT /slack/_control/pace` | `{ack_seconds, retry_delays, share_seconds}` |

Names of operations for faults: `slack:<method>:<channel>`, `slack:event:<channel>`,
`slack:interaction:<channel>` (`-` for modals; `drop`, `delay`, `duplicate`, `disconnect`),
`slack:files.upload:-`, `slack:files.download:-`, `slack:response_url:<channel>`.

Blocks, attachments and views are checked against the published shapes and limits. Pictures from
other servers are not fetched: only files uploaded to the local Slack are measured.
"""

from __future__ import annotations

from bridge.sandbox.platform import LocalPlatformType
from connectors.slack.sandbox.delivery import Pace
from connectors.slack.sandbox.demo import SIDE
from connectors.slack.sandbox.local import LocalSlack

__all__ = ["LOCAL", "LocalSlack", "Pace"]


LOCAL = LocalPlatformType(
    label="Slack",
    build=LocalSlack,
    order=10,
    demo=SIDE,
    sdk_loggers=("slack_sdk", "slack_bolt"),
)

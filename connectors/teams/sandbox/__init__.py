"""A local Teams: the Bot Framework connector, its identity provider and one seeded tenant.

Addresses, all under `{base_url}/teams`:

| address | what |
|---|---|
| `/svc/v3/...` | the connector; `serviceUrl` of bots with authentication is `/teams/svc/` |
| `/noauth/{app_id}/v3/...` | the same for bots with authentication off (APP_ID "" in botbuilder) |
| `/login/{tenant}/oauth2/v2.0/token` | client credentials -> token (msal: see `login.py`) |
| `/keys/openidconfiguration`, `/keys/jwks` | the keys that sign what Teams posts to bots |
| `/svc/v3/attachments/{id}/views/original` | pictures in messages, for bots with a token |
| `/drive/...` | files: expiring downloads, upload sessions: `drive.py` |
| `/_control/...` | endpoints of bots, installs, new keys, deliveries: `control.py` |

Names of operations for faults (`status`, `rate_limited`, `hang`, `lose_answer`, `late_answer`):
`teams:activity.post:<conversation>` (replies too), `activity.update`, `activity.delete`,
`conversation.create` (of the channel, or the person's id), `members.list`, `members.get`,
`members.paged`, `team.get`, `team.channels`, `attachment.info`, `attachment.get`; the conversation
is the bare channel or chat id. For files `teams:file.download:<conversation>` and
`teams:file.upload:<conversation>`.
`status` also for `teams:token:<app id>` and `teams:keys:`. Events for bots (`drop`, `delay`,
`duplicate`, `reorder`): `teams:event:<conversation>`; of invokes (`drop`, `delay`):
`teams:invoke:<conversation>`. Refusals are counted as
`teams:<status>:<operation>`.

Bots with `hears_all` (resource-specific consent) receive every message of people, other bots those
that mention them; no bot receives messages of bots. Edits and deletions follow the same rule, by
the last text of the message. An event without a 2xx response is repeated once after 502, 503, 504,
15 s or a broken connection; then it is lost: `LocalTeams.outbox.lost`. An invoke is sent once, and
its response has 10 s.

People use cards as in their clients: typed and chosen values wait for the press (`Action.Submit`: a
message with `value`; `Action.Execute`: an invoke, whose card only that person sees), dialogs are
forms, and a file consent card has the controls `Accept` and `Decline`.
"""

from __future__ import annotations

from bridge.sandbox.platform import LocalPlatformType
from connectors.teams.sandbox.demo import SIDE
from connectors.teams.sandbox.events import Delivering, Lost
from connectors.teams.sandbox.local import LocalTeams

__all__ = ["LOCAL", "Delivering", "LocalTeams", "Lost"]


LOCAL = LocalPlatformType(
    label="Teams",
    build=LocalTeams,
    order=30,
    demo=SIDE,
)

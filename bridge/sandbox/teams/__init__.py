"""A local Teams: the Bot Framework connector, its identity provider and one seeded tenant.

Addresses, all under `{base_url}/teams`:

| address | what |
|---|---|
| `/svc/v3/...` | the connector; `serviceUrl` of bots with authentication is `/teams/svc/` |
| `/noauth/{app_id}/v3/...` | the same for bots with authentication off (APP_ID "" in botbuilder) |
| `/login/{tenant}/oauth2/v2.0/token` | client credentials -> token (msal: see `login.py`) |
| `/keys/openidconfiguration`, `/keys/jwks` | the keys that sign what Teams posts to bots |
| `/_control/...` | endpoints of bots, installs, new keys, what was delivered: `control.py` |

Names of operations for faults (`status`, `rate_limited`, `hang`, `lose_answer`):
`teams:activity.post:<conversation>` (replies too), `activity.update`, `activity.delete`,
`conversation.create` (of the channel, or the person's id), `members.list`, `members.get`,
`members.paged`, `team.get`, `team.channels`; the conversation is the bare channel or chat id.
`status` also for `teams:token:<app id>` and `teams:keys:`. Events for bots (`drop`, `delay`,
`duplicate`, `reorder`): `teams:event:<conversation>`. Refusals are counted as
`teams:<status>:<operation>`.

Bots with `hears_all` (resource-specific consent) get every message of people, others those that
mention them; nobody gets what bots say. A post without an answer of 2xx is tried once more after
502, 503, 504, 15 s or a broken connection, then it is lost: `LocalTeams.outbox.lost`.
"""

from __future__ import annotations

from bridge.sandbox.platform import Surroundings
from bridge.sandbox.teams.events import Delivering, Lost
from bridge.sandbox.teams.local import LocalTeams

__all__ = ["Delivering", "LocalTeams", "Lost", "local_platform"]


def local_platform(around: Surroundings) -> LocalTeams:
    """Seed and build the local Teams."""
    return LocalTeams(around)

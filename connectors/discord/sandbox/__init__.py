"""A local Discord: REST v10 under `/discord/api/v10`, gateway v10 under `/discord/gateway`.

Unmodified discord.py programs run against it with three addresses changed:
`discord.http.Route.BASE = base + "/discord/api/v10"`,
`discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(ws_base + "/discord/gateway")`,
`discord.Asset.BASE = base + "/discord"`.

Faults name REST calls `discord:<route name>:<channel>`; calls without a channel end in a colon,
webhook calls have the webhook's channel. Events are `discord:event:<channel>`: the channel or
thread of the event, or the parent of that thread. A fault `disconnect` is taken by an event too;
it closes all sockets first, so that the event is among those that a resume brings.
Route names:
user.me user.get user.guilds dm.open application.get gateway.get gateway.bot guild.get
guild.channels guild.members guild.member guild.roles guild.threads guild.webhooks channel.create
channel.get channel.edit channel.delete channel.typing message.list message.create message.get
message.edit message.delete message.bulk_delete reaction.add reaction.remove reaction.list
thread.start thread.archived thread.join thread.leave webhook.list webhook.create webhook.get
webhook.edit webhook.delete webhook.execute webhook.message.get webhook.message.edit
webhook.message.delete interaction.callback poll.expire poll.voters attachment.refresh

Files are served under `/discord/attachments` (signed addresses that expire, as the CDN's) and
pictures that messages name elsewhere under `/discord/external`, where nothing is fetched. Their
fault is `discord:cdn:<channel>`, that of telling an application of a press
`discord:interaction:<channel>`. `LocalDiscord.desk.patience` is how long a person waits for an
answer: Discord's 3 s unless a test says otherwise.
"""

from __future__ import annotations

from bridge.sandbox.platform import LocalPlatformType
from connectors.discord.sandbox.demo import SIDE
from connectors.discord.sandbox.local import LocalDiscord

__all__ = ["LOCAL", "LocalDiscord"]


LOCAL = LocalPlatformType(
    label="Discord",
    build=LocalDiscord,
    order=20,
    demo=SIDE,
    sdk_loggers=("discord",),
)

"""A local Discord: REST v10 under `/discord/api/v10`, gateway v10 under `/discord/gateway`.

Unmodified discord.py programs run against it with three addresses changed:
`discord.http.Route.BASE = base + "/discord/api/v10"`,
`discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(ws_base + "/discord/gateway")`,
`discord.Asset.BASE = base + "/discord"`.

Faults name REST calls `discord:<route name>:<channel>`; calls without a channel end in a colon,
webhook calls have the webhook's channel. Events are `discord:event:<channel>`: the channel or
thread of the event, or the parent of that thread. An event also takes a fault `disconnect`, which
closes all sockets first, so that a resume delivers the event.
Route names:
user.me user.get user.guilds guild.leave dm.open application.get gateway.get gateway.bot guild.get
guild.channels guild.members guild.member guild.roles guild.threads guild.webhooks channel.create
channel.get channel.edit channel.delete channel.typing message.list message.create message.get
message.edit message.delete message.bulk_delete reaction.add reaction.remove reaction.list
thread.start thread.archived thread.join thread.leave webhook.list webhook.create webhook.get
webhook.edit webhook.delete webhook.execute webhook.message.get webhook.message.edit
webhook.message.delete interaction.callback poll.expire poll.voters attachment.refresh

Files are served under `/discord/attachments` (signed addresses that expire, as on the CDN), and
external pictures under `/discord/external`, which redirects. The fault of files is
`discord:cdn:<channel>`, that of sending an interaction to an application
`discord:interaction:<channel>`. `/discord/oauth2/authorize` is where people allow the app
"everywhere", which is in no guild at first. `LocalDiscord.dispatcher.deadline_s` is how long a user
waits for an answer: Discord's 3 s unless a test changes it.
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

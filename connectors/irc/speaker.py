"""A connection through which calls go: the bot's own, or that of one author."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.errors import NotFound
from bridge.model import Call, ChannelRef
from connectors.irc import caps, ids
from connectors.irc.encode import CORRECT, POST
from connectors.irc.form import Form
from connectors.irc.link import Link
from connectors.irc.posts import Posts


@dataclass
class Speaker:
    """`form` is what the connection carries now; `is_puppet`: it speaks for one author."""

    link: Link
    posts: Posts
    max_lines: int = 8
    quiet: bool = True
    is_puppet: bool = False

    @property
    def labels(self) -> bool:
        return self.link.state.has(caps.LABELS, "batch")

    @property
    def echoes(self) -> bool:
        return self.link.state.has(caps.ECHO)

    def target(self, channel: ChannelRef) -> str:
        """What the server calls the channel now. Raises NotFound for the direct messages of an
        account that nobody is logged in to, as far as the bot can see."""
        account = ids.account_in(channel)
        if account is None:
            return channel.channel
        nick = self.link.state.nick_of_account(account)
        if nick is None:
            raise NotFound(
                f"Nobody whom the bot can see is logged in as {account!r}; they must share a "
                "channel with it"
            )
        return nick

    def answers(self, call: Call) -> bool:
        """Whether the server answers a call by itself: messages by their echo, all others by a
        labelled acknowledgement."""
        return self.echoes if call.method in (POST, CORRECT) else self.labels

    @property
    def form(self) -> Form:
        state = self.link.state
        return Form(
            mask=Form().mask if state.mask_bytes is None else state.mask_bytes,
            line_bytes=state.support.line_bytes,
            multiline=caps.multiline_of(state.enabled),
            redacts=state.has(caps.REDACTION),
            replies=state.has(caps.TAGS) and state.support.takes_client_tag("reply"),
            max_lines=self.max_lines,
            quiet=self.quiet,
        )

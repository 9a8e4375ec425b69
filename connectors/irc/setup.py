"""How a person brings the bot into an IRC network. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.ports.connector import SetupStep
from bridge.runtime.setup import refuse_unknown

_EXAMPLE = """\
accounts:
  {account}:
    platform: irc
    host: irc.libera.chat
    nick: {nick}
    realname: "Bridge bot, run by you@example.org"
    sasl: plain
    password: {{env: IRC_PASSWORD}}

rooms:
  general:
    members:
      - {{account: {account}, channel: "#your-channel"}}
"""


def setup_steps(settings: Mapping[str, str]) -> Sequence[SetupStep]:
    """`settings` may hold `name` (the nick) and `account` (its name in the configuration)."""
    refuse_unknown(settings, {"name", "account", "public_url"}, "IRC")
    nick = (settings.get("name") or "uacs-bridge").replace(" ", "-")
    account = settings.get("account") or "irc"
    return [
        SetupStep(
            "Ask first",
            "Networks have rules for bots and relays: read them, and ask the operators of each"
            " channel. Say in `realname` who runs the bot and how to reach you. Puppets (one"
            " connection for each author) need the leave of the network's staff.",
        ),
        SetupStep(
            "Register an account for the bot",
            "Connect once with any IRC client under the bot's nick and register it, for instance"
            " with NickServ. Put the password into the environment variable or file that"
            " `password` names, never into the configuration itself.",
            artifact="/msg NickServ REGISTER <password> you@example.org",
        ),
        SetupStep(
            "Write the account",
            "`sasl: plain` logs in with account and password; `sasl: external` with a client"
            " certificate whose fingerprint the account knows; without SASL the bot identifies"
            " with NickServ. The bot joins the channels of its rooms by itself.",
            artifact=_EXAMPLE.format(account=account, nick=nick),
        ),
        SetupStep(
            "Mind the limits",
            "The bot sends 4 lines at once and one in a second after that; most networks take"
            " that from everybody. Where operators give the bot voice or an exemption, raise"
            " `burst` and `lines_per_second`. Long messages become a link to their text where"
            " `web.public_url` is set.",
        ),
        SetupStep("Look whether it works", "Run `uacs-bridge check`."),
    ]

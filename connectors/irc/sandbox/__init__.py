"""A local IRC network for tests and for trying the bridge out."""

from connectors.irc.sandbox.server import MODERN, PLAIN, IrcServer, irc_server
from connectors.irc.sandbox.world import Fault, Message

__all__ = ["MODERN", "PLAIN", "Fault", "IrcServer", "Message", "irc_server"]

"""A local IRC network for tests and for trying the bridge out."""

from connectors.irc.sandbox.server import MODERN, PLAIN, LocalIrc, local_irc
from connectors.irc.sandbox.world import Fault, Said

__all__ = ["MODERN", "PLAIN", "Fault", "LocalIrc", "Said", "local_irc"]

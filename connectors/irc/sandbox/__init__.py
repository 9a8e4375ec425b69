"""A local IRC: servers of IRCv3 or RFC 2812 on loopback, with people who need no connection.

`IrcServer` is one server, for tests of the connector. `LocalIrc` is the platform of the sandbox and
the demo: two networks, whose faults and controls are described in its docstring.
"""

from __future__ import annotations

from bridge.sandbox.platform import LocalPlatformType
from connectors.irc.sandbox.demo import SIDE
from connectors.irc.sandbox.local import LocalIrc
from connectors.irc.sandbox.server import MODERN, PLAIN, IrcServer, irc_server
from connectors.irc.sandbox.world import Fault, Message

__all__ = ["LOCAL", "MODERN", "PLAIN", "Fault", "IrcServer", "LocalIrc", "Message", "irc_server"]

LOCAL = LocalPlatformType(label="IRC", build=LocalIrc, order=40, demo=SIDE)

"""Ports for programs that must be told theirs before they listen."""

from __future__ import annotations

import itertools
import os
import socket

# Below the ports that the system gives to whoever binds port 0 or connects (from 32768 on Linux).
_LOWEST, _EACH = 20_000, 1_000
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# Another run of the tests on this machine, which has another process id, begins elsewhere.
_ports = itertools.cycle(
    _LOWEST + _EACH * (_worker % 12) + (os.getpid() + number) % _EACH for number in range(_EACH)
)


def free_port() -> int:
    """A port at which nobody listens, and that nothing else in this run of the tests is given."""
    for port in itertools.islice(_ports, _EACH):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"No free port for worker {_worker}")

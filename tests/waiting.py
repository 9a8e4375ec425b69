"""How long a test waits for a state that must come."""

from __future__ import annotations

# Seconds. Only a fault reaches this limit: a busy machine may make all else slow.
LONGEST_WAIT = 60.0

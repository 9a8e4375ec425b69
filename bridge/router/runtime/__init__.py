"""What every part of the router runs with: timeouts and counters."""

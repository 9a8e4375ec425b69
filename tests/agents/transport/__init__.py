"""Tests of `bridge.agents.transport`."""

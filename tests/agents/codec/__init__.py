"""Tests of `bridge.agents.codec`."""

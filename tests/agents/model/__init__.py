"""Tests of `bridge.agents.model`."""

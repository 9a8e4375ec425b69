"""Agents and their APIs: a turn in, agent events out. One folder per API.

What the APIs share stands in four folders, imported in this order: `model` (the agent of all model
APIs), `turn` (one turn over a network), `transport` (HTTP), `codec` (pure conversion).
docs/extending/agent-api.md lists the files of a new API."""

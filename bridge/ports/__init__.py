"""Protocols between the router and its environment: platforms, agents, store, files, clock."""

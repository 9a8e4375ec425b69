"""Protocols between the router and everything around it."""

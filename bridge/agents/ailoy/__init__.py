"""Servers that speak the message format of Ailoy."""

"""Servers that speak Ailoy's message format."""

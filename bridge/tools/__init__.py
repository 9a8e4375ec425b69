"""Servers of tools, over the Model Context Protocol: connected, listed, called."""

"""The platforms: one package each, found through the entry points `uacs_bridge.connectors`."""

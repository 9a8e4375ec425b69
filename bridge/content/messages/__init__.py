"""UACS messages: their parts, the bridge's metadata, and the budget of a model. Pure."""

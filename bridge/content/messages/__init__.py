"""UACS messages: their parts, our additions, and how much of them fits. Pure."""

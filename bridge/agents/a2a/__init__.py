"""The Agent2Agent protocol, over its own SDK (the extra `a2a`)."""

"""A gateway that joins chat platforms and AI agents in shared rooms."""

"""The bridge as an ACP server: its rooms, and the agents in them, for programs elsewhere."""

"""The bridge as an A2A server: its rooms, and the agents in them, for agents elsewhere."""

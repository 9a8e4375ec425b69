"""Agent2Agent (A2A) 1.0 and 0.3."""

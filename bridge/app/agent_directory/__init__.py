"""The agents that the bridge knows, and the tools with which agents find one another."""

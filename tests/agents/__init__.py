"""The tests of the agent APIs."""

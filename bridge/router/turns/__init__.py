"""Turns of agents: who answers, what it is asked, what it says, and what that may cost."""

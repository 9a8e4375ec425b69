"""Agent APIs, one module each: a turn in, agent events out."""

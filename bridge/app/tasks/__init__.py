"""What programs ask rooms and agents, and what comes of it: the same for every protocol."""

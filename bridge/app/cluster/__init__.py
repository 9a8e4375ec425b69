"""Many processes that share one store: which works for what, and how they call one another."""

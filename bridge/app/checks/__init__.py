"""What a configuration needs before a bridge can run with it."""

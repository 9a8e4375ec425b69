"""Commands that people give in a channel."""

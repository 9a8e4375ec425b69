"""The way out: one ordered lane per destination channel sends what the outbox holds."""

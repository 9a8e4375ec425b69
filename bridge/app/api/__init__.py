"""The bridge serves UACS itself: rooms, their events and messages, to programs with a token."""

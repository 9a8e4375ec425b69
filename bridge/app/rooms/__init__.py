"""Rooms of the configuration, with channels found by their names."""

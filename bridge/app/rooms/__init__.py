"""Rooms that change while the bridge runs, and channels found by their names."""

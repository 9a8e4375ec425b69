"""Rooms: their members and options, and the people, names and bans that belong to them."""

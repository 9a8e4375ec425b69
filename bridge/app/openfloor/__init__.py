"""Rooms of the bridge as Open Floor endpoints: agents of other makers join them over HTTP."""

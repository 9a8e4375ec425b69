"""Policies that come with the bridge."""

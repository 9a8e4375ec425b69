"""Formats of no platform of ours."""

"""Measures what a machine can do: its disk, its CPU, and a relay of messages."""

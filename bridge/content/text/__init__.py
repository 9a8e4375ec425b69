"""Formatted text as a tree, independent of the dialect it was written in. Pure."""

"""Translates rich messages from one format to another, without a running bridge."""

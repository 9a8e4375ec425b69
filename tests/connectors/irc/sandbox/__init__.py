"""Tests of the local IRC."""

"""Contract suites for connectors, stores and agents.

Packages outside this repository may inherit them too.
"""

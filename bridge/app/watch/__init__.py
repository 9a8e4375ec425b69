"""Monitoring and maintenance of a running bridge: gauges, the store, stored files."""

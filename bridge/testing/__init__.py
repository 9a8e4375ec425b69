"""Contract suites for connectors, stores and agents: inherit them, in this house or outside."""

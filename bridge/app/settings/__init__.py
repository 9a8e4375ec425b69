"""The configuration file -> checked settings."""

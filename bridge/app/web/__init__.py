"""The web server of the bridge."""

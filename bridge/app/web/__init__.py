"""The web server of the bridge, and what it fetches and serves."""

"""One module for each command (or group of commands), found by `bridge.app.cli` by its name."""

"""One module for each command or group of commands; `bridge.app.cli` finds it by its name."""

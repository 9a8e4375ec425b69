"""The demo: local platforms, the bridge and an agent in one process, and a page to see them on."""

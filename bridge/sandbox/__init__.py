"""What local platforms share: server, user actions, faults, limits, files. On loopback only.

The platforms themselves are in the connectors: `connectors/<platform>/sandbox/`.
"""

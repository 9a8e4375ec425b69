"""What local platforms share: server, people's hands, faults, limits, files. On loopback only.

The platforms themselves are in the connectors: `connectors/<platform>/sandbox/`.
"""

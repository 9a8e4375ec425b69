"""What a connector can do beyond its life cycle: one small Protocol for each ability, by subject.

The router asks with `bridge.runtime.abilities.has`, and shows something else where a platform lacks
one.
"""

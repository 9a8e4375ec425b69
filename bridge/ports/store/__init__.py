"""The store's ports: one narrow Protocol for each subject.

Each method is one transaction, and its effect is durable when it returns. A class takes the port
that it needs; `whole.Store` joins them all. Times are seconds since 1970. Every method raises
StoreError when the database fails; methods that write raise StoreFull when the disk is full.
"""

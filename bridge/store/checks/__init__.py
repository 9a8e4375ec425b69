"""Examines a whole store, which may be in use: what is damaged, which value, and what to do."""

from bridge.store.checks.whole import check_store

__all__ = ["check_store"]

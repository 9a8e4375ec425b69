"""Backups in a folder, of which each writes only the blocks that changed since the last one."""

from bridge.store.increments.manifest import Manifest, manifests_in
from bridge.store.increments.restoring import restore_from, verify
from bridge.store.increments.writing import back_up

__all__ = ["Manifest", "back_up", "manifests_in", "restore_from", "verify"]

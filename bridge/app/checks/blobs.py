"""The store of files -> findings: tries the bucket by writing, reading and removing a probe."""

from __future__ import annotations

from bridge.app.files.blob_store import files_left_in, place_of
from bridge.app.printing import many
from bridge.app.settings.store import StoreSettings
from bridge.errors import BridgeError
from bridge.ports.findings import Finding

_LIFECYCLE = (
    "add a lifecycle rule to the bucket that removes former versions after some days, or switch "
    "versions off"
)


async def files_of_store(store: StoreSettings, *, offline: bool) -> list[Finding]:
    """Return what is found about the bucket; nothing without one."""
    if store.blobs is None:
        return []
    try:
        place = await place_of(store.blobs)
        if offline:
            return [Finding("ok", f"files are in {place}, which was not tried")]

        from bridge.store.s3.probe import probe

        versions = await probe(place)
    except BridgeError as error:
        problem, _, todo = str(error).partition("; ")
        return [Finding("error", problem, todo)]
    findings = [Finding("ok", f"files are in {place}: a probe was written, read and removed")]
    if place.endpoint and place.endpoint.startswith("http:"):
        warning = f"files go to {place.endpoint} without TLS"
        findings.append(Finding("warning", warning, "use https, unless the network is your own"))
    if versions:
        warning = f"the bucket {place.bucket!r} keeps former versions: an erased file stays in it"
        findings.append(Finding("warning", warning, _LIFECYCLE))
    if left := files_left_in(store.path):
        warning = f"{many(left, 'file')} are still in the folder beside the store"
        todo = "copy them: uacs-bridge db blobs copy --to bucket; then remove the folder"
        findings.append(Finding("warning", warning, todo))
    return findings

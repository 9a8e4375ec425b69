"""How fast `uacs-bridge db copy` is: `python -m tests.benchmarks.db_copy MESSAGES`.

It copies an archive into a new database of the server that UACS_POSTGRES names, once more without a
change, and once into another one in a process that is killed in the middle and started again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bridge.store.lock import StoreLock
from bridge.store.postgresql.address import Address
from bridge.store.postgresql.copying import CopyReport, copy_store
from tests.app.running import cli
from tests.benchmarks.slack_export import write_export
from tests.store.postgresql_server import empty_database

_COMMAND = (sys.executable, "-m", "bridge", "db", "copy")


def main(messages: int) -> None:
    with tempfile.TemporaryDirectory(prefix="uacs-benchmark-") as folder:
        store, export = Path(folder) / "bridge.sqlite3", Path(folder) / "export.zip"
        write_export(export, messages)
        result = cli("archive", "import", str(export), "--store", str(store))
        assert result.exit_code == 0, result.output
        print(f"{messages:,} messages, {store.stat().st_size:,} bytes")

        address = empty_database("copy")
        spare = empty_database("killed")
        began = time.monotonic()
        killed = _killed(store, spare, began + 3)
        print(f"killed after {time.monotonic() - began:.1f} s: {killed}")
        with closing(StoreLock(store)) as lock:  # as a bridge would: the copies are not finished
            lock.opened = True
            for what, target in (("whole", address), ("unchanged", address), ("resumed", spare)):
                began = time.monotonic()
                report = copy_store(store, target)
                _tell(what, report, messages, time.monotonic() - began)


def _killed(store: Path, target: Address, until: float) -> bool:
    command = [*_COMMAND, target.url, "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
        return process.wait() < 0


def _tell(what: str, report: CopyReport, messages: int, seconds: float) -> None:
    print(
        f"{what}: {report.copied} of {report.pieces} pieces, {sum(report.rows.values()):,} rows "
        f"equal, {seconds:.1f} s, {messages / seconds:,.0f} messages/s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))

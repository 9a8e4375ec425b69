"""The programs that read the files for containers; their tests skip without them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def helm() -> str:
    """Return the path of Helm, which `UACS_HELM` names; skips without it."""
    if (program := os.environ.get("UACS_HELM") or shutil.which("helm")) is None:
        pytest.skip("Helm is not here, and UACS_HELM names none; .ci/run fetches it")
    return program


def deploy_python() -> str:
    """Return the Python of the environment `.ci/deploy.lock`; skips without it."""
    if not (python := os.environ.get("UACS_DEPLOY_PYTHON", "")):
        pytest.skip("UACS_DEPLOY_PYTHON names no Python of .ci/deploy.lock; .ci/run makes one")
    return python


def docker_compose() -> str:
    """Return the path of docker-compose; skips without it."""
    return str(Path(deploy_python()).parent / "docker-compose")


def haproxy() -> str:
    """Return the path of HAProxy; skips without it."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    if (program := shutil.which("haproxy", path=path)) is None:
        pytest.skip("haproxy is not here (Debian has it in the package haproxy)")
    return program


def result_of(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60)

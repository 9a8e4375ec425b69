"""The files for containers and services are complete, and name no package index."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = ["Dockerfile", ".dockerignore", "config/compose.yaml", "config/compose.cluster.yaml",
         "config/haproxy.cfg", "config/helm/uacs-bridge/values.yaml", "config/uacs-bridge.service",
         "config/bridge.example.yaml"]  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in order, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [
        (word, rest.strip()) for word, _, rest in (line.strip().partition(" ") for line in lines)
    ]


def arguments_of(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def test_the_image_is_built_in_two_stages_from_the_hashed_lock() -> None:
    assert arguments_of("FROM") == ["python:3.13-slim AS build", "python:3.13-slim"]
    assert [run for run in arguments_of("RUN") if "pip" in run] == [
        "pip install --require-hashes -r requirements.lock",
        "pip install --no-deps .",
    ]


def test_the_image_runs_as_an_unprivileged_user_with_a_health_check() -> None:
    assert arguments_of("USER") == ["10001"]
    last = [name for name, _ in instructions()]
    assert last.index("USER") < last.index("ENTRYPOINT")
    (check,) = arguments_of("HEALTHCHECK")
    assert "urllib" in check
    assert "/readyz" in check
    assert "curl" not in check
    assert arguments_of("VOLUME") == ["/var/lib/uacs-bridge"]
    assert "UACS_BRIDGE_CONFIG=/etc/uacs-bridge/bridge.yaml" in " ".join(arguments_of("ENV"))


def test_the_image_takes_nothing_from_unnamed_places() -> None:
    assert arguments_of("ADD") == []
    assert not re.search(r"https?://(?!127\.0\.0\.1)", (ROOT / "Dockerfile").read_text())


def test_the_builder_sees_what_the_dockerfile_copies() -> None:
    copied = {source.removeprefix("./") for rest in arguments_of("COPY") if "--from" not in rest
              for source in rest.split()[:-1]}  # fmt: skip
    seen = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines()
            if line.startswith("!")}  # fmt: skip

    assert copied == seen


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_a_package_index(name: str) -> None:
    text = (ROOT / name).read_text().lower()

    assert not re.search(r"index-url|--index|pypi|trusted-host|simple/", text)


def test_compose_mounts_what_the_image_expects_and_drops_privileges() -> None:
    service = yaml.safe_load((ROOT / "config" / "compose.yaml").read_text())["services"]["bridge"]

    assert [volume.split(":")[1] for volume in service["volumes"]] == [
        "/etc/uacs-bridge/bridge.yaml", "/var/lib/uacs-bridge"
    ]  # fmt: skip
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["ports"] == ["127.0.0.1:8080:8080"]


@pytest.mark.parametrize(
    "line",
    ["NoNewPrivileges=yes", "ProtectSystem=strict", "StateDirectory=uacs-bridge",
     "Restart=on-failure", "RestartPreventExitStatus=2", "DynamicUser=yes"],
)  # fmt: skip
def test_the_unit_is_hardened(line: str) -> None:
    assert line in (ROOT / "config" / "uacs-bridge.service").read_text().splitlines()


@pytest.mark.process
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if (systemd := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not here")
    text = (ROOT / "config" / "uacs-bridge.service").read_text()
    unit = tmp_path / "uacs-bridge.service"
    unit.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", text))

    done = subprocess.run([systemd, "verify", str(unit)], capture_output=True, text=True)

    assert (done.returncode, [line for line in done.stderr.splitlines() if "uacs" in line]) == (
        0,
        [],
    )

"""The files for several processes with Docker Compose: its own program and HAProxy accept them, and
requests reach only processes that are ready."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.app.deploy_tools import docker_compose, haproxy, result_of
from tests.free_ports import free_port

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
COMPOSE = CONFIG / "compose.cluster.yaml"
SECRETS = {
    "UACS_BRIDGE_KEY": "key-of-the-store",
    "POSTGRES_PASSWORD": "password-of-the-database",
    "FILES_KEY_ID": "id-of-the-bucket",
    "FILES_KEY": "key-of-the-bucket",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what Compose reads; returns its secrets.env."""
    folder = tmp_path / "config"
    folder.mkdir()
    for file in (ROOT / "Dockerfile", COMPOSE, CONFIG / "haproxy.cfg"):
        shutil.copy(file, tmp_path if file.name == "Dockerfile" else folder)
    (folder / "bridge.yaml").touch()
    secrets = folder / "secrets.env"
    secrets.write_text("".join(f"{name}={value}\n" for name, value in SECRETS.items()))
    return secrets


def resolved(secrets: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What Compose makes of the file."""
    file = secrets.with_name(COMPOSE.name)
    return result_of([docker_compose(), "--env-file", secrets, "-f", file, *options, "config"])


@pytest.mark.process
def test_compose_starts_three_processes_and_the_bucket_only_on_demand(checkout: Path) -> None:
    without, everything = resolved(checkout), resolved(checkout, "--profile", "s3")

    assert (without.returncode, without.stderr) == (0, "")
    services = yaml.safe_load(everything.stdout)["services"]
    assert yaml.safe_load(without.stdout)["services"].keys() == services.keys() - {"s3"}
    assert services.keys() == {"bridge", "nats", "postgres", "proxy", "s3"}
    assert services["bridge"]["deploy"]["replicas"] == 3


@pytest.mark.process
def test_each_service_gets_only_its_own_secrets(checkout: Path) -> None:
    services = yaml.safe_load(resolved(checkout, "--profile", "s3").stdout)["services"]

    values = {name: service.get("environment", {}).values() for name, service in services.items()}
    assert {
        name: {secret for secret, value in SECRETS.items() if value in own}
        for name, own in values.items()
    } == {
        "bridge": SECRETS.keys(),
        "nats": set(),
        "postgres": {"POSTGRES_PASSWORD"},
        "proxy": set(),
        "s3": {"FILES_KEY_ID", "FILES_KEY"},
    }


@pytest.mark.process
@pytest.mark.parametrize("name", SECRETS)
def test_nothing_starts_without_a_secret(checkout: Path, name: str) -> None:
    checkout.write_text(re.sub(rf"(?m)^{name}=.*\n", "", checkout.read_text()))

    refused = resolved(checkout)

    assert refused.returncode != 0
    assert f"required variable {name} is missing a value: set it in secrets.env" in refused.stderr


def test_only_the_proxy_is_reached_from_outside_and_it_reaches_no_data() -> None:
    file = yaml.safe_load(COMPOSE.read_text())
    services = file["services"]

    assert {name: service.get("ports", []) for name, service in services.items()} == {
        "bridge": [],
        "nats": [],
        "postgres": [],
        "proxy": ["127.0.0.1:8080:8080"],
        "s3": [],
    }
    assert services["proxy"]["networks"] == ["web"]
    assert file["networks"]["data"] == {"internal": True}
    assert all(services[name]["networks"] == ["data"] for name in ("nats", "postgres", "s3"))


def test_services_have_as_few_privileges_as_the_single_process() -> None:
    alone = yaml.safe_load((CONFIG / "compose.yaml").read_text())["services"]["bridge"]
    services = yaml.safe_load(COMPOSE.read_text())["services"]

    names = ("read_only", "tmpfs", "cap_drop", "security_opt", "mem_limit", "pids_limit")
    assert {name: services["bridge"][name] for name in names} == {
        name: alone[name] for name in names
    }
    for name in ("proxy", "nats"):
        assert (services[name]["read_only"], services[name]["cap_drop"]) == (True, ["ALL"])
    for service in services.values():
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_no_image_changes_unnoticed() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]

    images = [service["image"] for name, service in services.items() if name != "bridge"]
    assert [image for image in images if not re.search(r":\d", image)] == []


# --- the proxy ----------------------------------------------------------------------------------


class Process(ThreadingHTTPServer):
    """Answers as a bridge process does, with its name; `ready` is what `/readyz` tells."""

    def __init__(self, name: str) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.name = name
        self.ready = True


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        process: Any = self.server
        refused = self.path == "/readyz" and not process.ready
        content = process.name.encode()
        self.send_response(503 if refused else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the base class
        pass


@contextmanager
def running(process: Process) -> Generator[Process]:
    thread = threading.Thread(target=process.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield process
    finally:
        process.shutdown()
        thread.join()
        process.server_close()


@contextmanager
def proxy_of(processes: list[Process], folder: Path) -> Generator[str]:
    """The proxy with its own configuration, but for the addresses: of it, and of the processes,
    which DNS tells in the network of the containers."""
    web, state = free_port(), free_port()
    text = (CONFIG / "haproxy.cfg").read_text()
    replaced = {
        "bind :8080": f"bind 127.0.0.1:{web}",
        "bind 127.0.0.1:8404": f"bind 127.0.0.1:{state}",
        "inter 2s": "inter 100ms",
        " init-addr none resolvers network": "",
        "    server-template bridge- 10 bridge:8080": "\n".join(
            f"    server {process.name} 127.0.0.1:{process.server_port}" for process in processes
        ),
    }
    for old, new in replaced.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = folder / "haproxy.cfg"
    file.write_text(text)
    with (folder / "haproxy.log").open("wb") as log:
        running_proxy = subprocess.Popen([haproxy(), "-W", "-f", file], stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{state}/", 200)
        yield f"http://127.0.0.1:{web}"
    finally:
        running_proxy.terminate()
        running_proxy.wait(10)


def wait_for(url: str, status: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            if httpx.get(url).status_code == status:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    pytest.fail(f"{url} did not answer {status}")


def answered_by(url: str, requests: int = 20) -> set[str]:
    """Who answers some requests, each over a connection of its own."""
    return {httpx.get(f"{url}/acme-teams/messages").text for _ in range(requests)}


@pytest.mark.process
def test_haproxy_accepts_its_configuration() -> None:
    done = result_of([haproxy(), "-c", "-f", CONFIG / "haproxy.cfg"])

    assert done.returncode == 0, done.stdout + done.stderr
    assert "[WARNING]" not in done.stderr


@pytest.mark.process
def test_requests_reach_the_processes_that_are_ready(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second, third = (
            stack.enter_context(running(Process(name))) for name in ("first", "second", "third")
        )
        url = stack.enter_context(proxy_of([first, second, third], tmp_path))
        time.sleep(0.5)  # each is looked at
        all_ready = answered_by(url)
        second.ready = False
        time.sleep(1)  # two looks
        without_second = answered_by(url)
        second.ready = True
        time.sleep(1)
        again = answered_by(url)

    assert all_ready == again == {"first", "second", "third"}
    assert without_second == {"first", "third"}


@pytest.mark.process
def test_a_request_to_a_process_that_ended_goes_to_another(tmp_path: Path) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(running(Process("other")))
        ended = Process("ended")
        with running(ended):
            url = stack.enter_context(proxy_of([ended, other], tmp_path))
        answers = answered_by(url)

    assert answers == {"other"}


@pytest.mark.process
@pytest.mark.parametrize(
    "path",
    [
        "/metrics",
        "/admin",
        "/admin/retry",
        "/healthz",
        "/livez",
        "/readyz",
        "/%61dmin/",
        "//metrics",
    ],
)
def test_the_proxy_keeps_what_is_not_for_the_outside(tmp_path: Path, path: str) -> None:
    with running(Process("only")) as process, proxy_of([process], tmp_path) as url:
        private, public = (httpx.get(url + asked) for asked in (path, "/metrics-team/messages"))

    assert (private.status_code, public.text) == (404, "only")

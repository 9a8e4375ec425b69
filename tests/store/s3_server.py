"""A local S3 server in an environment of its own, which notes requests and fails on order:
`UACS_S3_PYTHON` is its interpreter."""

from __future__ import annotations

import json
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bridge.store.s3.place import S3Keys, S3Place
from tests.agents.peers import peer_server

KEYS = S3Keys("AKIATESTONLY00000000", "the-secret-of-the-test-server")

_AUTHORISED = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/x"}
# Faults are `{"method", "status", "code", "times"}`; a request with one gets it as its answer.
PROGRAM = """
import json, sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

server = DomainDispatcherApplication(create_backend_app)
noted, faults = [], []

def answer(start, status, content):
    start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(content)))])
    return [content]

def app(environ, start):
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if path == "/_requests":
        told = json.dumps(noted).encode()
        noted.clear()
        return answer(start, "200 OK", told)
    if path == "/_faults":
        faults[:] = json.loads(environ["wsgi.input"].read(length))
        return answer(start, "200 OK", b"")
    noted.append([method, path, environ.get("QUERY_STRING", ""), length])
    for fault in faults:
        conditional = fault.get("conditional", False)
        if conditional and "HTTP_IF_NONE_MATCH" not in environ:
            continue
        if fault["method"] == method and fault["times"] > 0:
            fault["times"] -= 1
            environ["wsgi.input"].read(length)
            text = "<Error><Code>%s</Code><Message>no</Message></Error>" % fault["code"]
            return answer(start, "%d No" % fault["status"], text.encode())
    return server(environ, start)

class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_request(self, *args, **kwargs): pass

port = int(sys.argv[1])
make_server("127.0.0.1", port, app, threaded=True, request_handler=Quiet).serve_forever()
"""


@dataclass(frozen=True)
class Request:
    """One request that the server noted."""

    method: str
    path: str
    query: str
    length: int


@dataclass(frozen=True)
class S3Server:
    """A running server."""

    url: str
    http: httpx.Client

    def new_place(self, prefix: str = "cell-1/files") -> S3Place:
        """A new bucket, at a server that fails no more."""
        self._order([])
        bucket = f"bucket-{uuid.uuid4().hex[:12]}"
        place = S3Place(bucket, prefix, self.url, "us-east-1", KEYS)
        self.http.put(f"{self.url}/{bucket}", headers=_AUTHORISED).raise_for_status()
        self.requests()
        return place

    def keep_versions(self, place: S3Place) -> None:
        """The bucket keeps former versions of objects from now on."""
        text = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        self.http.put(
            f"{self.url}/{place.bucket}?versioning", headers=_AUTHORISED, content=text
        ).raise_for_status()

    def fail(self, method: str, status: int, code: str, times: int = 1, **more: Any) -> None:
        """The next requests of this method get an error."""
        self._order([{"method": method, "status": status, "code": code, "times": times, **more}])

    def works(self) -> None:
        """It fails no more."""
        self._order([])

    def requests(self) -> Sequence[Request]:
        """The requests since the last call."""
        return [Request(*noted) for noted in self.http.get(f"{self.url}/_requests").json()]

    def _order(self, faults: Sequence[Any]) -> None:
        self.http.post(f"{self.url}/_faults", content=json.dumps(faults)).raise_for_status()


@contextmanager
def s3_server(folder: Path) -> Generator[S3Server]:
    """Run the server; skips without its environment."""
    with (
        peer_server("UACS_S3_PYTHON", "moto", PROGRAM, folder) as url,
        httpx.Client() as http,
    ):
        yield S3Server(url, http)

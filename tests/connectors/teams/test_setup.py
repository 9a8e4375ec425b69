"""The app package: Teams' requirements, and equal bytes for equal settings."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import orjson

from connectors.teams import connector_type
from connectors.teams.setup import app_package
from tests.connectors.teams.payloads import APP_ID, TENANT

SETTINGS = {
    "name": "Bridge", "account": "contoso", "client_id": APP_ID, "tenant_id": TENANT,
    "public_url": "https://bridge.example/",
}  # fmt: skip


def unpacked(package: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_the_setup_steps_have_the_endpoint_and_the_app_package() -> None:
    steps = connector_type.setup(SETTINGS)

    assert any(step.artifact == "https://bridge.example/contoso/messages" for step in steps)
    assert any(isinstance(step.artifact, str) and APP_ID in step.artifact for step in steps)
    (package,) = [step for step in steps if step.filename]
    assert isinstance(package.artifact, bytes)
    assert set(unpacked(package.artifact)) == {"manifest.json", "color.png", "outline.png"}


def test_setup_without_settings_reports_the_missing_app_id() -> None:
    assert any("run setup again with --app-id" in step.text for step in connector_type.setup({}))


def test_the_manifest_lets_the_bot_receive_every_message() -> None:
    manifest = orjson.loads(
        unpacked(app_package("Bridge", APP_ID, "https://x.example"))["manifest.json"]
    )

    assert manifest["manifestVersion"] == "1.16"
    assert manifest["bots"][0]["botId"] == APP_ID
    assert manifest["bots"][0]["scopes"] == ["team", "groupchat", "personal"]
    assert manifest["webApplicationInfo"]["id"] == APP_ID
    consents = manifest["authorization"]["permissions"]["resourceSpecific"]
    assert [consent["name"] for consent in consents] == [
        "ChannelMessage.Read.Group",
        "ChatMessage.Read.Chat",
    ]
    assert len(manifest["name"]["short"]) <= 30
    assert len(manifest["description"]["short"]) <= 80
    assert manifest["id"] != APP_ID


def test_a_long_app_name_is_shortened_to_teams_limit() -> None:
    manifest = orjson.loads(
        unpacked(app_package("B" * 200, APP_ID, "https://x.example"))["manifest.json"]
    )

    assert (len(manifest["name"]["short"]), len(manifest["name"]["full"])) == (30, 100)


def test_the_icons_have_the_required_size() -> None:
    files = unpacked(app_package("Bridge", APP_ID, "https://x.example"))

    for name, size in (("color.png", 192), ("outline.png", 32)):
        png = files[name]
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">II", png[16:24]) == (size, size)
        start = png.index(b"IDAT") + 4
        (length,) = struct.unpack(">I", png[start - 8 : start - 4])
        assert len(zlib.decompress(png[start : start + length])) == size * (1 + 4 * size)
    # Teams wants the outline white on transparent.
    start = files["outline.png"].index(b"IDAT") + 4
    pixels = zlib.decompress(files["outline.png"][start:-16])
    assert set(pixels) <= {0, 255}


def test_the_package_is_the_same_every_time() -> None:
    assert app_package("Bridge", APP_ID, "https://x") == app_package("Bridge", APP_ID, "https://x")

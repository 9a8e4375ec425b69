"""The documentation as a site: it builds, its links work, its configurations are valid."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bridge.app.settings.file import settings_of

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
_CONFIGURATION = re.compile(r"<!-- configuration -->\n```yaml\n(.*?)```", re.DOTALL)
_LINKED = re.compile(r"\]\((?!https?:|mailto:|uacs:|#)([^)\s#]+\.md)")
_IN_NAVIGATION = re.compile(r'= "([^"]+\.md)"')


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "zensical"), "build", "-f", ".zensical.toml", "-s"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / ".zensical.toml", tmp_path)
    return tmp_path


@pytest.mark.process
def test_the_site_builds_and_can_be_searched(copied: Path) -> None:
    built = build(copied)

    assert built.returncode == 0, built.stdout + built.stderr
    assert (copied / ".site" / "tutorials" / "agent" / "index.html").exists()
    assert (copied / ".site" / "search.json").exists()


@pytest.mark.process
@pytest.mark.parametrize("target", ["nowhere.md", "rooms.md#nothing-of-this-name"])
def test_a_broken_link_fails_the_build(copied: Path, target: str) -> None:
    with (copied / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[broken]({target})\n")

    assert build(copied).returncode != 0


def test_every_page_stands_in_the_navigation() -> None:
    listed = set(_IN_NAVIGATION.findall((ROOT / ".zensical.toml").read_text("utf-8")))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    records = {page for page in pages if re.match(r"decisions/\d", page)}

    assert listed == pages - records
    index = (DOCS / "decisions" / "index.md").read_text("utf-8")
    assert {f"decisions/{name}" for name in _LINKED.findall(index)} == records


@pytest.mark.parametrize(
    "page",
    [page for page in sorted(DOCS.rglob("*.md")) if _CONFIGURATION.search(page.read_text("utf-8"))],
    ids=lambda page: str(page.relative_to(DOCS)),
)
def test_the_configurations_of_the_pages_are_valid(page: Path) -> None:
    for text in _CONFIGURATION.findall(page.read_text("utf-8")):
        settings = settings_of(yaml.safe_load(text))
        assert settings.rooms

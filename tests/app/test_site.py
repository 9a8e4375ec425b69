"""The documentation as a site: it builds, its links work, its configurations are valid."""

from __future__ import annotations

import ast
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
_NAVIGATION = re.compile(r"^nav = \[\n.*?^\]\n", re.DOTALL | re.MULTILINE)
_MODULE = re.compile(
    r"^::: (\S+)$(?:\n {4}options:\n(?: {6}.*\n)*? {6}(show_submodules: true))?", re.M
)
_HEADING = re.compile(r'<h[1-6] id="(bridge\.[^"]+)"')
PYTHON_API = {"bridge.uacs", "bridge.ports", "bridge.content", "bridge.testing"}


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "zensical"), "build", "-f", ".zensical.toml", "-s"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / ".zensical.toml", tmp_path)
    only_python = shutil.ignore_patterns("__pycache__", "*.html", "*.js", "*.css", "*.sql", "*.png")
    shutil.copytree(ROOT / "bridge", tmp_path / "bridge", ignore=only_python)
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A site of two pages with the settings of the whole one: it takes a second, not twelve."""
    config = (ROOT / ".zensical.toml").read_text("utf-8")
    (tmp_path / ".zensical.toml").write_text(_NAVIGATION.sub("", config), "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Index\n", "utf-8")
    (tmp_path / "docs" / "rooms.md").write_text("# Rooms\n\n## Of this name\n", "utf-8")
    (tmp_path / "bridge").mkdir()
    for name in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "bridge" / name, tmp_path / "bridge")
    return tmp_path


def documented_modules() -> dict[str, list[Path]]:
    """The source files that each page of the Python API documents."""
    modules: dict[str, list[Path]] = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for name, with_submodules in _MODULE.findall(page.read_text("utf-8")):
            path = ROOT / name.replace(".", "/")
            files = sorted(path.rglob("*.py")) if with_submodules else []
            files = files or [path / "__init__.py" if path.is_dir() else path.with_suffix(".py")]
            modules.setdefault(page.stem, []).extend(files)
    return modules


def public_names(path: Path) -> set[str]:
    """The full names of a module's exported names, or of its public functions and classes."""
    relative = path.relative_to(ROOT).with_suffix("")
    module = ".".join(relative.parts[:-1] if relative.name == "__init__" else relative.parts)
    body = ast.parse(path.read_text("utf-8")).body
    names: set[str] = set()
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return {f"{module}.{name}" for name in ast.literal_eval(value)}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
            case _:
                pass
    return {f"{module}.{name}" for name in names if not name.startswith(("_", "test_"))}


@pytest.mark.process
def test_the_site_builds_and_can_be_searched(copied: Path) -> None:
    built = build(copied)

    assert built.returncode == 0, built.stdout + built.stderr
    assert (copied / ".site" / "tutorials" / "agent" / "index.html").exists()
    assert (copied / ".site" / "search.json").exists()
    assert _undocumented(copied / ".site" / "reference") == set()


def _undocumented(reference: Path) -> set[str]:
    """The public names that have no heading on the pages of the Python API."""
    missing: set[str] = set()
    for page, files in documented_modules().items():
        headings = set(_HEADING.findall((reference / page / "index.html").read_text("utf-8")))
        missing |= {name for path in files for name in public_names(path)} - headings
    return missing


def test_the_python_api_has_a_page_for_each_public_package() -> None:
    packages = {
        ".".join(path.relative_to(ROOT).parts[:2]).removesuffix(".py")
        for files in documented_modules().values()
        for path in files
    }

    assert packages == PYTHON_API


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[whole](rooms.md#of-this-name)", None),
        ("[broken](nowhere.md)", "page does not exist"),
        ("[broken](rooms.md#nothing-of-this-name)", "anchor does not exist"),
        ("::: bridge.errors", None),
        ("::: bridge.nowhere", "bridge.nowhere"),
    ],
)
def test_a_fault_of_a_page_fails_the_build(small: Path, line: str, fault: str | None) -> None:
    with (small / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{line}\n")

    built = build(small)

    assert (built.returncode != 0) == (fault is not None)
    assert fault is None or fault in built.stdout + built.stderr


def test_the_navigation_has_every_page() -> None:
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

"""Rules of the repository: what the core may name, what stands at the top, what may be kept."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = (
    "router", "content", "ports", "model", "uacs", "sandbox", "app/cli", "app/demo", "app/logs",
)  # fmt: skip
PLATFORMS = sorted(path.parent.name for path in (ROOT / "connectors").glob("*/connector.py"))
PLATFORM = re.compile(
    rf"slack|discord|microsoft|\b(?:{'|'.join(map(re.escape, PLATFORMS))})\b", re.IGNORECASE
)
# The help of commands has examples, which can be run as they stand, of calls and of ids. It begins
# with what the program is for.
EXAMPLE = re.compile(r"^ +(?:uacs-bridge |--)|\((?:slack:T01:U01|discord:Ann)\)")
PURPOSE = "Join Slack, Discord, Microsoft Teams, IRC and AI agents in shared rooms."
TOP = {
    "pyproject.toml", "requirements.lock", "README.md", "Dockerfile", "CHANGELOG.md", "LICENSE",
    "bridge", "connectors", "tests", "config", "docs",
}  # fmt: skip
CONNECTOR_FILES = {
    "__init__.py", "connector.py", "settings.py", "capabilities.py", "ids.py", "receive.py",
    "decode.py", "encode.py", "words.py", "send.py", "text.py", "people.py", "channels.py",
    "check.py", "setup.py", "README.md",
}  # fmt: skip


def tracked() -> list[Path]:
    result = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        pytest.skip("not a git checkout")
    return [Path(name) for name in result.stdout.split("\0") if name]


def test_the_core_names_no_platform() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in CORE
        for path in sorted((ROOT / "bridge" / folder).rglob("*"))
        if path.suffix in (".py", ".js", ".css", ".html", ".sql")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if PLATFORM.search(line) and PURPOSE not in line and not _is_example(folder, line)
    ]

    assert named == []


def _code_of(module: ast.Module) -> list[str]:
    """The functions, and the classes with methods, that are more than a port declares."""
    names: list[str] = []
    for node in module.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.append(node.name)
            case ast.ClassDef() if "Protocol" not in {ast.unparse(base) for base in node.bases}:
                methods = (ast.FunctionDef, ast.AsyncFunctionDef)
                names += (
                    [node.name]
                    if any(isinstance(statement, methods) for statement in node.body)
                    else []
                )
            case _:
                pass
    return names


def test_the_ports_hold_protocols_and_values_but_no_code() -> None:
    code = {
        str(path.relative_to(ROOT)): names
        for path in sorted((ROOT / "bridge" / "ports").rglob("*.py"))
        if (names := _code_of(ast.parse(path.read_text("utf-8"))))
    }

    assert code == {}


def _is_example(folder: str, line: str) -> bool:
    return folder == "app/cli" and EXAMPLE.search(line) is not None


def test_nothing_unexpected_stands_at_the_top() -> None:
    names = {path.parts[0] for path in tracked()}

    assert {name for name in names if not name.startswith(".")} == TOP


@pytest.mark.parametrize("platform", PLATFORMS)
def test_who_knows_one_connector_knows_all(platform: str) -> None:
    names = {path.name for path in (ROOT / "connectors" / platform).iterdir()}

    assert names >= CONNECTOR_FILES


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {(ROOT / path).parent for path in tracked() if path.parts[0] == "tests"}
    with_python = {folder for folder in folders if list(folder.glob("*.py"))}

    assert [f for f in sorted(with_python) if not (f / "__init__.py").exists()] == []


def test_the_locks_name_no_index_and_every_package_has_a_hash() -> None:
    locks = [ROOT / "requirements.lock", *(ROOT / ".ci").glob("*.lock")]
    for lock in locks:
        text = lock.read_text("utf-8")
        packages = re.findall(r"^[A-Za-z0-9_.\-\[\]]+==", text, re.MULTILINE)

        assert packages
        assert "://" not in text
        assert "--index" not in text
        assert len(re.findall(r"==[^\\]+\\\n\s+--hash=", text)) == len(packages)


def test_the_lock_and_with_it_the_image_have_every_extra_but_the_large_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    locked = re.findall(
        r"^([A-Za-z0-9_.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE
    )
    extras = {
        re.split(r"[\[<>=]", requirement)[0]
        for extra, requirements in project["optional-dependencies"].items()
        if extra != "parquet"  # 150 MB, for commands alone
        for requirement in requirements
    }

    assert extras
    assert extras - set(locked) == set()
    assert "-r requirements.lock" in (ROOT / "Dockerfile").read_text("utf-8")


def test_what_is_said_of_extras_is_true_for_a_clone() -> None:
    """The bridge is installed from its source: no index has it under its name."""
    failures = [
        f"{path}: {line.strip()}"
        for path in tracked()
        if path.suffix in (".py", ".md", ".yaml")
        for line in (ROOT / path).read_text("utf-8").splitlines()
        if re.search(r"uacs-bridge\[[a-z]|pip install uacs-bridge", line)
    ]

    assert [
        message for message in failures if not message.startswith("tests/test_repository.py")
    ] == []


@pytest.mark.parametrize("marker", ["demo", "tests"])
def test_the_readme_has_the_two_commands(marker: str) -> None:
    text = (ROOT / "README.md").read_text("utf-8")

    match = re.search(rf"<!-- {marker} -->\n```sh\n(.+)\n```", text)

    assert match
    assert match.group(1).startswith("python3 -m venv .venv && ")


def test_the_readme_puts_the_program_on_the_path_before_it_is_called() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]

    first = next(at for at, line in enumerate(lines) if line.startswith("uacs-bridge "))

    assert ". .venv/bin/activate" in lines[:first]


@pytest.mark.parametrize("use", ["agent", "mirror", "archive"])
def test_the_readme_shows_how_each_way_begins(use: str) -> None:
    text = (ROOT / "README.md").read_text("utf-8")

    match = re.search(
        rf"```sh\ncp config/{use}\.example\.yaml config/bridge\.yaml .*\n(.*)\n(.*)\n```", text
    )

    assert match
    assert (ROOT / "config" / f"{use}.example.yaml").exists()
    arguments = "-c config/bridge.yaml --env-file secrets.env"
    assert match.groups() == (f"uacs-bridge check {arguments}", f"uacs-bridge run {arguments}")


# Each sentence of the README's "What you can rely on" has one of these, and so has its page.
CLAIMS = {
    "The bridge writes a message to disk before it acknowledges it to the platform": "durability",
    "loses no message that the platform delivered": "durability",
    "whether the first attempt arrived": "durability",
    "for some seconds on Slack": "durability",
    "is never resent automatically": "durability",
    "channel keeps its order": "durability",
    "an event that would wait longer than 6 s until its channel is read": "durability",
    "a post may succeed on its last attempt, after the post behind it": "durability",
    "messages of the last day, at most 2,000 per channel": "durability",
    "announces in the room what it could not read back, once per gap": "durability",
    "If a channel refuses a message, the bridge replies in the channel where it was written, with "
    "the reason and a *Try again* button": "operations",
    "`uacs-bridge dead-letters list` shows the operations that are held up": "durability",
    "destination channel has one ordered queue": "architecture",
    "a person who has a linked account": "people",
    "only with `everyone: true`": "people",
    "The configuration file never contains secrets": "configuration",
    "show `[hidden]` in place of anything that looks like a token": "security",
}


def test_what_the_readme_promises_is_what_the_docs_say() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.partition("## What you can rely on\n")[2].partition("\n## ")[0]
    sentences = re.split(r"(?<=[.:]) (?=[A-Z`])|\n- ", section.strip().removeprefix("- "))

    unfounded = [
        sentence for sentence in sentences if not any(claim in sentence for claim in CLAIMS)
    ]
    unsaid = [claim for claim in CLAIMS if claim not in section]
    undocumented = [
        claim
        for claim, page in CLAIMS.items()
        if claim not in " ".join((ROOT / "docs" / f"{page}.md").read_text("utf-8").split())
    ]

    assert (unfounded, unsaid, undocumented) == ([], [], [])


def test_the_links_of_the_docs_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        for target in re.findall(r"\]\((?!https?:|mailto:|uacs:|#)([^)\s#]+)", _prose(page))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def _prose(page: Path) -> str:
    """The page without its code, where brackets mean other things."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


INDEX_HOSTS = re.compile(
    r"p[y]pi\.org|pythonhosted\.o[r]g|npm[j]s\.(?:org|com)|y[a]rnpkg\.com|[u]npkg\.com|"
    r"jsd[e]livr\.net|cr[a]tes\.io|r[u]bygems\.org|proxy\.g[o]lang\.org|an[a]conda\.(?:org|com)|"
    r"m[a]ven\.org|n[u]get\.org|deb[i]an\.org|d[o]cker\.(?:io|com)|gh[c]r\.io|q[u]ay\.io",
    re.IGNORECASE,
)


def test_no_file_names_the_host_of_a_package_index() -> None:
    """Packages are named by their names; where they come from is the reader's own setting."""
    named: list[str] = []
    for path in tracked():
        if (ROOT / path).suffix in (".png", ".svg"):
            continue
        text = (ROOT / path).read_text("utf-8", errors="replace")
        named += [f"{path}: {match[0]}" for match in INDEX_HOSTS.finditer(text)]

    assert named == []


def test_only_the_profiles_say_whether_examples_are_random() -> None:
    """A test that says it by itself takes the same examples under `--search`, too."""
    saying = {
        str(path)
        for path in tracked()
        if path.suffix == ".py" and "derandomize" in (ROOT / path).read_text("utf-8")
    }

    assert saying == {"tests/conftest.py", "tests/test_repository.py"}

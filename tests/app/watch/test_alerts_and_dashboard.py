"""The alerts and the dashboard ask for metrics and labels that exist, and each alert is tested."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app.watch.metrics_page import described

CONFIG = Path(__file__).parents[3] / "config"
ALERTS = CONFIG / "prometheus" / "alerts.yaml"
ALERT_TESTS = CONFIG / "prometheus" / "alerts_test.yaml"
DASHBOARD: dict[str, Any] = json.loads((CONFIG / "grafana" / "bridge.json").read_text("utf-8"))

# What Prometheus and the client library have by themselves.
OF_OTHERS = {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"}
ALWAYS = {"instance", "job"}  # the labels that Prometheus adds
LABELS: dict[str, set[str]] = {
    **{name: set(ALWAYS) for name in OF_OTHERS},
    **{
        series: {*metric.labels, *ALWAYS, *(["le"] if series.endswith("_bucket") else [])}
        for metric in described()
        for series in metric.series
    },
}
_WORDS = {"and", "or", "unless", "bool", "offset", "by", "without"}
_SELECTOR = re.compile(r"\b([a-zA-Z_:][\w:]*)\b(?!\s*\()(\{[^}]*\})?")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The series that an expression names, each with the labels in its braces."""
    text = re.sub(r'"[^"]*"', '""', expression)
    text = re.sub(r"\b(?:by|without|on|ignoring)\s*\([^)]*\)", "", text)
    text = re.sub(r"\[[^]]*\]", "", text)
    for name, braces in _SELECTOR.findall(text):
        if name not in _WORDS:
            yield name, set(_MATCHER.findall(braces))


def grouped(expression: str) -> set[str]:
    """The labels by which an expression groups."""
    return {
        label.strip()
        for labels in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression)
        for label in labels.split(",")
    }


def wrong_in(expression: str) -> list[str]:
    """What an expression names that is not there."""
    wrong: list[str] = []
    known: set[str] = set()
    for name, labels in selectors(expression):
        wrong += [name] if name not in LABELS else []
        wrong += [f"{name}{{{label}}}" for label in labels - LABELS.get(name, labels)]
        known |= LABELS.get(name, set())
    return wrong + [f"by ({label})" for label in grouped(expression) - known]


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def test_the_parser_of_expressions_finds_what_is_wrong() -> None:
    good = 'sum by (le) (rate(bridge_agent_turn_seconds_bucket{agent=~"a b"}[5m])) > 2 and up == 1'

    assert wrong_in(good) == []
    assert wrong_in("bridge_nothing > 1") == ["bridge_nothing"]
    assert wrong_in('sum(bridge_account_up{state="x"})') == ["bridge_account_up{state}"]
    assert wrong_in("sum by (room) (bridge_messages)") == ["by (room)"]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_exist_and_says_what_to_do(rule: Mapping[str, Any]) -> None:
    assert list(selectors(rule["expr"]))
    assert wrong_in(rule["expr"]) == []
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"].keys() == {"summary", "todo"}


def test_each_alert_is_tested_to_fire_and_to_be_silent() -> None:
    checks = [
        (check["alertname"], bool(check["exp_alerts"]))
        for case in yaml.safe_load(ALERT_TESTS.read_text("utf-8"))["tests"]
        for check in case["alert_rule_test"]
    ]

    names = {rule["alert"] for rule in rules()}
    assert {name for name, fires in checks if fires} == names
    assert {name for name, fires in checks if not fires} == names


def test_the_tests_of_the_alerts_use_series_that_exist() -> None:
    series = [
        one["series"]
        for case in yaml.safe_load(ALERT_TESTS.read_text("utf-8"))["tests"]
        for one in case["input_series"]
    ]

    assert [wrong for one in series for wrong in wrong_in(one)] == []


@pytest.mark.process
@pytest.mark.parametrize("command", [("check", "rules", ALERTS), ("test", "rules", ALERT_TESTS)])
def test_promtool_accepts_the_alerts_and_their_tests_pass(command: tuple[str | Path, ...]) -> None:
    if (promtool := shutil.which("promtool")) is None:
        pytest.skip("promtool is not here (Debian has it in the package prometheus)")

    done = subprocess.run([promtool, *command], capture_output=True, text=True, cwd=ALERTS.parent)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dashboard_can_be_imported_and_asks_one_data_source_of_the_readers_choice() -> None:
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    chosen = {"type": "prometheus", "uid": "${datasource}"}

    assert DASHBOARD["schemaVersion"] >= 36
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    for panel in panels():
        assert panel["targets"], panel["title"]
        assert panel["datasource"] == chosen
        assert all(target["datasource"] == chosen for target in panel["targets"])
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_no_two_panels_cover_one_another() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_a_panel_asks_for_metrics_that_exist(panel: Mapping[str, Any]) -> None:
    for target in panel["targets"]:
        assert list(selectors(target["expr"]))
        assert wrong_in(target["expr"]) == []
        legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert legend <= grouped(target["expr"]) | {"account", "instance"}


def test_the_variables_of_the_dashboard_ask_for_labels_that_exist() -> None:
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
            assert found
            assert found[2] in LABELS[found[1]]

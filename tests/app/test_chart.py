"""The Helm chart: its values are described, and what Helm makes of them is valid and coherent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bridge.app.settings.store import StoreSettings
from tests.app.deploy_tools import deploy_python, helm, result_of

ROOT = Path(__file__).parents[2]
CHART = ROOT / "config" / "helm" / "uacs-bridge"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
OLDEST, NEWEST = "1.25", "1.37"  # of Kubernetes: Chart.yaml names the oldest
NEEDED = {
    "image": {"repository": "images.example.org/uacs-bridge"},
    "storeKey": {"existingSecret": "uacs-bridge-key"},
}
EVERYTHING = {
    **NEEDED,
    "imagePullSecrets": ["pull"],
    "databasePassword": {"existingSecret": "bridge-db-app"},
    "existingSecrets": ["platforms", "bucket"],
    "env": [{"name": "AWS_REGION", "value": "eu-central-1"}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
    "service": {"annotations": {"example.org/a": "b"}},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "bridge.example.org",
        "tlsSecret": "bridge-tls",
        "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "5m"},
    },
    "autoscaling": {"enabled": True, "backlog": {"enabled": True}},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}]},
    "serviceAccountName": "bridge",
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "high",
    "podAnnotations": {"example.org/c": "d"},
    "podLabels": {"example.org/team": "chat"},
}
ACCOUNTS = """
accounts:
  acme-teams: {platform: teams}
  acme-slack: {platform: slack}
"""
SELECTOR = {"app.kubernetes.io/name": "uacs-bridge", "app.kubernetes.io/instance": "acme"}


def documented_config() -> str:
    """The configuration of docs/operations.md."""
    text = (ROOT / "docs" / "operations.md").read_text()
    return text.partition("<!-- cluster -->\n```yaml\n")[2].partition("```")[0]


def rendered(
    folder: Path, values: dict[str, Any], config: str | None = None
) -> dict[str, dict[str, Any]]:
    """Helm's manifests by their kind. Raises AssertionError with Helm's text if it refuses."""
    made = result_of(template_command(folder, values, config))
    assert made.returncode == 0, made.stderr
    manifests = [manifest for manifest in yaml.safe_load_all(made.stdout) if manifest]
    return {manifest["kind"]: manifest for manifest in manifests}


def template_command(
    folder: Path, values: dict[str, Any], config: str | None = None
) -> list[str | Path]:
    given, file = folder / "values.yaml", folder / "bridge.yaml"
    given.write_text(yaml.safe_dump(values))
    file.write_text(documented_config() if config is None else config)
    return [helm(), "template", "acme", CHART, "-f", given, "--set-file", f"config={file}"]


def validation(folder: Path, manifests: list[dict[str, Any]], version: str) -> tuple[int, str]:
    """The exit code and the warnings of a strict validation for this version of Kubernetes."""
    file = folder / f"manifests-{version}.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    command = [deploy_python(), "-m", "kubernetes_validate", "-k", version, "--strict", "--quiet"]
    done = result_of([*command, file])
    return done.returncode, done.stdout + done.stderr


# --- without Helm -------------------------------------------------------------------------------


def test_each_value_is_described() -> None:
    blocks = (CHART / "values.yaml").read_text().split("\n\n")
    commented = {
        match[1]
        for block in blocks
        if block.count("# ")
        for match in re.finditer(r"^(\w+):", block, re.MULTILINE)
    }

    assert commented == VALUES.keys()


def test_the_schema_knows_exactly_the_values() -> None:
    def names(value: object, schema: dict[str, Any]) -> object:
        if not isinstance(value, dict) or "properties" not in schema:
            return None
        return {name: names(value[name], schema["properties"].get(name, {})) for name in value}

    def known(schema: dict[str, Any]) -> object:
        if "properties" not in schema:
            return None
        assert schema["additionalProperties"] is False
        own = {"global", "claims"}  # of Helm, and of Kubernetes; they have no default
        return {name: known(part) for name, part in schema["properties"].items() if name not in own}

    assert names(VALUES, SCHEMA) == known(SCHEMA)


def test_the_chart_has_the_versions_of_the_program_and_the_user_of_the_image() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    (version,) = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    (user,) = re.findall(r"^USER (\d+)$", (ROOT / "Dockerfile").read_text(), re.M)

    assert chart["appVersion"] == version
    assert chart["kubeVersion"] == f">={OLDEST}.0-0"
    assert VALUES["podSecurityContext"]["runAsUser"] == int(user)


def test_the_documented_configuration_is_valid() -> None:
    store = StoreSettings.model_validate(yaml.safe_load(documented_config())["store"])

    assert (store.url, store.blobs is not None) == (
        "postgresql://bridge@postgres:5432/bridge",
        True,
    )


# --- with Helm ----------------------------------------------------------------------------------


@pytest.mark.process
def test_helm_finds_nothing_wrong(tmp_path: Path) -> None:
    command = template_command(tmp_path, EVERYTHING)

    done = result_of([helm(), "lint", "--strict", CHART, *command[4:]])

    assert done.returncode == 0, done.stdout


@pytest.mark.process
@pytest.mark.parametrize("version", [OLDEST, "1.31", NEWEST])
@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["needed", "everything"])
def test_kubernetes_knows_every_field(tmp_path: Path, values: dict[str, Any], version: str) -> None:
    manifests = rendered(tmp_path, values, documented_config() + ACCOUNTS)
    manifests.pop("ServiceMonitor", None)  # of the Prometheus operator: it has no schema there

    assert validation(tmp_path, [*manifests.values()], version) == (0, "")


@pytest.mark.process
def test_the_validation_notices_an_unknown_field(tmp_path: Path) -> None:
    deployment = rendered(tmp_path, NEEDED)["Deployment"]
    deployment["spec"]["template"]["spec"]["containers"][0]["redinessProbe"] = {}

    code, said = validation(tmp_path, [deployment], NEWEST)

    assert code != 0
    assert "redinessProbe" in said


@pytest.mark.process
def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    assert rendered(tmp_path, NEEDED).keys() == {
        "ConfigMap", "Deployment", "PodDisruptionBudget", "Service"
    }  # fmt: skip
    assert rendered(tmp_path, EVERYTHING, documented_config() + ACCOUNTS).keys() == {
        "ConfigMap", "Deployment", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy",
        "PodDisruptionBudget", "Service", "ServiceMonitor",
    }  # fmt: skip


@pytest.mark.process
def test_everything_selects_the_pods_of_the_release(tmp_path: Path) -> None:
    made = rendered(tmp_path, EVERYTHING)
    pod = made["Deployment"]["spec"]["template"]

    assert SELECTOR.items() <= pod["metadata"]["labels"].items()
    assert SELECTOR.items() <= made["Service"]["metadata"]["labels"].items()
    assert made["Service"]["spec"]["selector"] == SELECTOR
    assert made["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == SELECTOR
    for kind in ("Deployment", "PodDisruptionBudget", "ServiceMonitor"):
        assert made[kind]["spec"]["selector"]["matchLabels"] == SELECTOR
    for constraint in pod["spec"]["topologySpreadConstraints"]:
        assert constraint["labelSelector"]["matchLabels"] == SELECTOR
    scaled = made["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (scaled["kind"], scaled["name"]) == ("Deployment", "acme-uacs-bridge")
    assert made["Deployment"]["metadata"]["name"] == "acme-uacs-bridge"


@pytest.mark.process
def test_a_new_process_is_ready_before_an_old_one_ends(tmp_path: Path) -> None:
    spec = rendered(tmp_path, NEEDED)["Deployment"]["spec"]
    pod = spec["template"]["spec"]
    (bridge,) = pod["containers"]

    assert spec["replicas"] == 3
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }
    assert {name: bridge[name]["httpGet"] for name in bridge if name.endswith("Probe")} == {
        "startupProbe": {"path": "/livez", "port": "http"},
        "livenessProbe": {"path": "/livez", "port": "http"},
        "readinessProbe": {"path": "/readyz", "port": "http"},
    }
    assert bridge["lifecycle"] == {"preStop": {"exec": {"command": ["sleep", "5"]}}}
    assert pod["terminationGracePeriodSeconds"] == 30


@pytest.mark.process
def test_the_process_has_no_privileges_and_writes_to_two_folders(tmp_path: Path) -> None:
    pod = rendered(tmp_path, NEEDED)["Deployment"]["spec"]["template"]["spec"]
    (bridge,) = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}

    assert pod["automountServiceAccountToken"] is False
    # The Pod Security Standard `restricted` asks for these.
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert bridge["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert {
        mount["mountPath"]: "emptyDir" in volumes[mount["name"]] for mount in bridge["volumeMounts"]
    } == {"/etc/uacs-bridge": False, "/var/lib/uacs-bridge": True, "/tmp": True}


@pytest.mark.process
def test_the_configuration_arrives_as_it_is_and_its_change_replaces_the_pods(
    tmp_path: Path,
) -> None:
    first = documented_config() + "# {{ .Values }} 'a' \"b\" \\ é\n"

    before, after = (rendered(tmp_path, NEEDED, text) for text in (first, first + "# new\n"))

    assert before["ConfigMap"]["data"] == {"bridge.yaml": first}
    sums = [
        made["Deployment"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for made in (before, after)
    ]
    assert sums[0] != sums[1]


@pytest.mark.process
def test_secrets_are_named_and_never_made(tmp_path: Path) -> None:
    made = rendered(tmp_path, EVERYTHING)
    (bridge,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]

    assert "Secret" not in made
    assert bridge["env"] == [
        secret_variable("UACS_BRIDGE_KEY", "uacs-bridge-key", "UACS_BRIDGE_KEY"),
        secret_variable("POSTGRES_PASSWORD", "bridge-db-app", "password"),
        {"name": "AWS_REGION", "value": "eu-central-1"},
    ]
    assert bridge["envFrom"] == [
        {"secretRef": {"name": "platforms"}},
        {"secretRef": {"name": "bucket"}},
    ]


def secret_variable(name: str, secret: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


@pytest.mark.process
def test_the_ingress_forwards_the_accounts_and_nothing_private(tmp_path: Path) -> None:
    made = rendered(tmp_path, EVERYTHING, documented_config() + ACCOUNTS)
    (rule,) = made["Ingress"]["spec"]["rules"]

    assert {path["path"] for path in rule["http"]["paths"]} == {
        "/acme-slack", "/acme-teams", "/files", "/pictures", "/oauth", "/v1", "/mcp",
        "/openfloor", "/a2a", "/acp",
    }  # fmt: skip


@pytest.mark.process
def test_the_autoscaler_alone_counts_the_processes(tmp_path: Path) -> None:
    made = rendered(tmp_path, EVERYTHING)
    metrics = made["HorizontalPodAutoscaler"]["spec"]["metrics"]

    assert "replicas" not in made["Deployment"]["spec"]
    assert [metric["type"] for metric in metrics] == ["Resource", "External"]
    assert metrics[1]["external"] == {
        "metric": {"name": "uacs_bridge_waiting_events"},
        "target": {"type": "AverageValue", "averageValue": "200"},
    }


@pytest.mark.process
def test_the_port_is_that_of_the_configuration(tmp_path: Path) -> None:
    config = documented_config().replace("host: 0.0.0.0,", "host: 0.0.0.0, port: 9090,")

    (bridge,) = rendered(tmp_path, NEEDED, config)["Deployment"]["spec"]["template"]["spec"][
        "containers"
    ]

    assert bridge["ports"] == [{"name": "http", "containerPort": 9090}]


@pytest.mark.process
@pytest.mark.parametrize(
    ("part", "put", "said"),
    [
        ("cluster:", "# cluster:", "a section `cluster`"),
        ("  url: postgresql://", "  # url: ", "store.url"),
        ("  blobs:", "  files:", "store.blobs"),
        ("/var/lib/uacs-bridge/bridge", "data/bridge", "store.path"),
        ("host: 0.0.0.0", "host: 127.0.0.1", "web.host"),
        ("host: 0.0.0.0,", "host: 0.0.0.0, port: 80,", "web.port"),
        ("cluster: {", "cluster: {{", "not valid YAML"),
    ],
)
def test_a_configuration_for_one_process_is_refused(
    tmp_path: Path, part: str, put: str, said: str
) -> None:
    config = documented_config()
    assert config.count(part) == 1

    done = result_of(template_command(tmp_path, NEEDED, config.replace(part, put)))

    assert done.returncode != 0
    assert said in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"storeKey": {"existingSecret": "a"}}, "image.repository is needed"),
        ({"image": {"repository": "a"}}, "storeKey.existingSecret is needed"),
        (NEEDED | {"replicas": 5}, "replicas"),
        (NEEDED | {"ingress": {"enabled": True}}, "ingress.host is needed"),
        (NEEDED | {"ingress": {"paths": ["/metrics"]}}, "/ingress/paths/0"),
        (NEEDED | {"ingress": {"paths": ["/"]}}, "/ingress/paths/0"),
        (NEEDED | {"strategy": "OnDelete"}, "/strategy"),
        (
            NEEDED | {"autoscaling": {"enabled": True, "cpuPercent": None}},
            "autoscaling needs cpuPercent or backlog.enabled",
        ),
    ],
)
def test_wrong_values_are_refused(tmp_path: Path, values: dict[str, Any], said: str) -> None:
    done = result_of(template_command(tmp_path, values))

    assert done.returncode != 0
    assert said in done.stderr

"""The formats as the connector type offers them."""

from __future__ import annotations

import subprocess
import sys

from bridge.ports.exports import HasExports
from connectors.slack import connector_type


def test_the_connector_type_has_the_formats_each_under_a_name_of_its_own() -> None:
    assert isinstance(connector_type, HasExports)
    names = [form.name for form in connector_type.export_formats()]

    assert sorted(names) == ["slack-zip", "slackdump-chunk", "slackdump-dump", "slackdump-sqlite"]
    assert {form.platform for form in connector_type.export_formats()} == {"slack"}


def test_the_formats_bring_neither_the_sdk_nor_the_decoder() -> None:
    code = (
        "import sys; from connectors.slack import connector_type; connector_type.export_formats();"
        " names = [name for name in sys.modules"
        " if name.startswith(('slack_sdk', 'slack_bolt', 'connectors.slack.decode'))];"
        " assert not names, names"
    )

    subprocess.run([sys.executable, "-c", code], check=True)

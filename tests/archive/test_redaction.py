"""A redacted export has no personal data of the chosen kinds, and says how many it left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.archive.redaction import RedactedExport
from bridge.model.export_records import ArchivedMessage, ExportedChannel, ExportedPerson
from bridge.ports.exports import WriteOptions
from bridge.testing.export_contract import archived
from bridge.uacs import StructuredDataPart, TextPart
from tests.archive.conversation import ANN, HOME, exported


def message(number: int, *texts: str) -> ArchivedMessage:
    item = exported(number)
    parts = [TextPart(text=text) for text in texts]
    card = StructuredDataPart(schema_id="x", data={"rows": [{"to": texts[0]}], "type": texts[0]})
    changed = item.posted.message.model_copy(update={"content": (*parts, card)})
    item = replace(item, posted=item.posted.model_copy(update={"message": changed}))
    return archived(replace(item, payload=texts[0].encode()), "uacs-lines")


def test_texts_cards_topics_and_payloads_have_none_left_and_equal_values_stay_equal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "out.jsonl"
    form = UacsLines()
    writer = form.writer(path, WriteOptions())
    redacted = RedactedExport(writer, ["email", "phone"])
    redacted.person(ExportedPerson(ANN, {"email": "ann@example.org"}))
    redacted.channel(
        ExportedChannel(HOME, "home", topic="ask ann@example.org", native={"a": "b@c.de"})
    )
    redacted.message(message(1, "ann@example.org and +4915112345678"))
    redacted.message(message(2, "ann@example.org again", "4242424242424242"))
    not_written = redacted.finish()

    text = path.read_text("utf-8")
    assert "example.org" not in text
    assert "+49" not in text
    assert "4242424242424242" in text
    first = text.split("[email-")[1][:6]
    assert text.count(f"[email-{first}]") == text.count("[email-") == 7
    assert {item.what for item in not_written} == {"redacted: email", "redacted: phone"}

"""A file is uploaded only to a drive of a person to whom we offered it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bridge.content.cards.tree import Asset
from bridge.errors import FileMissing, Refused
from bridge.testing.memory_blobs import MemoryBlobs
from connectors.teams.cards.schemas import FILE_CONSENT, FILE_INFO
from connectors.teams.consent import Consent, answer_of, outcome, questions
from connectors.teams.files import bring
from connectors.teams.send import HttpClient
from connectors.teams.settings import TeamsSettings
from tests.connectors.teams.payloads import APP_ID
from tests.router.fake_clock import FakeClock

KEY, CHAT = b"k" * 32, "a:1chat"
FILE = Asset(file_id="blob:sha256-" + "a" * 64, name="../no tes.pdf", size=7, alt="what was said")
UPLOAD = {
    "contentUrl": "https://contoso-my.sharepoint.com/p/no%20tes.pdf",
    "uploadUrl": "https://contoso-my.sharepoint.com/up?guid=1",
    "uniqueId": "U1", "fileType": "pdf", "name": "no tes.pdf",
}  # fmt: skip


def question() -> dict[str, Any]:
    (body,) = questions([FILE], CHAT, KEY)
    attachments: Any = body["attachments"]
    return attachments[0]


def answered(chat: str = CHAT, action: str = "accept", **context: str) -> dict[str, Any]:
    """The invoke that Teams sends after the question."""
    value = {
        "type": "fileUpload", "action": action, "uploadInfo": UPLOAD,
        "context": question()["content"]["acceptContext"] | context,
    }  # fmt: skip
    return {
        "type": "invoke", "name": "fileConsent/invoke", "replyToId": "1700",
        "conversation": {"id": chat}, "value": value,
    }  # fmt: skip


def test_the_consent_card_has_the_files_name_size_and_description() -> None:
    activity = question()

    assert activity["contentType"] == FILE_CONSENT
    assert "/" not in activity["name"]
    assert (activity["content"]["sizeInBytes"], activity["content"]["description"]) == (
        7, "what was said",
    )  # fmt: skip


def test_a_consent_answer_has_its_file_and_upload_url() -> None:
    consent = answer_of(answered(), KEY)

    assert consent
    assert (consent.agreed, consent.file_id, consent.message) == (True, FILE.file_id, "1700")
    attachments: Any = outcome(consent)["attachments"]
    assert attachments == [
        {
            "contentType": FILE_INFO, "contentUrl": UPLOAD["contentUrl"], "name": "no tes.pdf",
            "content": {"uniqueId": "U1", "fileType": "pdf"},
        }
    ]  # fmt: skip


def test_a_declined_file_is_shown_as_its_name() -> None:
    consent = answer_of(answered(action="decline"), KEY)

    assert consent
    assert outcome(consent)["text"] == f"📎 {consent.name}"


@pytest.mark.parametrize(
    "forged",
    [
        answered(file="blob:sha256-" + "b" * 64),
        answered(name="other.pdf"),
        answered(proof=""),
        answered(proof="é"),
        answered(chat="a:1other"),
        {**answered(), "value": {"action": "accept"}},
        {**answered(), "value": None},
        {**answered(), "name": "task/submit"},
        {"type": "message"},
    ],
)
def test_a_consent_answer_for_a_file_we_did_not_offer_is_ignored(forged: dict[str, Any]) -> None:
    assert answer_of(forged, KEY) is None


@pytest.mark.parametrize(
    "url",
    ["", "http://contoso.sharepoint.com/u", "https://evil.example/u",
     "https://sharepoint.com.evil.example/u", "https://a@contoso.sharepoint.com/u",
     "https://contoso.sharepoint.com\\@evil.example/u", "https://127.0.0.1/u"],
)  # fmt: skip
async def test_files_are_uploaded_only_to_known_drive_hosts(url: str) -> None:
    blobs, http = MemoryBlobs(FakeClock()), HttpClient()
    ref = await blobs.put(chunks_of(b"secret"), limit=100)

    with pytest.raises(Refused, match="drive_hosts"):
        await bring(consent_for(ref.file_id, url), blobs, http, settings())


async def test_a_file_that_is_no_longer_stored_raises_file_missing() -> None:
    with pytest.raises(FileMissing, match="no longer stored"):
        await bring(
            consent_for(FILE.file_id, UPLOAD["uploadUrl"]), MemoryBlobs(FakeClock()), HttpClient(),
            settings(),
        )  # fmt: skip


def consent_for(file_id: str, url: str) -> Consent:
    return Consent(CHAT, "1700", True, file_id, "notes.pdf", url, {})


def settings() -> TeamsSettings:
    return TeamsSettings.model_validate({"app_id": APP_ID, "app_password": {"env": "NONE"}})


async def chunks_of(content: bytes) -> AsyncIterator[bytes]:
    yield content

"""Files for a person's drive: Teams asks the person, and takes the bytes if they agree. Pure.

Source: microsoft.com/.../bots/how-to/bots-filesv4, "Send files to personal chat" (2026-06).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hmac import compare_digest

from pydantic import JsonValue

from bridge.content.cards.interactions import action_token
from bridge.content.cards.tree import Asset
from bridge.content.media.file_names import safe_file_name
from connectors.teams.activity import Json, object_of, string
from connectors.teams.cards.schemas import FILE_CONSENT, FILE_INFO
from connectors.teams.ids import split_conversation

INVOKE = "fileConsent/invoke"
_NAME = 255
_PLACE = ("contentUrl", "uniqueId", "fileType", "name")

Body = dict[str, JsonValue]


@dataclass(frozen=True)
class Consent:
    """A person's answer to a file consent card.

    `message` is the native id of the consent card, which `outcome` replaces; `place` identifies
    the new file in the person's drive.
    """

    conversation: str
    message: str
    agreed: bool
    file_id: str
    name: str
    upload_url: str
    place: Body


def questions(files: Iterable[Asset], conversation: str, key: bytes) -> list[Body]:
    """Return a file consent card for each file.

    The context returns with the answer through the person's client, so it is not trusted: `proof`
    shows that the bridge offered this file in this chat.
    """
    return [_question(file, conversation, key) for file in files]


def _question(file: Asset, conversation: str, key: bytes) -> Body:
    name = safe_file_name(file.name, file.media_type)[:_NAME]
    proof = action_token(key, conversation, f"{file.file_id} {name}")
    context: JsonValue = {"file": file.file_id, "name": name, "proof": proof}
    content: JsonValue = {
        "description": file.alt, "sizeInBytes": file.size or 0,
        "acceptContext": context, "declineContext": context,
    }  # fmt: skip
    return {
        "type": "message",
        "attachments": [{"contentType": FILE_CONSENT, "name": name, "content": content}],
    }


def answer_of(activity: Json, key: bytes) -> Consent | None:
    """Return the answer in a `fileConsent/invoke`; None for other activities and forged answers."""
    if string(activity, "type") != "invoke" or string(activity, "name") != INVOKE:
        return None
    value = object_of(activity, "value")
    context = object_of(value, "context")
    conversation = split_conversation(string(object_of(activity, "conversation"), "id"))[0]
    file_id, name = string(context, "file"), string(context, "name")
    proof = action_token(key, conversation, f"{file_id} {name}")
    if not compare_digest(proof.encode(), string(context, "proof").encode()):
        return None
    place = object_of(value, "uploadInfo")
    return Consent(
        conversation=conversation,
        message=string(activity, "replyToId"),
        agreed=string(value, "action") == "accept",
        file_id=file_id,
        name=name,
        upload_url=string(place, "uploadUrl"),
        place={each: string(place, each) for each in _PLACE},
    )


def outcome(consent: Consent) -> Body:
    """Return the activity that replaces the consent card: the file, or only its name."""
    if not consent.agreed:
        return {"type": "message", "textFormat": "plain", "text": f"📎 {consent.name}"}
    place = consent.place
    content: JsonValue = {"uniqueId": place["uniqueId"], "fileType": place["fileType"]}
    attachment: JsonValue = {
        "contentType": FILE_INFO, "contentUrl": place["contentUrl"],
        "name": place["name"] or consent.name, "content": content,
    }  # fmt: skip
    return {"type": "message", "attachments": [attachment]}

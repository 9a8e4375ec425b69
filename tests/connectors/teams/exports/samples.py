"""Small exports of Teams: a channel with a thread, a group chat, lists of people and channels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TENANT = "10000000-0000-4000-8000-000000000001"
TEAM = "20000000-0000-4000-8000-000000000002"
CHANNEL = "19:garden@thread.tacv2"
CHAT = "19:0a0a0a@thread.v2"
ANN, BEN = "a0000000-0000-4000-8000-00000000000a", "b0000000-0000-4000-8000-00000000000b"
APP = "c0000000-0000-4000-8000-00000000000c"
ROOT, REPLY = "1700000000000", "1700000001000"
LINK = f"https://teams.microsoft.com/l/message/x/1?tenantId={TENANT}"


def user(own_id: str, name: str | None) -> dict[str, Any]:
    about = {"id": own_id, "displayName": name, "userIdentityType": "aadUser", "tenantId": TENANT}
    return {"application": None, "device": None, "user": about}


def message(own_id: str, content: str = "", sender: Any = ..., **fields: Any) -> dict[str, Any]:
    """A message by Ann in the channel; in the chat with `chatId`."""
    seconds = int(own_id) // 1000
    minute, second = divmod(seconds % 3600, 60)
    place = {"teamId": TEAM, "channelId": CHANNEL}
    created = f"2023-11-14T22:{minute:02d}:{second:02d}.{int(own_id) % 1000:03d}Z"
    return {
        "id": own_id,
        "replyToId": None,
        "messageType": "message",
        "createdDateTime": created,
        "lastModifiedDateTime": created,
        "lastEditedDateTime": None,
        "deletedDateTime": None,
        "subject": None,
        "chatId": None,
        "webUrl": None if "chatId" in fields else LINK,
        "eventDetail": None,
        "from": user(ANN, "Ann") if sender is ... else sender,
        "body": {"contentType": "html", "content": content},
        "channelIdentity": None if "chatId" in fields else place,
        "attachments": [],
        "mentions": [],
        "reactions": [],
        **fields,
    }


def reaction(kind: str, by: str, **fields: Any) -> dict[str, Any]:
    at = "2023-11-14T22:20:00Z"
    return {"reactionType": kind, "createdDateTime": at, "user": user(by, None), **fields}


IN_CHANNEL = [
    message(ROOT, "<p>Hello <b>all</b></p>", reactions=[reaction("like", BEN)]),
    message(
        REPLY,
        '<p><at id="0">Ann</at> hi</p>',
        replyToId=ROOT,
        mentions=[{"id": 0, "mentionText": "Ann", "mentioned": user(ANN, "Ann")}],
        sender=user(BEN, "Ben"),
        lastEditedDateTime="2023-11-14T22:30:00Z",
    ),
]
IN_CHAT = [
    message(
        "1700000002000", "plain", chatId=CHAT, body={"contentType": "text", "content": "1 < 2"}
    ),
    message(
        "1700000003000",
        "<systemEventMessage/>",
        chatId=CHAT,
        messageType="systemEventMessage",
        eventDetail={
            "@odata.type": "#microsoft.graph.membersAddedEventMessageDetail",
            "members": [{"id": BEN, "displayName": None}],
            "initiator": user(ANN, None),
        },
        sender=None,
    ),
    message("1700000004000", "", chatId=CHAT, deletedDateTime="2023-11-14T22:40:00Z"),
]
PEOPLE = [
    {"id": ANN, "displayName": "Ann", "userPrincipalName": "ann@garden.example"},
    {"id": BEN, "displayName": "Ben", "userPrincipalName": "ben@garden.example"},
]
CHANNELS = [{"id": CHANNEL, "displayName": "General", "membershipType": "standard"}]
CHATS = [{"id": CHAT, "topic": "Plans", "chatType": "group"}]


def answer(value: list[Any], **fields: Any) -> dict[str, Any]:
    return {
        "@odata.context": "https://graph.microsoft.com/v1.0/$metadata",
        **fields,
        "value": value,
    }


def graph(folder: Path) -> Path:
    """Write an export of saved answers."""
    folder.mkdir()
    write(folder / "users.json", answer(PEOPLE))
    write(folder / "channels.json", answer(CHANNELS))
    write(folder / "chats.json", answer(CHATS))
    write(folder / "messages.json", answer(IN_CHANNEL))
    write(folder / "chat.json", answer(IN_CHAT))
    return folder


def tool(folder: Path) -> Path:
    """Write an export of users and teams."""
    write(folder / "users/usersList.json", in_pascal_case(PEOPLE))
    write(folder / "teams/teamsList.json", [{"GroupsId": TEAM, "Name": "Garden"}])
    write(folder / f"teams/{TEAM}/channels_{TEAM}.json", in_pascal_case(CHANNELS))
    write(folder / f"teams/{TEAM}/messages_{TEAM}.json", in_pascal_case(IN_CHANNEL))
    write(folder / f"users/{ANN}/messages_{ANN}.json", in_pascal_case(IN_CHAT))
    return folder


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def in_pascal_case(value: Any) -> Any:
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: in_pascal_case(item) for key, item in value.items()}
    return [in_pascal_case(item) for item in value] if isinstance(value, list) else value

"""A small export of DiscordChatExporter: two channels, one of them in two parts, and a thread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GUILD = {"id": "700000000000000001", "name": "Garden", "iconUrl": "https://cdn.example/0.png"}
GENERAL, IDEAS, THREAD = "1012224565567721552", "1012224565567721553", "1045178587575242780"
PICTURE = "https://cdn.discordapp.com/avatars/11/468d47ade5d888a482e227a04c54eabe.png?size=512"


def user(own_id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": own_id,
        "name": name,
        "discriminator": "0000",
        "nickname": name.title(),
        "color": None,
        "isBot": False,
        "roles": [],
        "avatarUrl": PICTURE,
        **fields,
    }


ANN, BEN = user("11", "ann"), user("12", "ben")
APP = user("13", "deploys", isBot=True, discriminator="4321")


def message(own_id: str, content: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "id": own_id,
        "type": "Default",
        "timestamp": "2023-01-06T15:03:03.853+01:00",
        "timestampEdited": None,
        "callEndedTimestamp": None,
        "isPinned": False,
        "content": content,
        "author": ANN,
        "attachments": [],
        "embeds": [],
        "stickers": [],
        "reactions": [],
        "mentions": [],
        "inlineEmojis": [],
        **fields,
    }


def emoji(name: str, own_id: str = "") -> dict[str, Any]:
    return {"id": own_id, "name": name, "code": name, "isAnimated": False, "imageUrl": "x"}


def document(channel: dict[str, Any], messages: list[dict[str, Any]], **fields: Any) -> Any:
    return {
        "guild": GUILD,
        "channel": {
            "type": "GuildTextChat",
            "categoryId": "5",
            "category": "Talk",
            "topic": None,
            **channel,
        },
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2026-03-01T10:00:00+01:00",
        "messages": messages,
        "messageCount": len(messages),
        **fields,
    }


FORWARDED = {
    "timestamp": "2023-01-05T15:03:03.853+01:00",
    "timestampEdited": None,
    "content": "the original words",
    "attachments": [],
    "embeds": [],
    "stickers": [],
}

GENERAL_MESSAGES = [
    message("1045178587575242772", "Hello **all**", isPinned=True),
    message(
        "1045178587575242773",
        "@Ann look :party:",
        author=BEN,
        type="Reply",
        mentions=[ANN],
        inlineEmojis=[emoji("party", "77")],
        timestampEdited="2023-01-06T15:05:03+01:00",
        reference={
            "type": "Default",
            "messageId": "1045178587575242772",
            "channelId": GENERAL,
            "guildId": GUILD["id"],
        },
        reactions=[
            {"emoji": emoji("👍"), "count": 2, "users": [ANN, BEN]},
            {"emoji": emoji("party", "77"), "count": 1, "users": [BEN]},
        ],
    ),
    message("1045178587575242774", "Joined the server.", type="GuildMemberJoin", author=BEN),
    message(
        "1045178587575242775",
        author=APP,
        embeds=[
            {
                "title": "Build 7",
                "url": "https://ci.example/7",
                "timestamp": None,
                "description": "passed",
                "color": "#00FF00",
                "author": {"name": "CI", "url": None},
                "thumbnail": {"url": "https://ci.example/t.png", "width": 10, "height": 10},
                "footer": {"text": "main"},
                "images": [
                    {"url": "https://ci.example/1.png", "width": 1, "height": 1},
                    {"url": "https://ci.example/2.png", "width": 1, "height": 1},
                ],
                "fields": [{"name": "Tests", "value": "12", "isInline": True}],
            }
        ],
    ),
]
MORE_MESSAGES = [
    message(
        "1045178587575242776",
        "a file",
        attachments=[
            {
                "id": "91",
                "url": "general.json_Files\\plan-0A1B2.txt",
                "fileName": "plan.txt",
                "fileSizeBytes": 4,
            },
        ],
    ),
    message(
        "1045178587575242777",
        stickers=[{"id": "31", "name": "wave", "format": "Png", "sourceUrl": "x"}],
    ),
    message(
        "1045178587575242778",
        reference={"type": "Forward", "messageId": "1", "channelId": "2", "guildId": "3"},
        forwardedMessage=FORWARDED,
    ),
    message("1045178587575242779"),
]
IDEAS_MESSAGES = [message("1045178587575242781", "Only an idea", author=BEN)]
THREAD_MESSAGES = [
    message("1045178587575242790", type="21", author=BEN),
    message("1045178587575242791", "In the thread", author=BEN),
]


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")


def write_sample(folder: Path) -> Path:
    general = {"id": GENERAL, "name": "general", "topic": "About all"}
    write(folder / "Garden - Talk - general.json", document(general, GENERAL_MESSAGES))
    write(folder / "Garden - Talk - general [part 2].json", document(general, MORE_MESSAGES))
    write(folder / "more" / "ideas.json", document({"id": IDEAS, "name": "ideas"}, IDEAS_MESSAGES))
    thread = {
        "id": THREAD,
        "name": "details",
        "type": "GuildPublicThread",
        "categoryId": GENERAL,
        "category": "general",
    }
    write(folder / "thread.json", document(thread, THREAD_MESSAGES))
    assets = folder / "general.json_Files"
    assets.mkdir()
    (assets / "plan-0A1B2.txt").write_bytes(b"plan")
    write(assets / "not an export.json", document(general, MORE_MESSAGES))
    return folder

"""Handwritten activities after Microsoft's documentation."""

from __future__ import annotations

from typing import Any

TENANT = "7a11a5e0-0000-4000-8000-0000000000aa"
APP_ID = "b0700000-0000-4000-8000-000000000001"
BOT = f"28:{APP_ID}"
ANN = "29:1annAnnAnn"
BO = "29:1boBoBo"
CHANNEL = "19:0a1b2c@thread.tacv2"
CHAT = "19:meeting@thread.v2"
SERVICE_URL = "https://smba.trafficmanager.net/emea/"
ID = "1700000000123"  # 2023-11-14T22:13:20.123Z
TIME = "2023-11-14T22:13:20.1234567Z"


def activity(kind: str = "message", /, **fields: Any) -> dict[str, Any]:
    """An activity by Ann in the channel; `fields` replace or add; `author` stands for `from`."""
    if "author" in fields:
        fields["from"] = fields.pop("author")
    base = {
        "type": kind,
        "id": ID,
        "timestamp": TIME,
        "serviceUrl": SERVICE_URL,
        "channelId": "msteams",
        "from": {
            "id": ANN,
            "name": "Ann Lee",
            "aadObjectId": "a0000000-0000-4000-8000-00000000000a",
        },
        "recipient": {"id": BOT, "name": "Bridge"},
        "conversation": {
            "id": f"{CHANNEL};messageid={ID}",
            "conversationType": "channel",
            "isGroup": True,
            "tenantId": TENANT,
        },
        "channelData": {
            "tenant": {"id": TENANT},
            "channel": {"id": CHANNEL},
            "team": {"id": CHANNEL},
        },
    }
    return base | fields


def html(content: str) -> dict[str, str]:
    return {"contentType": "text/html", "content": content}


def mention(account: str, name: str) -> dict[str, Any]:
    return {
        "type": "mention",
        "mentioned": {"id": account, "name": name},
        "text": f"<at>{name}</at>",
    }


def span(number: int, name: str) -> str:
    return (
        f'<span itemscope="" itemtype="http://schema.skype.com/Mention" itemid="{number}">'
        f"{name}</span>"
    )


def conversation(bare: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": bare, "conversationType": kind, "tenantId": TENANT} | more

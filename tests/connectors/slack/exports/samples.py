"""A small workspace, and its export in each format."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Files = dict[str, bytes]

TEAM = "T0TEAM001"
ANN, BOB, CAROL = "U0ANN0001", "U0BOB0001", "U0CAROL01"
GENERAL, SECRET, GROUP, DIRECT = "C0GENERAL", "G0SECRET1", "G0GROUP01", "D0DIRECT1"
ROOT, GONE, REPLY, SHOWN = (
    "1704106800.000100", "1704106900.000100", "1704107000.000100", "1704196800.000100",
)  # fmt: skip


def user(native: str, name: str, **more: Any) -> Json:
    profile = {"real_name": f"{name} Example", "display_name": name, "team": TEAM}
    return {
        "id": native, "team_id": TEAM, "name": name.lower(), "deleted": False, "is_bot": False,
        "real_name": f"{name} Example", "profile": profile, **more,
    }  # fmt: skip


def post(ts: str, text: str, author: str = ANN, **more: Any) -> Json:
    return {"type": "message", "user": author, "text": text, "ts": ts, "team": TEAM, **more}


def channel(native: str, name: str, **more: Any) -> Json:
    about = {"value": "", "creator": "", "last_set": 0}
    return {
        "id": native, "name": name, "created": 1704060000, "creator": ANN, "is_archived": False,
        "members": [ANN, BOB], "topic": {**about, "value": "*Bold* plans"},
        "purpose": about, **more,
    }  # fmt: skip


USERS = [user(ANN, "Ann"), user(BOB, "Bøb"), user("U0ROBOT01", "Robot", is_bot=True)]
CHANNELS = [
    channel(
        GENERAL, "general", pins=[{"id": ROOT, "type": "C", "created": 1704106801, "user": BOB}]
    ),
    channel("C0QUIET01", "büro"),
]
GROUPS = [channel(SECRET, "secret")]
MPIMS = [channel(GROUP, "mpdm-ann--bob--carol-1")]
DMS = [{"id": DIRECT, "created": 1704060000, "members": [ANN, BOB]}]
FILE = {
    "id": "F0FILE001", "name": "notes.txt", "title": "Notes", "mimetype": "text/plain",
    "filetype": "text", "size": 5, "mode": "hosted",
    "url_private": "https://files.slack.com/files-pri/T-F/notes.txt",
}  # fmt: skip

FIRST_DAY = [
    post(
        ROOT, "Hello <@U0BOB0001> &amp; all", edited={"user": ANN, "ts": "1704106860.000000"},
        thread_ts=ROOT, reply_count=2, reply_users=[BOB, ANN], latest_reply=SHOWN,
        replies=[{"user": BOB, "ts": REPLY}, {"user": ANN, "ts": SHOWN}],
        reactions=[
            {"name": "+1", "users": [BOB, ANN], "count": 5},
            {"name": "partyparrot", "users": [BOB], "count": 1},
        ],
        blocks=[{"type": "rich_text", "block_id": "b", "elements": [
            {"type": "rich_text_section", "elements": [
                {"type": "text", "text": "Hello "}, {"type": "user", "user_id": BOB},
                {"type": "text", "text": " & all"}]}]}],
    ),
    {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True, "ts": GONE,
     "text": "This message was deleted.", "thread_ts": GONE, "reply_count": 1},
    post(REPLY, "Reply", BOB, thread_ts=ROOT, parent_user_id=ANN, files=[FILE]),
    {"type": "message", "subtype": "channel_join", "user": BOB, "ts": "1704107100.000100",
     "text": f"<@{BOB}> has joined the channel"},
    {"type": "message", "subtype": "bot_message", "bot_id": "B0BUILDS1", "username": "Builds",
     "text": "", "ts": "1704107200.000100", "icons": {"image_48": "https://example.com/b.png"},
     "attachments": [{"id": 1, "color": "36a64f", "text": "Build 7 passed", "fallback": "7"}]},
    post("1704107300.000100", "waves", subtype="me_message"),
    post("1704107400.000100", "from outside", CAROL, blocks=None, attachments=None),
]  # fmt: skip
SECOND_DAY = [
    post(SHOWN, "For all", thread_ts=ROOT, subtype="thread_broadcast", root={"ts": ROOT}),
    {"type": "message", "subtype": "huddle_thread", "user": "USLACKBOT", "text": "",
     "ts": "1704196900.000100", "room": {"created_by": ANN}},
]  # fmt: skip

# The folders of an export; slackdump's formats have the first channel.
DAYS: dict[str, list[Json]] = {
    "general/2024-01-01.json": FIRST_DAY,
    "general/2024-01-02.json": SECOND_DAY,
    "secret/2024-01-01.json": [post("1704106800.000200", "Psst 秘密")],
    "mpdm-ann--bob--carol-1/2024-01-01.json": [post("1704106800.000300", "Us three", CAROL)],
    f"{DIRECT}/2024-01-01.json": [post("1704106800.000400", "Just you", BOB)],
}


def encoded(value: object) -> bytes:
    return json.dumps(value, indent=4).encode()


def export_files() -> Files:
    """The files of a whole export, with the bytes of one file."""
    indices = {
        "users.json": USERS, "channels.json": CHANNELS, "groups.json": GROUPS,
        "mpims.json": MPIMS, "dms.json": DMS,
    }  # fmt: skip
    files = {name: encoded(value) for name, value in {**indices, **DAYS}.items()}
    return {**files, "__uploads/F0FILE001/notes.txt": b"12345"}


def written(path: Path, files: Files) -> Path:
    """Write files as a zip, or as a folder if the path has no such ending."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as export:
            for name, content in files.items():
                export.writestr(name, content)
        return path
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return path


def read_files(path: Path) -> Files:
    """The files of a zip or a folder."""
    if path.is_file():
        with zipfile.ZipFile(path) as export:
            names = [name for name in export.namelist() if not name.endswith("/")]
            return {name: export.read(name) for name in names}
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def contents(path: Path) -> Json:
    """What a Slack export says: its lists, and its messages by folder and time."""
    lists: Json = {}
    posts: dict[str, list[Json]] = {}
    uploads: Files = {}
    for name, content in read_files(path).items():
        if name.startswith("__uploads/"):
            uploads[name] = content
        elif "/" in name:
            posts.setdefault(name.partition("/")[0], []).extend(json.loads(content))
        elif listed := json.loads(content):
            lists[name] = sorted(listed, key=lambda entry: entry.get("id", ""))
    for listed in posts.values():
        listed.sort(key=lambda item: item["ts"])
    return {"lists": lists, "posts": posts, "uploads": uploads}


# --- slackdump ------------------------------------------------------------------------------


def general_posts() -> list[Json]:
    return [*FIRST_DAY, *SECOND_DAY]


def dump() -> Json:
    """The conversation as `slackdump dump` writes it: replies lie in their root."""
    replies = [item for item in general_posts() if item.get("thread_ts") == ROOT != item["ts"]]
    top = [item for item in general_posts() if item not in replies or item["ts"] == SHOWN]
    messages = [
        {**item, "slackdump_thread_replies": replies} if item["ts"] == ROOT else item
        for item in top
    ]
    return {"channel_id": GENERAL, "name": "general", "messages": messages}


def chunks() -> dict[str, list[Json]]:
    """The chunks of the conversation: newest first, and a broadcast reply in both kinds."""
    replies = [item for item in general_posts() if item.get("thread_ts") == ROOT != item["ts"]]
    top = [item for item in general_posts() if item not in replies or item["ts"] == SHOWN]
    root = next(item for item in top if item["ts"] == ROOT)
    at = 1704200000000000000
    return {
        "workspace": [{"t": 6, "ts": at, "w": {"team_id": TEAM, "team": "Example"}}],
        "users": [{"t": 3, "ts": at, "n": len(USERS), "u": USERS}],
        GENERAL: [
            {"t": 7, "ts": at, "id": GENERAL, "n": 2, "cu": [ANN, BOB]},
            {"t": 5, "ts": at, "id": GENERAL, "ci": {**CHANNELS[0], "members": None}},
            {"t": 0, "ts": at, "id": GENERAL, "n": len(top), "l": True, "m": top[::-1]},
            {"t": 1, "ts": at, "id": GENERAL, "n": 2, "r": ROOT, "p": root, "m": replies},
        ],
        SECRET: [
            {"t": 5, "ts": at, "id": SECRET, "ci": {**GROUPS[0], "is_private": True}},
            {"t": 0, "ts": at, "id": SECRET, "m": DAYS["secret/2024-01-01.json"]},
        ],
    }


def chunk_files() -> Files:
    return {
        f"{name}.json.gz": gzip.compress(
            b"".join(json.dumps(chunk, separators=(",", ":")).encode() + b"\n" for chunk in listed)
        )
        for name, listed in chunks().items()
    }


SCHEMA = """
CREATE TABLE goose_db_version (version_id INTEGER);
CREATE TABLE SESSION (ID INTEGER PRIMARY KEY, FINISHED SMALLINT, MODE TEXT);
CREATE TABLE CHUNK (ID INTEGER PRIMARY KEY, SESSION_ID INTEGER, TYPE_ID SMALLINT, CHANNEL_ID TEXT);
CREATE TABLE MESSAGE (ID INTEGER, CHUNK_ID INTEGER, CHANNEL_ID TEXT, TS TEXT, DATA BLOB,
                      PRIMARY KEY (ID, CHUNK_ID));
CREATE TABLE CHANNEL (ID TEXT, CHUNK_ID INTEGER, NAME TEXT, DATA BLOB, PRIMARY KEY (ID, CHUNK_ID));
CREATE TABLE S_USER (ID TEXT, CHUNK_ID INTEGER, USERNAME TEXT, DATA BLOB,
                     PRIMARY KEY (ID, CHUNK_ID));
CREATE TABLE CHANNEL_USER (CHANNEL_ID TEXT, USER_ID TEXT, CHUNK_ID INTEGER, IDX INTEGER);
CREATE TABLE WORKSPACE (ID INTEGER PRIMARY KEY, CHUNK_ID INTEGER, TEAM_ID TEXT);
CREATE TABLE SEARCH_MESSAGE (ID INTEGER PRIMARY KEY, DATA BLOB);
"""


def write_database(path: Path) -> Path:
    """An archive; the root of the thread was read twice, and its later row counts."""
    rows = [(general, 1, GENERAL) for general in general_posts()]
    rows += [(item, 2, SECRET) for item in DAYS["secret/2024-01-01.json"]]
    rows.append(({**FIRST_DAY[0], "text": "Hello, edited", "blocks": None}, 3, GENERAL))
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        database.execute("INSERT INTO SESSION VALUES (1, 1, 'archive'), (2, 0, 'resume')")
        database.execute("INSERT INTO CHUNK VALUES (3, 1, 0, ?)", (GENERAL,))
        database.execute("INSERT INTO WORKSPACE VALUES (1, 1, ?)", (TEAM,))
        database.executemany(
            "INSERT INTO CHANNEL_USER VALUES (?, ?, 1, ?)", [(GENERAL, ANN, 0), (GENERAL, BOB, 1)]
        )
        for item in USERS:
            row = (item["id"], 1, item["name"], json.dumps(item).encode())
            database.execute("INSERT INTO S_USER VALUES (?, ?, ?, ?)", row)
        for item in (CHANNELS[0], {**GROUPS[0], "is_private": True}):
            row = (item["id"], 1, item["name"], json.dumps({**item, "members": None}).encode())
            database.execute("INSERT INTO CHANNEL VALUES (?, ?, ?, ?)", row)
        for item, chunk, channel_id in rows:
            number = int(item["ts"].replace(".", ""))
            row = (number, chunk, channel_id, item["ts"], json.dumps(item).encode())
            database.execute("INSERT INTO MESSAGE VALUES (?, ?, ?, ?, ?)", row)
    return path

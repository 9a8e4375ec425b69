"""A Slack export of any number of messages, for the benchmarks of imports and searches.

`python -m tests.benchmarks.slack_export TARGET.zip MESSAGES [SEED]`. The same arguments give the
same bytes. Memory stays flat: one day of one channel at a time is made and written. The messages
are as people and apps write them: rich text in blocks beside the text, threads over some hours,
reactions, edits, links, mentions, files without bytes, joins, several languages.
"""

from __future__ import annotations

import random
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

TEAM = "T0BENCH01"
PEOPLE = 200
CHANNELS = 20
POSTS_A_DAY = 200  # in one channel
FIRST_DAY = date(2022, 1, 3)

Json = dict[str, Any]

_FIRST_NAMES = (
    "Ana", "Bjørn", "Chloé", "Дмитрий", "Elif", "Fatima", "Grzegorz", "Hiroshi", "Iñaki", "Jürgen",
    "Kenji", "Léa", "李娜", "Noor", "Øyvind", "Priya", "Quinn", "Søren", "Thảo", "Zoë",
)  # fmt: skip
_LAST_NAMES = (
    "Álvarez", "Bauer", "Chen", "Dąbrowski", "Eriksson", "Ferreira", "Gómez", "Hansen", "Ito",
    "Kaya",
)  # fmt: skip
_TEXT = """
the build is green again please look at this when you have time we should deploy after lunch
release customer reported a timeout in the billing service since yesterday naïve café über déjà
façade größer schön mañana señor привет спасибо завтра 会議 資料 確認 お願いします مرحبا שלום धन्यवाद
ελληνικά 👍 🎉 latency dashboard index query cache retry queue worker pod node shard replica backup
restore migration schema review
"""
_WORDS = _TEXT.split()
_NAMES = (
    "general", "random", "engineering", "ops", "support", "design", "büro-münchen", "东京办公室",
    "incidents", "releases",
)  # fmt: skip
_EMOJI = (
    "+1",
    "tada",
    "eyes",
    "white_check_mark",
    "heart",
    "rocket",
    "wave::skin-tone-3",
    "partyparrot",
)


def write_export(target: Path, messages: int, seed: int = 1) -> None:
    """Write an export with this many messages.

    Args:
        target: The zip; it is replaced.
        messages: How many messages, system messages included.
        seed: Another seed gives other messages.
    """
    dice = random.Random(seed)
    people, channels = _people(dice), _channels(dice)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as export:
        _write(export, "users.json", people)
        _write(export, "channels.json", channels)
        _write(export, "integration_logs.json", [])
        for channel, day, posts in _days(dice, messages, people, channels):
            _write(export, f"{channel}/{day.isoformat()}.json", posts)


def _write(export: zipfile.ZipFile, name: str, value: list[Json]) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    export.writestr(info, orjson.dumps(value, option=orjson.OPT_INDENT_2))


def _days(
    dice: random.Random, messages: int, people: list[Json], channels: list[Json]
) -> Iterator[tuple[str, date, list[Json]]]:
    """Each channel with its days; the last day has what is left."""
    each, rest = divmod(messages, len(channels))
    for index, channel in enumerate(channels):
        left, day = each + (index < rest), FIRST_DAY
        while left > 0:
            count = min(left, dice.randint(POSTS_A_DAY // 2, POSTS_A_DAY * 3 // 2))
            yield channel["name"], day, _day(dice, day, count, people)
            left -= count
            day += timedelta(days=1)


def _day(dice: random.Random, day: date, count: int, people: list[Json]) -> list[Json]:
    """The messages of a day: about a third of them are replies to roots of the same day."""
    start = int(datetime(day.year, day.month, day.day, 16, tzinfo=UTC).timestamp())
    seconds = sorted(dice.sample(range(6 * 3600), count))
    posts: list[Json] = []
    roots: list[Json] = []
    for second in seconds:
        ts = f"{start + second}.{dice.randrange(10**6):06d}"
        kind = dice.random()
        author = dice.choice(people)
        if kind < 0.02:
            post = _joined(ts, author)
        elif kind < 0.08:
            post = _of_app(dice, ts)
        else:
            post = _typed(dice, ts, author, people)
            if roots and kind < 0.40:
                _reply(dice, post, dice.choice(roots[-8:]))
            elif kind < 0.55:
                roots.append(post)
        posts.append(post)
    return posts


def _typed(dice: random.Random, ts: str, author: Json, people: list[Json]) -> Json:
    words = " ".join(dice.choices(_WORDS, k=min(int(dice.expovariate(1 / 14)) + 2, 120)))
    elements: list[Json] = [{"type": "text", "text": words}]
    text = words.replace("&", "&amp;")
    if dice.random() < 0.15:
        other = dice.choice(people)["id"]
        elements = [{"type": "user", "user_id": other}, {"type": "text", "text": f" {words}"}]
        text = f"<@{other}> {text}"
    if dice.random() < 0.12:
        url = f"https://example.com/issues/{dice.randrange(10**5)}"
        elements += [{"type": "text", "text": " "}, {"type": "link", "url": url}]
        text = f"{text} <{url}>"
    if dice.random() < 0.1:
        strong = dice.choice(_WORDS)
        elements.append({"type": "text", "text": f" {strong}", "style": {"bold": True}})
        text = f"{text} *{strong}*"
    section = {"type": "rich_text_section", "elements": elements}
    block = {"type": "rich_text", "block_id": _id(dice, "", 5), "elements": [section]}
    post: Json = {
        "client_msg_id": _id(dice, "", 32), "type": "message", "text": text, "user": author["id"],
        "ts": ts, "blocks": [block], "team": TEAM, "user_team": TEAM, "source_team": TEAM,
        "user_profile": {
            key: author["profile"][key] for key in ("real_name", "display_name", "image_72")
        },
    }  # fmt: skip
    if dice.random() < 0.06:
        post["edited"] = {"user": author["id"], "ts": f"{int(ts.split('.')[0]) + 60}.000000"}
    if dice.random() < 0.18:
        post["reactions"] = _reactions(dice, people)
    if dice.random() < 0.04:
        post |= {"files": [_file(dice, ts, author)], "upload": False}
    return post


def _of_app(dice: random.Random, ts: str) -> Json:
    build = dice.randrange(10**5)
    attachment = {
        "id": 1, "color": "36a64f", "fallback": f"Build {build} passed",
        "title": f"Build {build}", "title_link": f"https://example.com/builds/{build}",
        "text": "All checks passed.",
        "fields": [{"title": "Branch", "value": "main", "short": True}],
    }  # fmt: skip
    return {
        "type": "message", "subtype": "bot_message", "text": "", "username": "Builds", "ts": ts,
        "bot_id": "B0BENCH01", "attachments": [attachment],
    }  # fmt: skip


def _joined(ts: str, author: Json) -> Json:
    return {
        "type": "message", "subtype": "channel_join", "user": author["id"], "ts": ts,
        "text": f"<@{author['id']}> has joined the channel",
    }  # fmt: skip


def _reply(dice: random.Random, post: Json, root: Json) -> None:
    post |= {"thread_ts": root["ts"], "parent_user_id": root["user"]}
    root.setdefault("thread_ts", root["ts"])
    replies = root.setdefault("replies", [])
    replies.append({"user": post["user"], "ts": post["ts"]})
    users = list(dict.fromkeys(reply["user"] for reply in replies))
    root |= {
        "reply_count": len(replies), "reply_users_count": len(users), "reply_users": users,
        "latest_reply": post["ts"], "is_locked": False, "subscribed": False,
    }  # fmt: skip
    if dice.random() < 0.05:
        post["subtype"] = "thread_broadcast"
        post["root"] = {key: root[key] for key in ("type", "user", "ts", "thread_ts", "text")}


def _reactions(dice: random.Random, people: list[Json]) -> list[Json]:
    reactions: list[Json] = []
    for name in dice.sample(_EMOJI, dice.randint(1, 3)):
        users = [person["id"] for person in dice.sample(people, dice.randint(1, 4))]
        reactions.append({"name": name, "users": users, "count": len(users)})
    return reactions


def _file(dice: random.Random, ts: str, author: Json) -> Json:
    native, name = _id(dice, "F", 10), f"übersicht {dice.randrange(1000)}.pdf"
    return {
        "id": native, "created": int(ts.split(".")[0]), "name": name, "title": name,
        "mimetype": "application/pdf", "filetype": "pdf", "pretty_type": "PDF",
        "user": author["id"], "user_team": TEAM, "editable": False, "mode": "hosted",
        "size": dice.randrange(10**6), "is_external": False, "is_public": True,
        "url_private": f"https://files.slack.com/files-pri/{TEAM}-{native}/file.pdf",
        "permalink": f"https://bench.slack.com/files/{author['id']}/{native}/file.pdf",
    }  # fmt: skip


def _people(dice: random.Random) -> list[Json]:
    people: list[Json] = []
    for number in range(PEOPLE):
        name = f"{dice.choice(_FIRST_NAMES)} {dice.choice(_LAST_NAMES)}"
        picture = f"https://avatars.slack-edge.com/bench/{number}_72.png"
        people.append({
            "id": f"U0BENCH{number:03d}", "team_id": TEAM, "name": f"user{number}",
            "deleted": dice.random() < 0.1, "real_name": name, "tz": "Europe/Berlin",
            "tz_offset": 3600, "is_bot": False, "updated": 1640995200,
            "profile": {
                "real_name": name, "display_name": name.split()[0], "image_72": picture,
                "team": TEAM,
            },
        })  # fmt: skip
    return people


def _channels(dice: random.Random) -> list[Json]:
    channels: list[Json] = []
    for number in range(CHANNELS):
        name = _NAMES[number % len(_NAMES)] + ("" if number < len(_NAMES) else f"-{number}")
        members = [f"U0BENCH{member:03d}" for member in dice.sample(range(PEOPLE), 50)]
        about = {"value": f"All about {name}", "creator": members[0], "last_set": 1640995200}
        channels.append({
            "id": f"C0BENCH{number:03d}", "name": name, "created": 1640995200,
            "creator": members[0], "is_archived": False, "is_general": number == 0,
            "members": members, "topic": about, "purpose": about,
        })  # fmt: skip
    return channels


def _id(dice: random.Random, letter: str, length: int) -> str:
    return letter + "".join(dice.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=length))


if __name__ == "__main__":
    write_export(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:]))

"""The Web API, called in process: arguments, answers and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.sandbox.limits import Limits
from connectors.slack.sandbox.api import PER_CHANNEL
from connectors.slack.sandbox.state import Channel
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, RANDOM
from tests.connectors.slack.sandbox.desk import Desk

QUIET, ATTIC, ELSEWHERE = "C0ACMEQUIET", "C0ACMEATTIC", "C0GLOBEX001"
HUGE_METADATA = {"event_type": "t", "event_payload": {"a": "x" * 17_000}}
Json = dict[str, Any]


async def test_auth_test_returns_the_bot_and_its_workspace(desk: Desk) -> None:
    assert await desk.call("auth.test") == {
        "ok": True,
        "url": "https://acme.slack.com/",
        "team": "Acme",
        "user": "bridge",
        "team_id": "T0ACME",
        "user_id": "U0ACMEBOT1",
        "bot_id": "B0ACME01",
        "is_enterprise_install": False,
    }


async def test_a_post_returns_the_stored_message(desk: Desk) -> None:
    answer = await desk.call("chat.postMessage", channel=GENERAL, text="1 < 2 &amp; <!here>")

    block_id = answer["message"]["blocks"][0].pop("block_id")
    assert len(block_id) == 5
    picture = "http://sandbox/slack/avatars/U0ACMEBOT1.svg"
    assert answer == {
        "ok": True,
        "channel": GENERAL,
        "ts": "1700000000.000000",
        "message": {
            "type": "message",
            "ts": "1700000000.000000",
            "text": "1 &lt; 2 &amp; <!here>",
            "user": "U0ACMEBOT1",
            "team": "T0ACME",
            "bot_id": "B0ACME01",
            "app_id": "A0ACME01",
            "bot_profile": {
                "id": "B0ACME01",
                "app_id": "A0ACME01",
                "user_id": "U0ACMEBOT1",
                "name": "Bridge",
                "icons": {"image_36": picture, "image_48": picture, "image_72": picture},
                "deleted": False,
                "updated": 1_700_000_000,
                "team_id": "T0ACME",
            },
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [
                                {"type": "text", "text": "1 < 2 & "},
                                {"type": "broadcast", "range": "here"},
                            ],
                        }
                    ],
                }
            ],
        },
    }


async def test_a_custom_username_and_icon_make_a_bot_message(desk: Desk) -> None:
    answer = await desk.call(
        "chat.postMessage", channel="#general", text="hi", username="Ada (Discord)",
        icon_url="https://example.com/ada.png",
    )  # fmt: skip

    del answer["message"]["blocks"]
    url = "https://example.com/ada.png"
    assert answer["message"] == {
        "type": "message",
        "subtype": "bot_message",
        "ts": "1700000000.000000",
        "text": "hi",
        "bot_id": "B0ACME01",
        "app_id": "A0ACME01",
        "username": "Ada (Discord)",
        "icons": {"image_36": url, "image_48": url, "image_72": url},
    }
    posted = desk.changes[0].message
    assert (posted.author, posted.picture, posted.bot) == ("Ada (Discord)", url, True)


async def test_the_emoji_wins_over_the_picture(desk: Desk) -> None:
    answer = await desk.call(
        "chat.postMessage", channel=GENERAL, text="hi", icon_emoji="ghost", icon_url="https://x"
    )

    assert answer["message"]["icons"] == {"emoji": ":ghost:"}


async def test_a_custom_username_without_the_scope_is_ignored(desk: Desk) -> None:
    desk.without("chat:write.customize")

    answer = await desk.call("chat.postMessage", channel=GENERAL, text="hi", username="Ada")

    assert answer["ok"]
    assert "username" not in answer["message"]
    assert answer["message"]["user"] == "U0ACMEBOT1"


async def test_a_missing_scope_is_named_in_the_error(desk: Desk) -> None:
    desk.app.scopes = frozenset({"users:read", "im:read"})

    assert await desk.call("chat.postMessage", channel=GENERAL, text="hi") == {
        "ok": False,
        "error": "missing_scope",
        "needed": "chat:write",
        "provided": "im:read,users:read",
    }
    assert desk.context.feed.refusals == {"slack:missing_scope:chat.postMessage": 1}


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "invalid_arguments"),
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": ELSEWHERE, "text": "x"}, "channel_not_found"),
        ({"channel": QUIET, "text": "x"}, "not_in_channel"),
        ({"channel": ATTIC, "text": "x"}, "is_archived"),
        ({"channel": GENERAL}, "no_text"),
        ({"channel": GENERAL, "text": " \n"}, "no_text"),
        ({"channel": GENERAL, "text": {"not": "text"}}, "invalid_arguments"),
        ({"channel": GENERAL, "text": "x", "thread_ts": "0"}, "invalid_thread_ts"),
        ({"channel": GENERAL, "text": "x", "blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"channel": GENERAL, "text": "x", "blocks": "[{"}, "invalid_blocks_format"),
        ({"channel": GENERAL, "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"channel": GENERAL, "blocks": ["divider"]}, "invalid_blocks"),
        ({"channel": GENERAL, "attachments": [{}] * 101}, "too_many_attachments"),
        ({"channel": GENERAL, "attachments": [1]}, "invalid_attachments"),
        ({"channel": GENERAL, "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"channel": GENERAL, "markdown_text": "y" * 12_001}, "msg_too_long"),
        (
            {"channel": GENERAL, "text": "x", "metadata": {"event_type": 1}},
            "invalid_metadata_format",
        ),
        ({"channel": GENERAL, "text": "x", "metadata": "no"}, "invalid_metadata_format"),
        ({"channel": GENERAL, "text": "x", "metadata": HUGE_METADATA}, "metadata_too_large"),
    ],
)
async def test_posts_that_slack_refuses_are_refused(desk: Desk, args: Json, error: str) -> None:
    assert await desk.error("chat.postMessage", **args) == error
    assert desk.changes == []


async def test_a_block_error_has_a_json_pointer(desk: Desk) -> None:
    message = "missing required field: type [json-pointer:/blocks/1]"

    assert await desk.call(
        "chat.postMessage", channel=GENERAL, blocks=[{"type": "divider"}, {}]
    ) == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": [message],
        "response_metadata": {"messages": [f"[ERROR] {message}"]},
    }


async def test_one_message_a_second_is_never_refused(desk: Desk) -> None:
    limits = Limits()
    late = [0.0, 0.4, 0.1, 0.0, 0.3]  # arrival is never quite regular

    waits = [limits.retry_after(n + late[n % 5], ("c", PER_CHANNEL)) for n in range(300)]

    assert waits == [None] * 300


async def test_a_private_channel_is_hidden_from_apps_outside_it(desk: Desk) -> None:
    team = desk.slack.slack.workspaces["T0ACME"]
    private = team.add_channel(Channel("C0ACMEPRIV", "board", "group", team.id, ADA, 0))
    private.members[ADA] = None

    hidden = await desk.error("chat.postMessage", channel="C0ACMEPRIV", text="x")
    private.members["U0ACMEBOT1"] = None
    info = await desk.call("conversations.info", channel="C0ACMEPRIV", include_num_members=True)

    assert hidden == "channel_not_found"
    assert await desk.post(channel="board")
    channel = info["channel"]
    assert (channel["is_private"], channel["is_channel"], channel["num_members"]) == (
        True,
        False,
        2,
    )


async def test_a_text_over_forty_thousand_characters_is_cut(desk: Desk) -> None:
    answer = await desk.call("chat.postMessage", channel=GENERAL, text="x" * 40_001)

    assert len(answer["message"]["text"]) == 40_000
    assert answer["response_metadata"]["warnings"] == ["message_truncated"]


async def test_timestamps_increase_when_the_clock_stops_or_goes_back(
    desk: Desk,
) -> None:
    first, second = await desk.post(), await desk.post()
    desk.clock.now -= 60
    third = await desk.post()
    elsewhere = await desk.post(channel=RANDOM)

    assert (first, second, third) == (
        "1700000000.000000", "1700000000.000100", "1700000000.000200",
    )  # fmt: skip
    assert elsewhere == "1699999940.000000"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json; charset=utf-8", b'{"channel": "C0ACME001", "text": "a b"}'),
        ("application/x-www-form-urlencoded", b"channel=C0ACME001&text=a+b"),
        ("application/x-www-form-urlencoded", b"token=xoxb-sandbox-acme&channel=general&text=a+b"),
    ],
)
async def test_arguments_may_come_as_json_or_as_a_form(
    desk: Desk, content_type: str, body: bytes
) -> None:
    headers = {"Content-Type": content_type}
    if b"token" not in body:
        headers["Authorization"] = f"Bearer {desk.token}"

    answer = await desk.http.post("/slack/api/chat.postMessage", content=body, headers=headers)

    assert (answer.json()["message"]["text"], "warning" in answer.json()) == ("a b", False)


async def test_arguments_may_come_in_the_query_string(desk: Desk) -> None:
    ts = await desk.post()
    headers = {"Authorization": f"Bearer {desk.token}"}

    url = f"/slack/api/chat.delete?channel={GENERAL}&ts={ts}"
    answer = await desk.http.post(url, headers=headers)

    assert answer.json() == {"ok": True, "channel": GENERAL, "ts": ts}


async def test_blocks_in_a_form_are_json_text(desk: Desk) -> None:
    blocks = '[{"type": "divider", "block_id": "d"}]'

    answer = await desk.http.post(
        "/slack/api/chat.postMessage",
        data={"token": desk.token, "channel": GENERAL, "blocks": blocks},
    )

    assert answer.json()["message"]["blocks"] == [{"type": "divider", "block_id": "d"}]


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("chat.postMessage", b"{", "invalid_json"),
        ("chat.postMessage", b"[1]", "json_not_object"),
        ("chat.postMassage", b"{}", "unknown_method"),
        ("chat.postMessage", b"\xff\xfe", "invalid_json"),
        ("conversations.history", b'{"channel": "C0ACME001", "limit": "many"}', "invalid_limit"),
        ("conversations.history", b'{"channel": "C0ACME001", "limit": -1}', "invalid_limit"),
        ("conversations.history", b'{"channel": "C0ACME001", "oldest": "x"}', "invalid_ts_oldest"),
        ("conversations.history", b'{"channel": "C0ACME001", "cursor": "?"}', "invalid_cursor"),
        ("conversations.history", b'{"channel": "C0ACMEQUIET"}', "not_in_channel"),
        ("conversations.replies", b'{"channel": "C0ACME001", "ts": "1.0"}', "thread_not_found"),
        ("conversations.list", b'{"types": "secret"}', "invalid_types"),
        ("conversations.info", b'{"channel": ["C0ACME001"]}', "invalid_arguments"),
        ("users.info", b'{"user": "U404"}', "user_not_found"),
        ("users.lookupByEmail", b'{"email": "no@one"}', "users_not_found"),
        ("bots.info", b'{"bot": "B0GLOBEX01"}', "bot_not_found"),
        ("reactions.add", b'{"channel": "C0ACME001", "timestamp": "1.0"}', "message_not_found"),
        ("chat.postEphemeral", b'{"channel": "C0ACME001", "user": "U404"}', "user_not_in_channel"),
    ],
)
async def test_requests_that_slack_refuses_are_refused(
    desk: Desk, path: str, body: bytes, error: str
) -> None:
    headers = {"Authorization": f"Bearer {desk.token}", "Content-Type": "application/json"}

    answer = await desk.http.post(f"/slack/api/{path}", content=body, headers=headers)

    assert (answer.status_code, answer.json()["ok"], answer.json()["error"]) == (200, False, error)


async def test_a_form_with_an_unknown_content_type_is_refused(desk: Desk) -> None:
    headers = {"Authorization": f"Bearer {desk.token}", "Content-Type": "text/plain"}

    answer = await desk.http.post("/slack/api/auth.test", content=b"x", headers=headers)

    assert answer.json() == {"ok": False, "error": "invalid_post_type"}


async def test_an_inactive_app_is_refused_as_inactive(desk: Desk) -> None:
    desk.app.active = False

    assert await desk.error("auth.test") == "account_inactive"


async def test_json_without_a_charset_is_taken_with_a_warning(desk: Desk) -> None:
    headers = {"Authorization": f"Bearer {desk.token}", "Content-Type": "application/json"}

    answer = await desk.http.post("/slack/api/auth.test", content=b"{}", headers=headers)

    assert answer.json()["warning"] == "missing_charset"


async def test_an_update_replaces_text_and_blocks_and_keeps_other_fields(desk: Desk) -> None:
    metadata = {"event_type": "op", "event_payload": {"id": "1"}}
    ts = await desk.post("old", attachments=[{"text": "kept"}], metadata=metadata)
    desk.clock.now += 90.5

    answer = await desk.call("chat.update", channel=GENERAL, ts=ts, text="new")

    assert answer["text"] == "new"
    message = (await desk.call("conversations.history", channel=GENERAL))["messages"][0]
    assert "metadata" not in message
    assert message["edited"] == {"user": "U0ACMEBOT1", "ts": "1700000090.000000"}
    assert message["attachments"] == [{"id": 1, "text": "kept", "fallback": "kept"}]
    whole = await desk.call("conversations.history", channel=GENERAL, include_all_metadata=True)
    assert whole["messages"][0]["metadata"] == metadata
    assert [(c.kind, c.message.text) for c in desk.changes] == [
        ("posted", "old"),
        ("edited", "new"),
    ]


async def test_only_the_author_may_edit_or_delete(desk: Desk) -> None:
    hers = await desk.says("mine")
    desk.token = "xoxb-sandbox-acme-plain"
    others = await desk.post()
    desk.token = "xoxb-sandbox-acme"

    assert (
        await desk.error("chat.update", channel=GENERAL, ts=hers, text="x") == "cant_update_message"
    )
    assert (
        await desk.error("chat.update", channel=GENERAL, ts=others, text="x")
        == "cant_update_message"
    )
    assert await desk.error("chat.delete", channel=GENERAL, ts=hers) == "cant_delete_message"
    assert await desk.error("chat.delete", channel=GENERAL, ts="1.000000") == "message_not_found"


async def test_an_update_is_refused_when_too_long_or_empty(desk: Desk) -> None:
    ts = await desk.post()

    assert (
        await desk.error("chat.update", channel=GENERAL, ts=ts, text="x" * 4_001) == "msg_too_long"
    )
    assert await desk.error("chat.update", channel=GENERAL, ts=ts) == "no_text"


async def test_a_thread_counts_its_replies(desk: Desk) -> None:
    root = await desk.says("root")
    reply = await desk.post("one", thread_ts=root)
    await desk.says("two", thread=root)
    last = await desk.post("three", thread_ts=reply)

    history = await desk.call("conversations.history", channel=GENERAL)

    parent = history["messages"][0]
    del parent["blocks"], parent["client_msg_id"]
    assert len(history["messages"]) == 1
    assert parent == {
        "type": "message", "ts": root, "text": "root", "user": ADA, "team": "T0ACME",
        "thread_ts": root, "reply_count": 3, "reply_users_count": 2, "latest_reply": last,
        "reply_users": ["U0ACMEBOT1", ADA], "is_locked": False, "subscribed": False,
    }  # fmt: skip
    thread = await desk.call("conversations.replies", channel=GENERAL, ts=last)
    assert [m["text"] for m in thread["messages"]] == ["root", "one", "two", "three"]
    assert thread["messages"][3]["parent_user_id"] == ADA


async def test_a_broadcast_reply_shows_in_the_channel_too(desk: Desk) -> None:
    root = await desk.says("root")

    answer = await desk.call(
        "chat.postMessage", channel=GENERAL, text="all", thread_ts=root, reply_broadcast=True
    )

    assert answer["message"]["subtype"] == "thread_broadcast"
    assert answer["message"]["root"]["text"] == "root"
    history = await desk.call("conversations.history", channel=GENERAL)
    assert [m["text"] for m in history["messages"]] == ["all", "root"]


async def test_a_reply_to_a_deleted_message_is_posted_in_the_channel(desk: Desk) -> None:
    root = await desk.post("gone")
    await desk.call("chat.delete", channel=GENERAL, ts=root)

    answer = await desk.call("chat.postMessage", channel=GENERAL, text="late", thread_ts=root)

    assert answer["ok"]
    assert "thread_ts" not in answer["message"]


async def test_a_deleted_parent_stays_as_a_tombstone_until_its_last_reply_goes(desk: Desk) -> None:
    root = await desk.post("root")
    reply = await desk.post("reply", thread_ts=root)

    await desk.call("chat.delete", channel=GENERAL, ts=root)
    tomb = (await desk.call("conversations.history", channel=GENERAL))["messages"]
    await desk.call("chat.delete", channel=GENERAL, ts=reply)
    after = (await desk.call("conversations.history", channel=GENERAL))["messages"]

    assert [(m["subtype"], m["text"]) for m in tomb] == [("tombstone", "This message was deleted.")]
    assert after == []


async def test_history_is_limited_by_oldest_and_latest(desk: Desk) -> None:
    times = [await desk.post(str(number)) for number in range(5)]

    async def texts(**args: Any) -> list[str]:
        answer = await desk.call("conversations.history", channel=GENERAL, **args)
        return [message["text"] for message in answer["messages"]]

    assert await texts(oldest=times[1], latest=times[3]) == ["2"]
    assert await texts(oldest=times[1], latest=times[3], inclusive=True) == ["3", "2", "1"]
    assert await texts(latest=times[2], inclusive=True, limit=1) == ["2"]
    assert await texts(oldest=times[2], inclusive=True, limit=1) == ["2"]
    assert await texts(limit=2) == ["4", "3"]
    assert await texts(oldest="0", limit=2) == ["4", "3"]


async def test_the_last_history_page_has_no_cursor(desk: Desk) -> None:
    await desk.post()

    answer = await desk.call("conversations.history", channel=GENERAL, limit=1)

    assert len(answer.pop("messages")) == 1
    assert answer == {
        "ok": True, "has_more": False, "pin_count": 0,
        "channel_actions_ts": None, "channel_actions_count": 0,
    }  # fmt: skip


async def test_a_cursor_stays_valid_after_a_deletion(desk: Desk) -> None:
    times = [await desk.post(str(number)) for number in range(4)]
    first = await desk.call("conversations.history", channel=GENERAL, limit=2)
    await desk.call("chat.delete", channel=GENERAL, ts=times[1])

    cursor = first["response_metadata"]["next_cursor"]
    second = await desk.call("conversations.history", channel=GENERAL, limit=2, cursor=cursor)

    assert [m["text"] for m in second["messages"]] == ["0"]


async def test_channels_are_listed_with_membership(desk: Desk) -> None:
    listed = await desk.call("conversations.list", limit=4, exclude_archived=True)

    facts = [(c["name"], c["is_member"], c["num_members"]) for c in listed["channels"]]
    assert facts == [
        ("general", True, 6),
        ("random", True, 6),
        ("help", True, 6),
        ("quiet", False, 4),
    ]
    assert listed["response_metadata"] == {"next_cursor": ""}
    first = await desk.call("conversations.list", limit=1)
    cursor = first["response_metadata"]["next_cursor"]
    second = await desk.call("conversations.list", limit=1, cursor=cursor)
    assert [c["name"] for c in first["channels"] + second["channels"]] == ["general", "random"]


async def test_a_bot_joins_a_channel_once(desk: Desk) -> None:
    joined = await desk.call("conversations.join", channel=QUIET)
    again = await desk.call("conversations.join", channel=QUIET)

    assert (joined["channel"]["is_member"], "warning" in joined) == (True, False)
    assert again["warning"] == "already_in_channel"
    assert await desk.post(channel=QUIET)
    assert [c.message.text for c in desk.changes] == ["@Bridge has joined the channel", "hello"]
    line = desk.changes[0].message.id
    reply = {"channel": QUIET, "text": "x", "thread_ts": line}
    assert await desk.error("chat.postMessage", **reply) == "cannot_reply_to_message"


async def test_direct_messages_open_with_a_person(desk: Desk) -> None:
    opened = await desk.call("conversations.open", users=ADA, return_im=True)
    posted = await desk.call("chat.postMessage", channel=ADA, text="psst")

    assert opened["channel"]["user"] == ADA
    assert posted["channel"] == opened["channel"]["id"]
    desk.token = "xoxb-sandbox-acme-plain"
    assert (
        await desk.error("conversations.history", channel=posted["channel"]) == "channel_not_found"
    )


async def test_user_profiles_have_names_pictures_and_email_addresses(desk: Desk) -> None:
    by_email = await desk.call("users.lookupByEmail", email="Ada@acme.example")
    listed = await desk.call("users.list")
    desk.without("users:read.email")
    plain = await desk.call("users.info", user=ADA)

    assert (by_email["user"]["id"], by_email["user"]["profile"]["display_name"]) == (
        ADA,
        "Ada Park",
    )
    assert "email" not in plain["user"]["profile"]
    assert [m["name"] for m in listed["members"]] == [
        "ada",
        "ben",
        "chloe",
        "dev",
        "bridge",
        "plain",
    ]
    picture = await desk.http.get(by_email["user"]["profile"]["image_72"])
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert ">AP</text>" in picture.text


async def test_reactions_are_counted_by_name(desk: Desk) -> None:
    ts = await desk.says("nice")
    arguments = {"channel": GENERAL, "timestamp": ts, "name": "tada"}

    assert await desk.call("reactions.add", **arguments) == {"ok": True}
    assert await desk.error("reactions.add", **arguments) == "already_reacted"
    got = await desk.call("reactions.get", channel=GENERAL, timestamp=ts)
    assert got["message"]["reactions"] == [{"name": "tada", "users": ["U0ACMEBOT1"], "count": 1}]
    assert await desk.call("reactions.remove", **arguments) == {"ok": True}
    assert await desk.error("reactions.remove", **arguments) == "no_reaction"
    assert (
        await desk.error("reactions.add", **(arguments | {"name": "no spaces"})) == "invalid_name"
    )


async def test_a_message_takes_twenty_three_kinds_of_emoji(desk: Desk) -> None:
    ts = await desk.post()
    for number in range(23):
        await desk.call("reactions.add", channel=GENERAL, timestamp=ts, name=f"e{number}")

    error = await desk.error("reactions.add", channel=GENERAL, timestamp=ts, name="e23")

    assert error == "too_many_emoji"


async def test_a_permalink_has_the_thread_timestamp(desk: Desk) -> None:
    root = await desk.post()
    reply = await desk.post(thread_ts=root)

    link = await desk.call("chat.getPermalink", channel=GENERAL, message_ts=reply)

    assert link["permalink"] == (
        f"https://acme.slack.com/archives/{GENERAL}/p1700000000000100"
        f"?thread_ts={root}&cid={GENERAL}"
    )


async def test_ephemeral_messages_are_not_stored(desk: Desk) -> None:
    answer = await desk.call("chat.postEphemeral", channel=GENERAL, user=ADA, text="for you")

    assert answer == {"ok": True, "message_ts": "1700000000.000000"}
    assert desk.changes == []


async def test_a_rate_limited_method_answers_429(desk: Desk) -> None:
    desk.context.limits.on = True
    for _ in range(20):
        assert (await desk.call("users.list"))["ok"]

    headers = {"Authorization": f"Bearer {desk.token}"}
    answer = await desk.http.post("/slack/api/users.list", headers=headers)

    assert (answer.status_code, answer.json()) == (429, {"ok": False, "error": "ratelimited"})
    assert 55 <= int(answer.headers["retry-after"]) <= 60
    assert desk.context.feed.refusals == {"slack:429:users.list": 1}


async def test_typed_text_is_shown_to_people_unchanged(desk: Desk) -> None:
    typed = "@Ben Ortiz see #random & <b>, @here https://example.com/?a=1&b=2."
    await desk.says(typed)

    message = (await desk.call("conversations.history", channel=GENERAL))["messages"][0]

    assert message["text"] == (
        "<@U0ACME02> see <#C0ACME002|> &amp; &lt;b&gt;, <!here> <https://example.com/?a=1&amp;b=2>."
    )
    assert desk.changes[0].message.text == typed
    assert desk.changes[0].message.time == "2023-11-14T22:13:20.000000+00:00"

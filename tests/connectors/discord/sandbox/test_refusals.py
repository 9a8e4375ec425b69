"""Requests that Discord refuses, with status, code and nested errors."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.connectors.discord.sandbox.running import Running


def fault(path: str, code: str, message: str) -> dict[str, Any]:
    """The body of a 50035 response with one error."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for step in reversed(path.split(".")):
        errors = {step: errors}
    return {"message": "Invalid Form Body", "code": 50035, "errors": errors}


class Prepared:
    """A channel with a message of a person, a message of the bot, a thread and a webhook."""

    def __init__(self, local: Running) -> None:
        self.local = local
        self.names: dict[str, str] = {}

    async def prepare(self) -> None:
        local = self.local
        theirs = await local.say("theirs")
        _, own, _ = await local.ask(
            "POST", f"/channels/{local.channel}/messages", {"content": "own"}
        )
        threaded = await local.say("threaded")
        await local.say("in thread", thread=threaded.id)
        _, hook, _ = await local.ask(
            "POST", f"/channels/{local.channel}/webhooks", {"name": "hook"}
        )
        _, idea, _ = await local.ask(
            "POST", f"/channels/{local.app()['forums'][local.guild]}/webhooks", {"name": "ideas"}
        )  # fmt: skip
        _, dm, _ = await local.ask("POST", "/users/@me/channels", {"recipient_id": local.person})
        in_dm = await local.discord.post_as("@me", dm["id"], local.person, "psst")
        self.names = {
            "CHANNEL": local.channel, "GUILD": local.guild, "PERSON": local.person,
            "HIDDEN": local.app()["no_access"][local.guild], "FORUM": idea["channel_id"],
            "THEIRS": theirs.id, "OWN": own["id"], "THREADED": threaded.id,
            "HOOK": f"{hook['id']}/{hook['token']}", "HOOK_ID": hook["id"],
            "IDEAS": f"{idea['id']}/{idea['token']}", "DM": dm["id"], "IN_DM": in_dm.id,
            "PLAIN": local.app("plain")["bot_id"],
        }  # fmt: skip

    def fill(self, text: str) -> str:
        for name in sorted(self.names, key=len, reverse=True):
            text = text.replace("{" + name + "}", self.names[name])
        return text


@pytest.fixture
async def prepared(local: Running) -> Prepared:
    world = Prepared(local)
    await world.prepare()
    return world


UNAUTHORIZED = {"message": "401: Unauthorized", "code": 0}
POSTS = "/channels/{CHANNEL}/messages"
EMPTY = {"message": "Cannot send an empty message", "code": 50006}
ACCESS = {"message": "Missing Access", "code": 50001}
PERMISSIONS = {"message": "Missing Permissions", "code": 50013}
UNKNOWN_CHANNEL = {"message": "Unknown Channel", "code": 10003}
UNKNOWN_MESSAGE = {"message": "Unknown Message", "code": 10008}
TOO_LONG = fault("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")

AS_THE_BRIDGE: list[tuple[str, str, Any, int, dict[str, Any]]] = [
    # nothing there
    ("GET", "/nonsense", None, 404, {"message": "404: Not Found", "code": 0}),
    ("PUT", "/users/@me", None, 405, {"message": "405: Method Not Allowed", "code": 0}),
    ("GET", "/channels/1", None, 404, UNKNOWN_CHANNEL),
    ("GET", "/guilds/1", None, 404, {"message": "Unknown Guild", "code": 10004}),
    ("GET", "/users/1", None, 404, {"message": "Unknown User", "code": 10013}),
    ("GET", "/guilds/{GUILD}/members/1", None, 404, {"message": "Unknown Member", "code": 10007}),
    ("GET", POSTS + "/1", None, 404, UNKNOWN_MESSAGE),
    ("GET", "/webhooks/1", None, 404, {"message": "Unknown Webhook", "code": 10015}),
    ("POST", "/webhooks/1/x", {"content": "x"}, 404, {"message": "Unknown Webhook", "code": 10015}),
    (
        "POST", "/webhooks/{HOOK_ID}/wrong", {"content": "x"}, 401,
        {"message": "Invalid Webhook Token", "code": 50027},
    ),
    (
        "GET", "/channels/abc", None, 400,
        fault("channel_id", "NUMBER_TYPE_COERCE", 'Value "abc" is not snowflake.'),
    ),
    # no access
    ("GET", "/channels/{HIDDEN}", None, 403, ACCESS),
    ("GET", "/channels/{HIDDEN}/messages", None, 403, ACCESS),
    ("POST", "/channels/{HIDDEN}/messages", {"content": "x"}, 403, ACCESS),
    # posts
    ("POST", POSTS, {}, 400, EMPTY),
    ("POST", POSTS, {"content": " \n "}, 400, EMPTY),
    ("POST", POSTS, {"content": "x" * 2001}, 400, TOO_LONG),
    (
        "POST", POSTS, {"content": {}}, 400,
        fault("content", "STRING_TYPE_CONVERT", 'Could not interpret "{}" as string.'),
    ),
    (
        "POST", POSTS, [], 400,
        {"message": "Invalid Form Body", "code": 50035, "errors": {"_errors": [
            {"code": "DICT_TYPE_CONVERT", "message": "Only dictionaries may be used in a DictType"},
        ]}},
    ),
    (
        "POST", POSTS, {"content": "x", "embeds": [{"title": "x" * 257}]}, 400,
        fault("embeds.0.title", "BASE_TYPE_MAX_LENGTH", "Must be 256 or fewer in length."),
    ),
    (
        "POST", POSTS, {"embeds": [{"description": "x" * 4000}] * 2}, 400,
        fault("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000"),
    ),
    (
        "POST", POSTS, {"content": "x", "nonce": "x" * 26}, 400,
        fault("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."),
    ),
    (
        "POST", POSTS, {"content": "x", "message_reference": {"message_id": "1"}}, 400,
        fault("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message"),
    ),
    (
        "POST", POSTS, {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
        400,
        fault(
            "allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
            'parse:["users"] and users: [ids...] are mutually exclusive.',
        ),
    ),
    (
        "POST", "/channels/{FORUM}/messages", {"content": "x"}, 400,
        {"message": "Cannot send messages in a non-text channel", "code": 50008},
    ),
    # history
    (
        "GET", POSTS + "?limit=101", None, 400,
        fault("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100."),
    ),
    (
        "GET", POSTS + "?before=soon", None, 400,
        fault("before", "NUMBER_TYPE_COERCE", 'Value "soon" is not snowflake.'),
    ),
    # edits and deletes
    (
        "PATCH", POSTS + "/{THEIRS}", {"content": "mine now"}, 403,
        {"message": "Cannot edit a message authored by another user", "code": 50005},
    ),
    ("PATCH", POSTS + "/{OWN}", {"content": ""}, 400, EMPTY),
    ("PATCH", POSTS + "/{OWN}", {"content": "x" * 2001}, 400, TOO_LONG),
    ("PATCH", "/webhooks/{HOOK}/messages/{OWN}", {"content": "x"}, 404, UNKNOWN_MESSAGE),
    ("DELETE", "/webhooks/{HOOK}/messages/{OWN}", None, 404, UNKNOWN_MESSAGE),
    (
        "DELETE", "/channels/{DM}/messages/{IN_DM}", None, 403,
        {"message": "Cannot execute action on a DM channel", "code": 50003},
    ),
    # webhooks
    ("POST", "/webhooks/{HOOK}", {}, 400, EMPTY),
    ("POST", "/webhooks/{HOOK}", {"content": "x" * 2001}, 400, TOO_LONG),
    (
        "POST", "/webhooks/{HOOK}", {"content": "x", "username": "x" * 81}, 400,
        fault("username", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length."),
    ),
    (
        "POST", "/webhooks/{HOOK}", {"content": "x", "username": "A Discord fan"}, 400,
        fault("username", "USERNAME_INVALID_CONTAINS", 'Username cannot contain "discord"'),
    ),
    (
        "POST", "/webhooks/{HOOK}", {"content": "x", "avatar_url": "ftp://x/y"}, 400,
        fault(
            "avatar_url", "URL_TYPE_INVALID_SCHEME",
            "Scheme \"ftp\" is not supported. Scheme must be one of ('http', 'https').",
        ),
    ),
    ("POST", "/webhooks/{HOOK}?thread_id=1", {"content": "x"}, 404, UNKNOWN_CHANNEL),
    (
        "POST", "/webhooks/{HOOK}", {"content": "x", "thread_name": "x"}, 400,
        {"message": "Webhooks can only create threads in forum channels", "code": 220003},
    ),
    (
        "POST", "/webhooks/{IDEAS}", {"content": "x"}, 400,
        {
            "message": "Webhooks posted to forum channels must have a thread_name or thread_id",
            "code": 220001,
        },
    ),
    (
        "POST", "/channels/{CHANNEL}/webhooks", {"name": "Clyde II"}, 400,
        fault("name", "USERNAME_INVALID_CONTAINS", 'Username cannot contain "clyde"'),
    ),
    (
        "POST", "/channels/{CHANNEL}/webhooks", {}, 400,
        fault("name", "BASE_TYPE_REQUIRED", "This field is required"),
    ),
    # threads
    (
        "POST", POSTS + "/{THREADED}/threads", {"name": "again"}, 400,
        {"message": "A thread has already been created for this message", "code": 160004},
    ),
    (
        "POST", POSTS + "/{OWN}/threads", {"name": "x" * 101}, 400,
        fault("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."),
    ),
    (
        "POST", "/channels/{DM}/threads", {"name": "x"}, 400,
        {"message": "Cannot execute action on this channel type", "code": 50024},
    ),
    # the rest
    (
        "PUT", POSTS + "/{OWN}/reactions/nonsense/@me", None, 400,
        {"message": "Unknown Emoji", "code": 10014},
    ),
    (
        "POST", "/users/@me/channels", {"recipient_id": "{PLAIN}"}, 403,
        {"message": "Cannot send messages to this user", "code": 50007},
    ),
]  # fmt: skip

AS_A_NARROW_APP: list[tuple[str, str, Any, int, dict[str, Any]]] = [
    ("POST", "/channels/{CHANNEL}/webhooks", {"name": "hook"}, 403, PERMISSIONS),
    ("GET", "/channels/{CHANNEL}/webhooks", None, 403, PERMISSIONS),
    ("DELETE", POSTS + "/{THEIRS}", None, 403, PERMISSIONS),
    ("GET", "/channels/{DM}", None, 403, ACCESS),
    ("GET", "/guilds/{GUILD}/members", None, 403, ACCESS),
]  # fmt: skip


async def test_invalid_requests_of_the_bridges_app_are_refused(prepared: Prepared) -> None:
    await _check(prepared, AS_THE_BRIDGE, "bridge")


async def test_requests_of_an_app_without_permissions_are_refused(prepared: Prepared) -> None:
    await _check(prepared, AS_A_NARROW_APP, "narrow")


async def test_without_a_token_only_webhook_requests_are_accepted(prepared: Prepared) -> None:
    cases = [("GET", "/users/@me", None, 401, UNAUTHORIZED)]
    await _check(prepared, [*cases, ("POST", POSTS, {"content": "x"}, 401, UNAUTHORIZED)], None)

    path = prepared.fill("/webhooks/{HOOK}")
    assert (await prepared.local.ask("POST", path, {"content": "x"}, app=None))[0] == 204


async def test_a_channel_takes_fifteen_webhooks(local: Running) -> None:
    path = f"/channels/{local.channel}/webhooks"
    answers = [await local.ask("POST", path, {"name": f"w{n}"}) for n in range(16)]

    assert [status for status, _, _ in answers] == [200] * 15 + [400]
    assert answers[-1][1] == {
        "message": "Maximum number of webhooks reached (15)",
        "code": 30007,
    }


async def test_another_apps_webhook_shows_no_token(local: Running) -> None:
    path = f"/channels/{local.channel}/webhooks"
    await local.ask("POST", path, {"name": "ours"})

    _, own, _ = await local.ask("GET", path)
    _, webhook, _ = await local.ask("GET", path, app="plain")

    assert len(own[0]["token"]) == 68
    assert "token" not in webhook[0]


async def test_a_body_that_is_not_json_is_refused(local: Running) -> None:
    url = f"{local.context.base_url}/discord/api/v10/channels/{local.channel}/messages"
    headers = {"Authorization": f"Bot {local.app()['token']}", "Content-Type": "application/json"}
    async with local.http.post(url, data=b"{", headers=headers) as response:
        assert await response.json() == {
            "message": "The request body contains invalid JSON.",
            "code": 50109,
        }


async def test_a_body_that_is_too_large_is_refused(local: Running) -> None:
    url = f"{local.context.base_url}/discord/api/v10/channels/{local.channel}/messages"
    headers = {"Authorization": f"Bot {local.app()['token']}"}
    async with local.http.post(url, data=io.BytesIO(bytes(26 << 20)), headers=headers) as response:
        assert (response.status, await response.json()) == (
            413, {"message": "Request entity too large", "code": 40005},
        )  # fmt: skip


async def test_responses_have_the_content_type_that_discord_py_expects(local: Running) -> None:
    _, _, headers = await local.ask("GET", "/users/@me")

    assert headers["Content-Type"] == "application/json"


async def _check(
    prepared: Prepared, cases: list[tuple[str, str, Any, int, dict[str, Any]]], app: str | None
) -> None:
    expected: list[Any] = []
    answered: list[Any] = []
    before = prepared.local.texts()
    for method, path, body, status, answer in cases:
        filled = prepared.fill(path)
        filled_body = {k: prepared.fill(v) if isinstance(v, str) else v for k, v in body.items()} \
            if isinstance(body, dict) else body  # fmt: skip
        got, response, _ = await prepared.local.ask(method, filled, filled_body, app=app)
        expected.append((method, path, status, answer))
        answered.append((method, path, got, response))
    assert answered == expected
    assert prepared.local.texts() == before


async def test_a_channel_may_have_a_category(local: Running) -> None:
    path = f"/guilds/{local.guild}/channels"
    _, category, _ = await local.ask("POST", path, {"name": "Our Projects", "type": 4})
    _, created, _ = await local.ask("POST", path, {"name": "one", "parent_id": category["id"]})
    assert (category["name"], created["parent_id"]) == ("Our Projects", category["id"])

    for parent in (local.channel, "1"):
        status, answer, _ = await local.ask("POST", path, {"name": "x", "parent_id": parent})
        assert (status, answer["code"]) == (400, 50035)
        assert "parent_id" in answer["errors"]

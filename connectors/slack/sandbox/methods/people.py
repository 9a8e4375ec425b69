"""auth.*, users.*, bots.*, team.*, apps.*: identities."""

from __future__ import annotations

from connectors.slack.sandbox.methods.call import ApiError, Call, Json, page
from connectors.slack.sandbox.shapes import bot_json, person_json, profile_json
from connectors.slack.sandbox.state import Person


def auth_test(call: Call) -> Json:
    bot = call.workspace.people[call.app.bot_user]
    return {
        "url": f"https://{call.workspace.domain}.slack.com/",
        "team": call.workspace.name,
        "user": bot.handle,
        "team_id": call.workspace.id,
        "user_id": bot.id,
        "bot_id": call.app.bot_id,
        "is_enterprise_install": False,
    }


def api_test(call: Call) -> Json:
    if call.args.has("error"):
        raise ApiError(call.args.text("error"), args=call.args.values)
    return {"args": call.args.values}


def open_connection(call: Call) -> Json:
    return {"url": call.sockets.open(call.app)}


def user_info(call: Call) -> Json:
    person = _person(call, call.args.required("user"))
    return {"user": _shape(call, person)}


def user_profile(call: Call) -> Json:
    person = _person(call, call.args.text("user") or call.app.bot_user)
    email = "users:read.email" in call.app.scopes
    return {"profile": profile_json(person, call.workspace.id, email=email)}


def list_users(call: Call) -> Json:
    """All people, page by page; without `limit` in one page."""
    people = list(call.workspace.people.values())
    chosen, cursor = page(call, people, max(len(people), 1), 1000)
    return {
        "members": [_shape(call, person) for person in chosen],
        "cache_ts": int(call.changes.now()),
        "response_metadata": {"next_cursor": cursor},
    }


def list_groups(call: Call) -> Json:
    """User groups (docs: methods/usergroups.list), with their members if `include_users` is set."""
    users = call.args.text("include_users") in ("true", "1")
    groups: list[Json] = []
    for own_id, (handle, members) in call.workspace.groups.items():
        named = {"id": own_id, "name": handle, "handle": handle, "user_count": len(members)}
        details = {"users": list(members)} if users else {}
        groups.append({**named, "team_id": call.workspace.id, "is_usergroup": True, **details})
    return {"usergroups": groups}


def lookup_by_email(call: Call) -> Json:
    email = call.args.required("email").lower()
    for person in call.workspace.people.values():
        if person.email == email:
            return {"user": _shape(call, person)}
    raise ApiError("users_not_found")


def bot_info(call: Call) -> Json:
    app = call.slack.bots.get(call.args.text("bot") or call.app.bot_id)
    if app is None or app.team != call.workspace.id:
        raise ApiError("bot_not_found")
    return {"bot": bot_json(app)}


def team_info(call: Call) -> Json:
    team = call.workspace
    if call.args.text("team") not in ("", team.id):
        raise ApiError("team_not_found")
    icon = f"{call.base_url}/slack/avatars/{team.id}.svg"
    icons = {f"image_{size}": icon for size in (34, 44, 68, 88, 102, 132, 230)}
    return {
        "team": {
            "id": team.id, "name": team.name, "domain": team.domain, "email_domain": "",
            "url": f"https://{team.domain}.slack.com/", "icon": icons | {"image_default": True},
            "avatar_base_url": f"{call.base_url}/slack/avatars/", "is_verified": False,
        }
    }  # fmt: skip


def _person(call: Call, user: str) -> Person:
    person = call.workspace.people.get(user)
    if person is None:
        raise ApiError("user_not_found")
    return person


def _shape(call: Call, person: Person) -> Json:
    return person_json(person, call.workspace.id, email="users:read.email" in call.app.scopes)

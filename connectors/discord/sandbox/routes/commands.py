"""REST: an application's global commands. Only chat input, with text options.

Source: Discord docs, "Application Commands" (2026-08).
"""

from __future__ import annotations

import re
from typing import Any

from connectors.discord.sandbox.call import Answer, Call, Created, Route
from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.errors import ApiError, missing_access, unknown_command
from connectors.discord.sandbox.shapes import Json

CHAT_INPUT, TEXT_OPTION = 1, 3
MAX_COMMANDS, MAX_OPTIONS = 100, 25
_NAME = re.compile(r"[-_\w]{1,32}")


def list_commands(call: Call) -> Answer:
    return list(_own_commands(call).values())


def create_command(call: Call) -> Answer:
    """Create a command; one with the same name is overwritten."""
    commands = _own_commands(call)
    form = call.form()
    shape = _read(form)
    form.done()
    existing = next(
        (command for command in commands.values() if command["name"] == shape["name"]), None
    )
    if existing is None and len(commands) >= MAX_COMMANDS:
        raise ApiError(400, 30032, "Maximum number of application commands reached (100)")
    command = _stored_command(call, shape, existing)
    commands[int(command["id"])] = command
    return command if existing else Created(command)


def overwrite_commands(call: Call) -> Answer:
    """Replace all commands; a command that keeps its name keeps its id."""
    registered = _own_commands(call)
    form = call.list_form()
    shapes = [_read(item) for item in form]
    for item in form:
        item.done()
    by_name = {command["name"]: command for command in registered.values()}
    commands = [_stored_command(call, shape, by_name.get(shape["name"])) for shape in shapes]
    registered.clear()
    registered.update({int(command["id"]): command for command in commands})
    return commands


def delete_command(call: Call) -> Answer:
    if _own_commands(call).pop(call.id("command_id"), None) is None:
        raise unknown_command()


def _own_commands(call: Call) -> dict[int, Json]:
    if call.id("application_id") != call.app.id:
        raise missing_access()
    return call.app.commands


def _stored_command(call: Call, shape: Json, existing: Json | None) -> Json:
    own_id = existing["id"] if existing else str(call.state.ids.next())
    facts = {
        "id": own_id, "application_id": str(call.app.id), "default_member_permissions": None,
        "nsfw": False, "name_localizations": None, "description_localizations": None,
    }  # fmt: skip
    same = existing is not None and all(
        existing.get(name) == value for name, value in shape.items()
    )
    version = existing["version"] if same and existing else str(call.state.ids.next())
    return facts | shape | {"version": version}


def _read(form: Form) -> Json:
    name = form.text("name", max_length=32, min_length=1, required=True) or ""
    if name and (not _NAME.fullmatch(name) or name != name.lower()):
        form.fail("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    shape: Json = {
        "name": name,
        "description": form.text("description", max_length=100, min_length=1, required=True),
        "type": form.choice("type", (CHAT_INPUT,), CHAT_INPUT),
        "contexts": form.body.get("contexts"),
        "integration_types": form.body.get("integration_types") or [0],
        "dm_permission": form.body.get("dm_permission", True),
    }
    options = form.objects("options", MAX_OPTIONS) or []
    if options:
        shape["options"] = [_option(form, index, option) for index, option in enumerate(options)]
    return shape


def _option(form: Form, index: int, option: dict[str, Any]) -> Json:
    option_form = Form(option)
    shape: Json = {
        "type": option_form.choice("type", (TEXT_OPTION,), 0),
        "name": option_form.text("name", max_length=32, min_length=1, required=True),
        "description": option_form.text("description", max_length=100, min_length=1, required=True),
    }
    if option_form.flag("required"):
        shape["required"] = True
    if option_form.errors:
        form.errors.setdefault("options", {})[str(index)] = option_form.errors
    return shape


_ALL, _BY_ID = "/applications/{application_id}/commands", "/{command_id}"
COMMAND_ROUTES = [
    Route("GET", _ALL, "commands.list", list_commands),
    Route("POST", _ALL, "commands.create", create_command),
    Route("PUT", _ALL, "commands.overwrite", overwrite_commands),
    Route("DELETE", _ALL + _BY_ID, "commands.delete", delete_command),
]

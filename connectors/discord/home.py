"""A Discord message, or a bare list of components or embeds -> what may be sent again. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from connectors.discord.capabilities import READ_ONLY

_COMPONENTS_V2 = 1 << 15
_FIRST_OF_V2 = 9  # a section; 1 to 8 are rows, buttons, menus and text inputs


def without_read_only(native: JsonValue) -> JsonValue:
    """The same JSON, less what Discord fills in itself."""
    match native:
        case dict():
            return {key: value for key, value in native.items() if key not in READ_ONLY}
        case [{"type": int()}, *_]:
            flags: dict[str, JsonValue] = {"flags": _COMPONENTS_V2} if _is_v2(native) else {}
            return {**flags, "components": native}
        case list():
            return {"embeds": native}
        case _:
            return native


def _is_v2(components: list[JsonValue]) -> bool:
    return any(_type_of(one) >= _FIRST_OF_V2 for one in components)


def _type_of(component: JsonValue) -> int:
    match component:
        case {"type": int() as kind}:
            return kind
        case _:
            return 0

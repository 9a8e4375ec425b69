"""A Discord message, or a bare list of components or embeds -> the JSON to post again. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from connectors.discord.capabilities import READ_ONLY

_COMPONENTS_V2 = 1 << 15
_NO_PINGS: dict[str, JsonValue] = {"allowed_mentions": {"parse": []}}
_MESSAGE_KEYS = frozenset({"content", "embeds", "components", "poll", "sticker_ids"})
_OTHER_KEYS = frozenset({"custom_id", "title", "d", "data", "accent_color", "accessory"})
_FIRST_OF_V2 = 9  # a section; 1 to 8 are rows, buttons, menus and text inputs


def without_read_only(native: JsonValue) -> JsonValue:
    """Return the JSON without the fields that Discord fills in itself.

    A list becomes a message. A message without its own `allowed_mentions` pings nobody.
    """
    match native:
        case dict():
            writable = {key: value for key, value in native.items() if key not in READ_ONLY}
            return {**_NO_PINGS, **writable} if _is_message(writable) else writable
        case [{"type": int()}, *_]:
            flags: dict[str, JsonValue] = {"flags": _COMPONENTS_V2} if _is_v2(native) else {}
            return {**_NO_PINGS, **flags, "components": native}
        case list():
            return {**_NO_PINGS, "embeds": native}
        case _:
            return native


def _is_message(native: dict[str, JsonValue]) -> bool:
    """Return whether this is a message, and not a modal, a component or a gateway event."""
    return bool(_MESSAGE_KEYS & native.keys()) and not _OTHER_KEYS & native.keys()


def _is_v2(components: list[JsonValue]) -> bool:
    return any(_type_of(component) >= _FIRST_OF_V2 for component in components)


def _type_of(component: JsonValue) -> int:
    match component:
        case {"type": int() as kind}:
            return kind
        case _:
            return 0

"""The mistakes for which Discord refuses components, embeds and polls: missing members, wrong
types, unknown component types. Data; the writers check lengths and counts.

Source: Discord docs, components/reference, resources/message, resources/poll (2026-08).
"""

from __future__ import annotations

from bridge.content.cards.rendering import Payload
from bridge.content.cards.required import (
    NON_EMPTY,
    TEXT,
    Families,
    Family,
    Kind,
    Members,
    Requirement,
    list_of,
    mistakes_in,
    object_of,
)
from bridge.content.cards.shapes import is_object
from bridge.errors import CodecError
from connectors.discord.cards import schemas


def mistakes(payload: Payload) -> tuple[CodecError, ...]:
    """Return the mistakes of a payload of components (also a modal), embeds or a poll."""
    data, at = payload.data, payload.at
    match payload.schema_id:
        case schemas.COMPONENTS:
            if isinstance(data, dict) and "components" in data and "type" not in data:
                data, at = data["components"], f"{at}/components"
            requirement = _COMPONENT if isinstance(data, dict) else _COMPONENTS
        case schemas.EMBEDS:
            requirement = _EMBED if isinstance(data, dict) else _EMBEDS
        case schemas.POLL:
            requirement = _POLL
        case _:
            return ()
    return mistakes_in(data, requirement, _FAMILIES, at)


# --- values ---------------------------------------------------------------------------------

_OBJECT = Requirement("an object", is_object)
_COMPONENT = object_of("component", "a component: an object with a type")
_COMPONENTS = list_of("component", _COMPONENT.description)
_EMBED = object_of("embed", "an embed: an object")
_EMBEDS = list_of("embed", _EMBED.description)
_POLL = object_of("poll", "a poll: an object with question and answers")
_OPTIONS = list_of("option", "an object with label and value")
_MEDIA = object_of("media", "an object with url")

# --- kinds ----------------------------------------------------------------------------------

_ID: Members = {"custom_id": NON_EMPTY}
_LABELLED: Members = {"label": TEXT, "emoji": _OBJECT}
_VISIBLE = ("label", "emoji")
_PRESSABLE = Kind(_ID, _LABELLED, one_of=_VISIBLE)
_MENU = Kind(_ID, {"placeholder": TEXT})
_CHOICE = Kind({**_ID, "options": _OPTIONS}, {"placeholder": TEXT})
_BOX = Kind({"components": _COMPONENTS})

_FAMILIES: Families = {
    "component": Family("a component", {
        schemas.ACTION_ROW: _BOX,
        schemas.BUTTON: Kind(then="button"),
        schemas.STRING_SELECT: _CHOICE,
        schemas.TEXT_INPUT: Kind(_ID, {"label": TEXT, "placeholder": TEXT, "value": TEXT}),
        schemas.USER_SELECT: _MENU,
        schemas.ROLE_SELECT: _MENU,
        schemas.MENTIONABLE_SELECT: _MENU,
        schemas.CHANNEL_SELECT: _MENU,
        schemas.SECTION: Kind({"components": _COMPONENTS, "accessory": _COMPONENT}),
        schemas.TEXT_DISPLAY: Kind({"content": NON_EMPTY}),
        schemas.THUMBNAIL: Kind({"media": _MEDIA}, {"description": TEXT}),
        schemas.MEDIA_GALLERY: Kind({"items": list_of("item", "an object with media")}),
        schemas.FILE: Kind({"file": _MEDIA}),
        schemas.SEPARATOR: Kind(),
        schemas.CONTAINER: _BOX,
        schemas.LABEL: Kind({"label": NON_EMPTY, "component": _COMPONENT}, {"description": TEXT}),
        schemas.FILE_UPLOAD: Kind(_ID),
        schemas.RADIO_GROUP: _CHOICE,
        schemas.CHECKBOX_GROUP: _CHOICE,
        schemas.CHECKBOX: Kind(_ID),
    }),
    "button": Family("a button", {
        **dict.fromkeys((1, 2, 3, 4), _PRESSABLE),
        schemas.LINK_STYLE: Kind({"url": NON_EMPTY}, _LABELLED, one_of=_VISIBLE),
        schemas.PREMIUM_STYLE: Kind(one_of=("sku_id",)),
    }, by="style"),
    "option": Family("an option", untyped=Kind(
        {"label": NON_EMPTY, "value": TEXT}, {"description": TEXT, "emoji": _OBJECT}
    )),
    "item": Family("an item of a gallery", untyped=Kind({"media": _MEDIA}, {"description": TEXT})),
    "media": Family("a file", untyped=Kind({"url": NON_EMPTY})),
    "embed": Family("an embed", untyped=Kind(
        {},
        {
            **dict.fromkeys(("title", "description", "url", "timestamp"), TEXT),
            "fields": list_of("field", "an object with name and value"),
            "footer": object_of("footer", "an object with text"),
            "author": object_of("author", "an object with name"),
            **dict.fromkeys(("image", "thumbnail", "video", "provider"), _OBJECT),
        },
        one_of=(
            *("title", "description", "fields", "image", "thumbnail", "author", "footer"),
            *("timestamp", "url", "video", "provider"),
        ),
    )),
    "field": Family("a field", untyped=Kind({"name": TEXT, "value": TEXT})),
    "footer": Family("a footer", untyped=Kind({"text": TEXT})),
    "author": Family("an author", untyped=Kind({"name": TEXT})),
    "poll": Family("a poll", untyped=Kind({
        "question": object_of("words", "an object with text"),
        "answers": list_of("answer", "an object with poll_media"),
    })),
    "answer": Family("an answer", untyped=Kind(
        {"poll_media": object_of("media of a poll", "an object with text or emoji")}
    )),
    "media of a poll": Family("an answer", untyped=Kind({}, {"text": TEXT}, ("text", "emoji"))),
    "words": Family("a question", untyped=Kind({"text": NON_EMPTY})),
}  # fmt: skip

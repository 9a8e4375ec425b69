"""Discord's published rules for messages and modals, and the texts that people read. For tests.

Written from the documentation (resources/message, components/reference, 2026-08), independently of
our writer. `faults` names every rule that a body breaks; `read_aloud` returns the visible texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

V2 = 1 << 15
_SETTABLE = 1 << 2 | 1 << 12 | 1 << 13 | V2
_IN_CONTAINER = {1, 9, 10, 12, 13, 14}
_ON_TOP = {*_IN_CONTAINER, 17}
_SELECTS = {3, 5, 6, 7, 8}
_DEFAULTS = {5: {"user"}, 6: {"role"}, 7: {"user", "role"}, 8: {"channel"}}
_MODAL_INPUTS = {3, 4, 5, 6, 7, 8, 19, 21, 22, 23}
_URL = re.compile(r"https?://[^\s/?#.]+\.[^\s/?#]+(?:[/?#][!-~]*)?")
_SNOWFLAKE = re.compile(r"[1-9][0-9]{0,19}")
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


def faults(body: Json, files: Sequence[str] = ()) -> list[str]:
    """Return the rules that a message breaks; `files` are the names of its uploads."""
    return list(_message(body, files))


def modal_faults(data: Json) -> list[str]:
    """Return the rules that a modal breaks."""
    return list(_modal(data))


# --- messages -------------------------------------------------------------------------------


def _message(body: Json, files: Sequence[str]) -> Iterator[str]:
    yield from _unknown_keys(
        body, {"content", "embeds", "components", "flags", "allowed_mentions"}, ""
    )
    if body.get("allowed_mentions") != {"parse": []}:
        yield "may ping"
    flags = body.get("flags", 0)
    if flags & ~_SETTABLE:
        yield f"flags {flags} cannot be set"
    if len(files) > 10:
        yield f"{len(files)} files"
    if len({name.lower() for name in files}) < len(files):
        yield "two files of one name"
    yield from (f"file name {name!r}" for name in files if not _FILE_NAME.fullmatch(name))
    components = body.get("components", [])
    if flags & V2:
        yield from _newer(body, components)
    else:
        yield from _classic(body, components, files)
    yield from _custom_ids(components)
    yield from _references(body, files)


def _newer(body: Json, components: Sequence[Json]) -> Iterator[str]:
    yield from (f"{key} beside components" for key in ("content", "embeds") if body.get(key))
    if not components:
        yield "an empty message"
    if (number := sum(1 for _ in all_components(components))) > 40:
        yield f"{number} components"
    length = sum(
        len(component["content"].strip())
        for component in all_components(components)
        if component["type"] == 10
    )
    if length > 4000:
        yield f"{length} characters of text"
    for index, component in enumerate(components):
        yield from _component(component, _ON_TOP, f"/components/{index}")


def _classic(body: Json, components: Sequence[Json], files: Sequence[str]) -> Iterator[str]:
    content = body.get("content", "")
    if not content.strip() and not body.get("embeds") and not components and not files:
        yield "an empty message"
    if len(content.strip()) > 2000:
        yield f"content of {len(content)} characters"
    yield from _text(content, "/content")
    if len(components) > 5:
        yield f"{len(components)} rows"
    for index, component in enumerate(components):
        yield from _component(component, {1}, f"/components/{index}")
    yield from _embeds(body.get("embeds", []))


def all_components(components: Iterable[Any]) -> Iterator[Any]:
    """Yield all components, nested ones included."""
    for component in components:
        yield component
        yield from all_components(component.get("components", []))
        for key in ("accessory", "component"):
            if key in component:
                yield from all_components([component[key]])


def _custom_ids(components: Sequence[Json]) -> Iterator[str]:
    ids = [
        custom_id["custom_id"]
        for custom_id in all_components(components)
        if "custom_id" in custom_id
    ]
    yield from (
        f"custom_id {custom_id!r} twice" for custom_id in set(ids) if ids.count(custom_id) > 1
    )


def _references(body: Json, files: Sequence[str]) -> Iterator[str]:
    """Yield references to missing files, and files that no component or embed shows."""
    named = set(re.findall(r"url': 'attachment://([^'\"]+)'", repr(body)))
    yield from (f"no file {name!r}" for name in named - set(files))
    if body.get("flags", 0) & V2 or body.get("embeds"):
        yield from (f"unseen file {name!r}" for name in set(files) - named)


# --- components -----------------------------------------------------------------------------


def _component(component: Json, allowed: set[int], at: str) -> Iterator[str]:
    kind = component.get("type")
    if kind not in allowed:
        yield f"{at}: type {kind} has no place here"
    elif kind == 1:
        yield from _row(component, at)
    elif kind == 9:
        yield from _section(component, at)
    elif kind == 17:
        yield from _container(component, at)
    else:
        yield from _LEAVES[kind](component, at)


def _row(row: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(row, {"type", "id", "components"}, at)
    inner = row["components"]
    kinds = {component["type"] for component in inner}
    if not inner or not (
        (kinds <= {2} and len(inner) <= 5) or (len(inner) == 1 and kinds <= _SELECTS)
    ):
        yield f"{at}: a row of {[component['type'] for component in inner]}"
    for index, component in enumerate(inner):
        yield from _component(component, {2, *_SELECTS}, f"{at}/components/{index}")


def _section(section: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(section, {"type", "id", "components", "accessory"}, at)
    if not 1 <= len(section["components"]) <= 3:
        yield f"{at}: {len(section['components'])} texts"
    for index, text_component in enumerate(section["components"]):
        yield from _component(text_component, {10}, f"{at}/components/{index}")
    yield from _component(section["accessory"], {2, 11}, f"{at}/accessory")


def _container(container: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(container, {"type", "id", "components", "accent_color", "spoiler"}, at)
    if not container["components"]:
        yield f"{at}: an empty container"
    yield from _color(container.get("accent_color"), at)
    for index, child in enumerate(container["components"]):
        yield from _component(child, _IN_CONTAINER, f"{at}/components/{index}")


def _button(button: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(
        button,
        {"type", "id", "style", "label", "emoji", "custom_id", "url", "sku_id", "disabled"},
        at,
    )
    style = button["style"]
    needed = {5: "url", 6: "sku_id"}.get(style, "custom_id")
    if not 1 <= style <= 6 or {"custom_id", "url", "sku_id"} & button.keys() != {needed}:
        yield f"{at}: style {style} with {sorted(button)}"
    if style == 6 and {"label", "emoji"} & button.keys():
        yield f"{at}: a premium button with a label"
    if style != 6 and not button.get("label", "").strip() and "emoji" not in button:
        yield f"{at}: neither label nor emoji"
    yield from _length(button, "label", 1, 80, at)
    yield from _length(button, "custom_id", 1, 100, at)
    yield from _emoji(button.get("emoji"), at)
    if "url" in button and (len(button["url"]) > 512 or not _URL.fullmatch(button["url"])):
        yield f"{at}: url {button['url']!r}"


def _string_select(menu: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(
        menu,
        {"type", "id", "custom_id", "options", "placeholder", "min_values", "max_values",
         "disabled", "required"},
        at,
    )  # fmt: skip
    yield from _select(menu, at)
    options = menu["options"]
    yield from _options(options, 1, 25, at)
    maximum = menu.get("max_values", 1)
    if maximum > len(options) or menu.get("min_values", 1) > len(options):
        yield f"{at}: {maximum} of {len(options)} options"
    if sum(1 for option in options if option.get("default")) > maximum:
        yield f"{at}: more defaults than {maximum}"


def _options(options: Sequence[Json], min_count: int, max_count: int, at: str) -> Iterator[str]:
    if not min_count <= len(options) <= max_count:
        yield f"{at}: {len(options)} options"
    values = [option["value"] for option in options]
    if len(set(values)) < len(values):
        yield f"{at}: a value twice"
    for index, option in enumerate(options):
        option_at = f"{at}/options/{index}"
        yield from _unknown_keys(
            option, {"label", "value", "description", "emoji", "default"}, option_at
        )
        yield from _length(option, "label", 1, 100, option_at, needed=True)
        yield from _length(option, "value", 1, 100, option_at, needed=True)
        yield from _length(option, "description", 1, 100, option_at)
        yield from _emoji(option.get("emoji"), option_at)


def _select(menu: Json, at: str) -> Iterator[str]:
    yield from _length(menu, "custom_id", 1, 100, at, needed=True)
    yield from _length(menu, "placeholder", 1, 150, at)
    minimum, maximum = menu.get("min_values", 1), menu.get("max_values", 1)
    if not (0 <= minimum <= 25 and 1 <= maximum <= 25 and minimum <= maximum):
        yield f"{at}: {minimum} to {maximum} values"


def _entity_select(menu: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(
        menu,
        {"type", "id", "custom_id", "placeholder", "min_values", "max_values", "disabled",
         "required", "default_values", "channel_types"},
        at,
    )  # fmt: skip
    yield from _select(menu, at)
    defaults = menu.get("default_values", [])
    if len(defaults) > menu.get("max_values", 1):
        yield f"{at}: {len(defaults)} defaults"
    for default in defaults:
        if (
            not _SNOWFLAKE.fullmatch(default["id"])
            or default["type"] not in _DEFAULTS[menu["type"]]
        ):
            yield f"{at}: default {default}"


def _text_display(component: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(component, {"type", "id", "content"}, at)
    yield from _length(component, "content", 1, 4000, at, needed=True)
    yield from _text(component["content"], at)


def _thumbnail(component: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(component, {"type", "id", "media", "description", "spoiler"}, at)
    yield from _media(component, at)


def _gallery(gallery: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(gallery, {"type", "id", "items"}, at)
    if not 1 <= len(gallery["items"]) <= 10:
        yield f"{at}: {len(gallery['items'])} items"
    for index, item in enumerate(gallery["items"]):
        item_at = f"{at}/items/{index}"
        yield from _unknown_keys(item, {"media", "description", "spoiler"}, item_at)
        yield from _media(item, item_at)


def _media(holder: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(holder["media"], {"url"}, at)
    yield from _media_url(holder["media"]["url"], at)
    yield from _length(holder, "description", 1, 1024, at)


def _file(component: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(component, {"type", "id", "file", "spoiler"}, at)
    if not component["file"]["url"].startswith("attachment://"):
        yield f"{at}: a file elsewhere"


def _separator(component: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(component, {"type", "id", "divider", "spacing"}, at)
    if component.get("spacing", 1) not in (1, 2):
        yield f"{at}: spacing {component['spacing']}"


_LEAVES = {
    2: _button, 3: _string_select, 5: _entity_select, 6: _entity_select, 7: _entity_select,
    8: _entity_select, 10: _text_display, 11: _thumbnail, 12: _gallery, 13: _file, 14: _separator,
}  # fmt: skip


# --- embeds ---------------------------------------------------------------------------------


def _embeds(embeds: Sequence[Json]) -> Iterator[str]:
    if len(embeds) > 10:
        yield f"{len(embeds)} embeds"
    if (total := sum(map(_embed_size, embeds))) > 6000:
        yield f"embeds of {total} characters"
    for index, embed in enumerate(embeds):
        yield from _embed(embed, f"/embeds/{index}")


def _embed_size(embed: Json) -> int:
    texts = [embed.get("title", ""), embed.get("description", "")]
    texts += [embed.get("footer", {}).get("text", ""), embed.get("author", {}).get("name", "")]
    texts += [item[key] for item in embed.get("fields", []) for key in ("name", "value")]
    return sum(len(text.strip()) for text in texts)


def _embed(embed: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(
        embed,
        {"title", "description", "url", "timestamp", "color", "footer", "image", "thumbnail",
         "author", "fields"},
        at,
    )  # fmt: skip
    if not embed.keys() - {"color", "url"}:
        yield f"{at}: an empty embed"
    yield from _length(embed, "title", 1, 256, at)
    yield from _length(embed, "description", 1, 4096, at)
    yield from _color(embed.get("color"), at)
    for key in ("title", "description"):
        yield from _text(embed.get(key, ""), at)
    yield from _part(embed, "footer", "text", 2048, {"icon_url"}, at)
    yield from _part(embed, "author", "name", 256, {"icon_url", "url"}, at)
    for key in ("image", "thumbnail"):
        if key in embed:
            yield from _unknown_keys(embed[key], {"url", "description"}, at)
            yield from _media_url(embed[key]["url"], f"{at}/{key}")
    if "url" in embed and not _URL.fullmatch(embed["url"]):
        yield f"{at}: url {embed['url']!r}"
    if len(embed.get("fields", [])) > 25:
        yield f"{at}: {len(embed['fields'])} fields"
    for index, item in enumerate(embed.get("fields", [])):
        item_at = f"{at}/fields/{index}"
        yield from _unknown_keys(item, {"name", "value", "inline"}, item_at)
        yield from _length(item, "name", 1, 256, item_at, needed=True)
        yield from _length(item, "value", 1, 1024, item_at, needed=True)
        yield from _text(item["value"], item_at)


def _part(
    embed: Json, key: str, text_key: str, maximum: int, urls: set[str], at: str
) -> Iterator[str]:
    part = embed.get(key)
    if part is None:
        return
    yield from _unknown_keys(part, {text_key, *urls}, at)
    yield from _length(part, text_key, 1, maximum, f"{at}/{key}", needed=True)
    for name in urls & part.keys():
        yield from _media_url(part[name], f"{at}/{key}")


# --- modals ---------------------------------------------------------------------------------


def _modal(data: Json) -> Iterator[str]:
    yield from _unknown_keys(data, {"title", "custom_id", "components"}, "")
    yield from _length(data, "title", 1, 45, "", needed=True)
    yield from _length(data, "custom_id", 1, 100, "", needed=True)
    if not 1 <= len(data["components"]) <= 5:
        yield f"{len(data['components'])} components"
    yield from _custom_ids(data["components"])
    for index, component in enumerate(data["components"]):
        component_at = f"/components/{index}"
        if component["type"] == 10:
            yield from _text_display(component, component_at)
        elif component["type"] == 18:
            yield from _label(component, component_at)
        else:
            yield f"{component_at}: type {component['type']} has no place here"


def _label(label: Json, at: str) -> Iterator[str]:
    yield from _unknown_keys(label, {"type", "id", "label", "description", "component"}, at)
    yield from _length(label, "label", 1, 45, at, needed=True)
    yield from _length(label, "description", 1, 100, at)
    inner = label["component"]
    kind = inner["type"]
    if kind not in _MODAL_INPUTS or "disabled" in inner:
        yield f"{at}: {inner} has no place here"
    elif kind in (3, 5, 6, 7, 8):
        yield from _LEAVES[kind](inner, f"{at}/component")
    else:
        yield from _modal_input(inner, f"{at}/component")


def _modal_input(component: Json, at: str) -> Iterator[str]:
    yield from _length(component, "custom_id", 1, 100, at, needed=True)
    kind = component["type"]
    if kind == 4:
        yield from _text_input(component, at)
    elif kind == 19:
        yield from _unknown_keys(
            component,
            {"type", "id", "custom_id", "min_values", "max_values", "required", "file_types"},
            at,
        )
        minimum, maximum = component.get("min_values", 1), component.get("max_values", 1)
        if not (0 <= minimum <= 10 and 1 <= maximum <= 10 and minimum <= maximum):
            yield f"{at}: {minimum} to {maximum} files"
    elif kind == 21:
        yield from _unknown_keys(component, {"type", "id", "custom_id", "options", "required"}, at)
        yield from _options(component["options"], 2, 10, at)
    elif kind == 22:
        keys = {"type", "id", "custom_id", "options", "min_values", "max_values", "required"}
        yield from _unknown_keys(component, keys, at)
        yield from _options(component["options"], 1, 10, at)
        maximum = component.get("max_values", len(component["options"]))
        if not 0 <= component.get("min_values", 1) <= maximum <= len(component["options"]):
            yield f"{at}: values"
    else:
        yield from _unknown_keys(component, {"type", "id", "custom_id", "default"}, at)


def _text_input(component: Json, at: str) -> Iterator[str]:
    keys = {"type", "id", "custom_id", "style", "min_length", "max_length", "required", "value"}
    yield from _unknown_keys(component, {*keys, "placeholder"}, at)
    yield from _length(component, "placeholder", 1, 100, at)
    yield from _length(component, "value", 1, 4000, at)
    minimum, maximum = component.get("min_length", 0), component.get("max_length", 4000)
    if component["style"] not in (1, 2) or not (0 <= minimum <= 4000 and 1 <= maximum <= 4000):
        yield f"{at}: style {component['style']}, {minimum} to {maximum}"
    if minimum > maximum or (
        "value" in component and not minimum <= len(component["value"]) <= maximum
    ):
        yield f"{at}: a value outside of {minimum} to {maximum}"


# --- small ----------------------------------------------------------------------------------


def _unknown_keys(body: Json, keys: set[str], at: str) -> Iterator[str]:
    yield from (f"{at}: unknown {key!r}" for key in sorted(body.keys() - keys))


def _length(
    body: Json, key: str, minimum: int, maximum: int, at: str, *, needed: bool = False
) -> Iterator[str]:
    value = body.get(key)
    if value is None:
        if needed or key in body:
            yield f"{at}: no {key}"
    elif not minimum <= len(value.strip()) <= maximum:
        yield f"{at}: {key} of {len(value)} characters"


# Code is read before all else but escapes: a run of ticks up to the next run of as many.
_CODE = re.compile(r"\\.|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)


def _text(value: str, at: str) -> Iterator[str]:
    """Yield mentions and invalid characters in a text with markup.

    `allowed_mentions` notify nobody here. Labels, placeholders and other plain texts show `<@1>`
    as these characters.
    """
    if "\ud800" <= max(value, default="") <= "\udfff" or re.search(
        "[\x00-\x08\ud800-\udfff]", value
    ):
        yield f"{at}: characters that are none"
    visible = _CODE.sub("", value)
    if mention := re.search(r"<@[!&]?\d+>", visible):
        yield f"{at}: mentions {mention[0]}"


def _emoji(emoji: Json | None, at: str) -> Iterator[str]:
    if emoji is not None:
        yield from _unknown_keys(emoji, {"id", "name", "animated"}, at)
        yield from _length(emoji, "name", 1, 32, at, needed=True)
        if ":" in emoji["name"] or emoji["name"].isascii():
            yield f"{at}: emoji {emoji['name']!r}"


def _color(color: int | None, at: str) -> Iterator[str]:
    if color is not None and not 0 <= color <= 0xFFFFFF:
        yield f"{at}: colour {color}"


def _media_url(url: str, at: str) -> Iterator[str]:
    if not url.startswith("attachment://") and (len(url) > 2048 or not _URL.fullmatch(url)):
        yield f"{at}: url {url!r}"


# --- visible texts --------------------------------------------------------------------------


def read_aloud(body: Json) -> str:
    """Return every text that people read in a message, in Discord's order."""
    return "\n".join(_visible_texts(body))


def _visible_texts(body: Json) -> Iterator[str]:
    yield body.get("content", "")
    for embed in body.get("embeds", []):
        yield from _texts_of_embed(embed)
    for component in body.get("components", []):
        yield from _texts_of_component(component)


def _texts_of_embed(embed: Json) -> Iterator[str]:
    author, footer = embed.get("author", {}), embed.get("footer", {})
    yield from (author.get("name", ""), author.get("url", ""), embed.get("title", ""))
    yield from (embed.get("url", ""), embed.get("thumbnail", {}).get("description", ""))
    yield embed.get("description", "")
    for item in embed.get("fields", []):
        yield from (item["name"], item["value"])
    yield embed.get("image", {}).get("description", "")
    yield footer.get("text", "")


def _texts_of_component(component: Json) -> Iterator[str]:
    """Yield a component's own texts, then those of its children."""
    yield component.get("emoji", {}).get("name", "")
    for key in ("label", "placeholder", "content", "description", "value", "url"):
        yield component.get(key, "")
    yield component.get("file", {}).get("url", "").removeprefix("attachment://")
    for option in component.get("options", []):
        yield option.get("emoji", {}).get("name", "")
        yield from (option["label"], option.get("description", ""))
    yield from (item.get("description", "") for item in component.get("items", []))
    for inner in component.get("components", []):
        yield from _texts_of_component(inner)
    for key in ("accessory", "component"):
        if key in component:
            yield from _texts_of_component(component[key])

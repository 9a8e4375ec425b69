"""Discord's published rules for what may be sent, and what of it people read. For tests.

Written from the documentation (resources/message, components/reference, 2026-08), not from what
our writer does. `faults` names every rule that a body breaks; `read_aloud` says what is seen.
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
_ASKED = {3, 4, 5, 6, 7, 8, 19, 21, 22, 23}
_URL = re.compile(r"https?://[^\s/?#.]+\.[^\s/?#]+(?:[/?#][!-~]*)?")
_SNOWFLAKE = re.compile(r"[1-9][0-9]{0,19}")
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


def faults(body: Json, files: Sequence[str] = ()) -> list[str]:
    """What Discord would refuse in a message; `files` are the names of those sent with it."""
    return list(_message(body, files))


def modal_faults(data: Json) -> list[str]:
    """What Discord would refuse in a modal."""
    return list(_modal(data))


# --- messages -------------------------------------------------------------------------------


def _message(body: Json, files: Sequence[str]) -> Iterator[str]:
    yield from _known(body, {"content", "embeds", "components", "flags", "allowed_mentions"}, "")
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
    if (number := sum(1 for _ in every(components))) > 40:
        yield f"{number} components"
    length = sum(len(one["content"].strip()) for one in every(components) if one["type"] == 10)
    if length > 4000:
        yield f"{length} characters of text"
    for index, one in enumerate(components):
        yield from _component(one, _ON_TOP, f"/components/{index}")


def _classic(body: Json, components: Sequence[Json], files: Sequence[str]) -> Iterator[str]:
    content = body.get("content", "")
    if not content.strip() and not body.get("embeds") and not components and not files:
        yield "an empty message"
    if len(content.strip()) > 2000:
        yield f"content of {len(content)} characters"
    yield from _text(content, "/content")
    if len(components) > 5:
        yield f"{len(components)} rows"
    for index, one in enumerate(components):
        yield from _component(one, {1}, f"/components/{index}")
    yield from _embeds(body.get("embeds", []))


def every(components: Iterable[Any]) -> Iterator[Any]:
    """All components, those within others, too."""
    for component in components:
        yield component
        yield from every(component.get("components", []))
        for key in ("accessory", "component"):
            if key in component:
                yield from every([component[key]])


def _custom_ids(components: Sequence[Json]) -> Iterator[str]:
    ids = [one["custom_id"] for one in every(components) if "custom_id" in one]
    yield from (f"custom_id {one!r} twice" for one in set(ids) if ids.count(one) > 1)


def _references(body: Json, files: Sequence[str]) -> Iterator[str]:
    """Files that nobody sent, and files that a message of the newer kind never shows."""
    named = set(re.findall(r"url': 'attachment://([^'\"]+)'", repr(body)))
    yield from (f"no file {name!r}" for name in named - set(files))
    if body.get("flags", 0) & V2 or body.get("embeds"):
        yield from (f"unseen file {name!r}" for name in set(files) - named)


# --- components -----------------------------------------------------------------------------


def _component(one: Json, allowed: set[int], at: str) -> Iterator[str]:
    kind = one.get("type")
    if kind not in allowed:
        yield f"{at}: type {kind} has no place here"
    elif kind == 1:
        yield from _row(one, at)
    elif kind == 9:
        yield from _section(one, at)
    elif kind == 17:
        yield from _container(one, at)
    else:
        yield from _LEAVES[kind](one, at)


def _row(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "components"}, at)
    inner = one["components"]
    kinds = {each["type"] for each in inner}
    if not inner or not (
        (kinds <= {2} and len(inner) <= 5) or (len(inner) == 1 and kinds <= _SELECTS)
    ):
        yield f"{at}: a row of {[each['type'] for each in inner]}"
    for index, each in enumerate(inner):
        yield from _component(each, {2, *_SELECTS}, f"{at}/components/{index}")


def _section(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "components", "accessory"}, at)
    if not 1 <= len(one["components"]) <= 3:
        yield f"{at}: {len(one['components'])} texts"
    for index, each in enumerate(one["components"]):
        yield from _component(each, {10}, f"{at}/components/{index}")
    yield from _component(one["accessory"], {2, 11}, f"{at}/accessory")


def _container(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "components", "accent_color", "spoiler"}, at)
    if not one["components"]:
        yield f"{at}: an empty container"
    yield from _color(one.get("accent_color"), at)
    for index, each in enumerate(one["components"]):
        yield from _component(each, _IN_CONTAINER, f"{at}/components/{index}")


def _button(one: Json, at: str) -> Iterator[str]:
    yield from _known(
        one,
        {"type", "id", "style", "label", "emoji", "custom_id", "url", "sku_id", "disabled"},
        at,
    )
    style = one["style"]
    needed = {5: "url", 6: "sku_id"}.get(style, "custom_id")
    if not 1 <= style <= 6 or {"custom_id", "url", "sku_id"} & one.keys() != {needed}:
        yield f"{at}: style {style} with {sorted(one)}"
    if style == 6 and {"label", "emoji"} & one.keys():
        yield f"{at}: a premium button with a label"
    if style != 6 and not one.get("label", "").strip() and "emoji" not in one:
        yield f"{at}: neither label nor emoji"
    yield from _length(one, "label", 1, 80, at)
    yield from _length(one, "custom_id", 1, 100, at)
    yield from _emoji(one.get("emoji"), at)
    if "url" in one and (len(one["url"]) > 512 or not _URL.fullmatch(one["url"])):
        yield f"{at}: url {one['url']!r}"


def _string_select(one: Json, at: str) -> Iterator[str]:
    yield from _known(
        one,
        {"type", "id", "custom_id", "options", "placeholder", "min_values", "max_values",
         "disabled", "required"},
        at,
    )  # fmt: skip
    yield from _select(one, at)
    options = one["options"]
    yield from _options(options, 1, 25, at)
    most = one.get("max_values", 1)
    if most > len(options) or one.get("min_values", 1) > len(options):
        yield f"{at}: {most} of {len(options)} options"
    if sum(1 for each in options if each.get("default")) > most:
        yield f"{at}: more defaults than {most}"


def _options(options: Sequence[Json], fewest: int, most: int, at: str) -> Iterator[str]:
    if not fewest <= len(options) <= most:
        yield f"{at}: {len(options)} options"
    values = [each["value"] for each in options]
    if len(set(values)) < len(values):
        yield f"{at}: a value twice"
    for index, each in enumerate(options):
        here = f"{at}/options/{index}"
        yield from _known(each, {"label", "value", "description", "emoji", "default"}, here)
        yield from _length(each, "label", 1, 100, here, needed=True)
        yield from _length(each, "value", 1, 100, here, needed=True)
        yield from _length(each, "description", 1, 100, here)
        yield from _emoji(each.get("emoji"), here)


def _select(one: Json, at: str) -> Iterator[str]:
    yield from _length(one, "custom_id", 1, 100, at, needed=True)
    yield from _length(one, "placeholder", 1, 150, at)
    least, most = one.get("min_values", 1), one.get("max_values", 1)
    if not (0 <= least <= 25 and 1 <= most <= 25 and least <= most):
        yield f"{at}: {least} to {most} values"


def _entity_select(one: Json, at: str) -> Iterator[str]:
    yield from _known(
        one,
        {"type", "id", "custom_id", "placeholder", "min_values", "max_values", "disabled",
         "required", "default_values", "channel_types"},
        at,
    )  # fmt: skip
    yield from _select(one, at)
    defaults = one.get("default_values", [])
    if len(defaults) > one.get("max_values", 1):
        yield f"{at}: {len(defaults)} defaults"
    for each in defaults:
        if not _SNOWFLAKE.fullmatch(each["id"]) or each["type"] not in _DEFAULTS[one["type"]]:
            yield f"{at}: default {each}"


def _text_display(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "content"}, at)
    yield from _length(one, "content", 1, 4000, at, needed=True)
    yield from _text(one["content"], at)


def _thumbnail(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "media", "description", "spoiler"}, at)
    yield from _media(one, at)


def _gallery(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "items"}, at)
    if not 1 <= len(one["items"]) <= 10:
        yield f"{at}: {len(one['items'])} items"
    for index, each in enumerate(one["items"]):
        here = f"{at}/items/{index}"
        yield from _known(each, {"media", "description", "spoiler"}, here)
        yield from _media(each, here)


def _media(one: Json, at: str) -> Iterator[str]:
    yield from _known(one["media"], {"url"}, at)
    yield from _media_url(one["media"]["url"], at)
    yield from _length(one, "description", 1, 1024, at)


def _file(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "file", "spoiler"}, at)
    if not one["file"]["url"].startswith("attachment://"):
        yield f"{at}: a file elsewhere"


def _separator(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "divider", "spacing"}, at)
    if one.get("spacing", 1) not in (1, 2):
        yield f"{at}: spacing {one['spacing']}"


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
    for index, one in enumerate(embeds):
        yield from _embed(one, f"/embeds/{index}")


def _embed_size(one: Json) -> int:
    texts = [one.get("title", ""), one.get("description", "")]
    texts += [one.get("footer", {}).get("text", ""), one.get("author", {}).get("name", "")]
    texts += [each[key] for each in one.get("fields", []) for key in ("name", "value")]
    return sum(len(text.strip()) for text in texts)


def _embed(one: Json, at: str) -> Iterator[str]:
    yield from _known(
        one,
        {"title", "description", "url", "timestamp", "color", "footer", "image", "thumbnail",
         "author", "fields"},
        at,
    )  # fmt: skip
    if not one.keys() - {"color", "url"}:
        yield f"{at}: an empty embed"
    yield from _length(one, "title", 1, 256, at)
    yield from _length(one, "description", 1, 4096, at)
    yield from _color(one.get("color"), at)
    for key in ("title", "description"):
        yield from _text(one.get(key, ""), at)
    yield from _part(one, "footer", "text", 2048, {"icon_url"}, at)
    yield from _part(one, "author", "name", 256, {"icon_url", "url"}, at)
    for key in ("image", "thumbnail"):
        if key in one:
            yield from _known(one[key], {"url", "description"}, at)
            yield from _media_url(one[key]["url"], f"{at}/{key}")
    if "url" in one and not _URL.fullmatch(one["url"]):
        yield f"{at}: url {one['url']!r}"
    if len(one.get("fields", [])) > 25:
        yield f"{at}: {len(one['fields'])} fields"
    for index, each in enumerate(one.get("fields", [])):
        here = f"{at}/fields/{index}"
        yield from _known(each, {"name", "value", "inline"}, here)
        yield from _length(each, "name", 1, 256, here, needed=True)
        yield from _length(each, "value", 1, 1024, here, needed=True)
        yield from _text(each["value"], here)


def _part(one: Json, key: str, said: str, most: int, urls: set[str], at: str) -> Iterator[str]:
    part = one.get(key)
    if part is None:
        return
    yield from _known(part, {said, *urls}, at)
    yield from _length(part, said, 1, most, f"{at}/{key}", needed=True)
    for name in urls & part.keys():
        yield from _media_url(part[name], f"{at}/{key}")


# --- modals ---------------------------------------------------------------------------------


def _modal(data: Json) -> Iterator[str]:
    yield from _known(data, {"title", "custom_id", "components"}, "")
    yield from _length(data, "title", 1, 45, "", needed=True)
    yield from _length(data, "custom_id", 1, 100, "", needed=True)
    if not 1 <= len(data["components"]) <= 5:
        yield f"{len(data['components'])} components"
    yield from _custom_ids(data["components"])
    for index, one in enumerate(data["components"]):
        here = f"/components/{index}"
        if one["type"] == 10:
            yield from _text_display(one, here)
        elif one["type"] == 18:
            yield from _label(one, here)
        else:
            yield f"{here}: type {one['type']} has no place here"


def _label(one: Json, at: str) -> Iterator[str]:
    yield from _known(one, {"type", "id", "label", "description", "component"}, at)
    yield from _length(one, "label", 1, 45, at, needed=True)
    yield from _length(one, "description", 1, 100, at)
    inner = one["component"]
    kind = inner["type"]
    if kind not in _ASKED or "disabled" in inner:
        yield f"{at}: {inner} has no place here"
    elif kind in (3, 5, 6, 7, 8):
        yield from _LEAVES[kind](inner, f"{at}/component")
    else:
        yield from _asked(inner, f"{at}/component")


def _asked(one: Json, at: str) -> Iterator[str]:
    yield from _length(one, "custom_id", 1, 100, at, needed=True)
    kind = one["type"]
    if kind == 4:
        yield from _text_input(one, at)
    elif kind == 19:
        yield from _known(
            one,
            {"type", "id", "custom_id", "min_values", "max_values", "required", "file_types"},
            at,
        )
        least, most = one.get("min_values", 1), one.get("max_values", 1)
        if not (0 <= least <= 10 and 1 <= most <= 10 and least <= most):
            yield f"{at}: {least} to {most} files"
    elif kind == 21:
        yield from _known(one, {"type", "id", "custom_id", "options", "required"}, at)
        yield from _options(one["options"], 2, 10, at)
    elif kind == 22:
        keys = {"type", "id", "custom_id", "options", "min_values", "max_values", "required"}
        yield from _known(one, keys, at)
        yield from _options(one["options"], 1, 10, at)
        most = one.get("max_values", len(one["options"]))
        if not 0 <= one.get("min_values", 1) <= most <= len(one["options"]):
            yield f"{at}: values"
    else:
        yield from _known(one, {"type", "id", "custom_id", "default"}, at)


def _text_input(one: Json, at: str) -> Iterator[str]:
    keys = {"type", "id", "custom_id", "style", "min_length", "max_length", "required", "value"}
    yield from _known(one, {*keys, "placeholder"}, at)
    yield from _length(one, "placeholder", 1, 100, at)
    yield from _length(one, "value", 1, 4000, at)
    least, most = one.get("min_length", 0), one.get("max_length", 4000)
    if one["style"] not in (1, 2) or not (0 <= least <= 4000 and 1 <= most <= 4000):
        yield f"{at}: style {one['style']}, {least} to {most}"
    if least > most or ("value" in one and not least <= len(one["value"]) <= most):
        yield f"{at}: a value outside of {least} to {most}"


# --- small ----------------------------------------------------------------------------------


def _known(one: Json, keys: set[str], at: str) -> Iterator[str]:
    yield from (f"{at}: unknown {key!r}" for key in sorted(one.keys() - keys))


def _length(
    one: Json, key: str, fewest: int, most: int, at: str, *, needed: bool = False
) -> Iterator[str]:
    value = one.get(key)
    if value is None:
        if needed or key in one:
            yield f"{at}: no {key}"
    elif not fewest <= len(value.strip()) <= most:
        yield f"{at}: {key} of {len(value)} characters"


# Code is read before all else but escapes: a run of ticks up to the next run of as many.
_CODE = re.compile(r"\\.|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)


def _text(value: str, at: str) -> Iterator[str]:
    """Nothing of ours in a text with markup shows as a mention, or cannot be sent at all. Whom a
    message notifies, `allowed_mentions` alone decides: always nobody. Labels, placeholders and
    other plain texts show `<@1>` as these characters."""
    if "\ud800" <= max(value, default="") <= "\udfff" or re.search(
        "[\x00-\x08\ud800-\udfff]", value
    ):
        yield f"{at}: characters that are none"
    shown = _CODE.sub("", value)
    if found := re.search(r"<@[!&]?\d+>", shown):
        yield f"{at}: mentions {found[0]}"


def _emoji(emoji: Json | None, at: str) -> Iterator[str]:
    if emoji is not None:
        yield from _known(emoji, {"id", "name", "animated"}, at)
        yield from _length(emoji, "name", 1, 32, at, needed=True)
        if ":" in emoji["name"] or emoji["name"].isascii():
            yield f"{at}: emoji {emoji['name']!r}"


def _color(color: int | None, at: str) -> Iterator[str]:
    if color is not None and not 0 <= color <= 0xFFFFFF:
        yield f"{at}: colour {color}"


def _media_url(url: str, at: str) -> Iterator[str]:
    if not url.startswith("attachment://") and (len(url) > 2048 or not _URL.fullmatch(url)):
        yield f"{at}: url {url!r}"


# --- what is seen ---------------------------------------------------------------------------


def read_aloud(body: Json) -> str:
    """All that people read of a message, in the order in which Discord shows it."""
    return "\n".join(_said(body))


def _said(body: Json) -> Iterator[str]:
    yield body.get("content", "")
    for embed in body.get("embeds", []):
        yield from _said_by_embed(embed)
    for one in body.get("components", []):
        yield from _said_by(one)


def _said_by_embed(one: Json) -> Iterator[str]:
    author, footer = one.get("author", {}), one.get("footer", {})
    yield from (author.get("name", ""), author.get("url", ""), one.get("title", ""))
    yield from (one.get("url", ""), one.get("thumbnail", {}).get("description", ""))
    yield one.get("description", "")
    for each in one.get("fields", []):
        yield from (each["name"], each["value"])
    yield one.get("image", {}).get("description", "")
    yield footer.get("text", "")


def _said_by(one: Json) -> Iterator[str]:
    """A component's own words, then those within it; a thumbnail's stand beside the first text."""
    yield one.get("emoji", {}).get("name", "")
    for key in ("label", "placeholder", "content", "description", "value", "url"):
        yield one.get(key, "")
    yield one.get("file", {}).get("url", "").removeprefix("attachment://")
    for option in one.get("options", []):
        yield option.get("emoji", {}).get("name", "")
        yield from (option["label"], option.get("description", ""))
    yield from (each.get("description", "") for each in one.get("items", []))
    for inner in one.get("components", []):
        yield from _said_by(inner)
    for key in ("accessory", "component"):
        if key in one:
            yield from _said_by(one[key])

"""What a Teams activity shows: text, Adaptive Cards, the Bot Framework's own cards
(AdaptiveCards schemas, msteams-docs, 2026)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.corpus import plain
from tests.corpus.seen import Act, Seen, When, each, is_web, of, string

_ADAPTIVE = "application/vnd.microsoft.card.adaptive"
_CARDS = ("hero", "thumbnail", "receipt", "signin", "oauth", "animation", "audio", "video")


def see(native: Any) -> Seen:
    """An activity, an attachment, an Adaptive Card or a MessageCard."""
    seen = Seen()
    if of(native, "type") == "AdaptiveCard":
        _adaptive_card(native, "", seen)
    elif of(native, "@type") == "MessageCard" or "potentialAction" in native:
        _message_card(native, "", seen)
    elif isinstance(of(native, "contentType"), str):
        _attachment(native, "", seen)
    else:
        _activity(native, seen)
    return seen


def _activity(native: Any, seen: Seen) -> None:
    attachments = list(each(native, "attachments", ""))
    html = next((one for one in attachments if _is_html(one[0])), None)
    if html is not None:
        seen.say(plain.teams_html(string(html[0], "content")), f"{html[1]}/content")
    elif string(native, "textFormat") == "plain":
        seen.say(plain.teams_html(string(native, "text")) if "<at" in string(native, "text")
                 else string(native, "text"), "/text")  # fmt: skip
    else:
        seen.say(plain.teams(string(native, "text")), "/text")
    for one, at in attachments:
        if not _is_html(one):
            _attachment(one, at, seen)
    for one, at in each(of(native, "suggestedActions"), "actions", "/suggestedActions"):
        _card_action(one, at, seen)


def _is_html(one: Any) -> bool:
    return string(one, "contentType").lower() == "text/html" and bool(string(one, "content"))


def _attachment(one: Any, at: str, seen: Seen) -> None:
    kind, content = string(one, "contentType").lower(), of(one, "content")
    inner = f"{at}/content"
    family = kind.rpartition(".")[2]
    if kind == _ADAPTIVE:
        _adaptive_card(content, inner, seen)
    elif kind.startswith("application/vnd.microsoft.card.") and family in _CARDS:
        _bot_card(content, inner, seen, family)
    elif kind.endswith("teams.card.list"):
        _list_card(content, inner, seen)
    elif kind.endswith("teams.card.o365connector"):
        _message_card(content, inner, seen)
    elif kind.startswith("image/"):
        seen.add("picture", at)
    elif string(one, "name"):
        seen.add("file", at)
        seen.say(of(one, "name"), f"{at}/name")


# --- the Bot Framework's cards --------------------------------------------------------------


def _html(value: Any, key: str, at: str, seen: Seen) -> None:
    seen.say(plain.teams(string(value, key)), f"{at}/{key}")


def _bot_card(card: Any, at: str, seen: Seen, family: str) -> None:
    seen.add(f"{family}_card", at)
    for one, place in each(card, "images", at):
        seen.say(of(one, "alt"), place, "hidden")
    for key in ("title", "subtitle", "text"):
        _html(card, key, at, seen)
    for one, place in each(card, "facts", at):
        _html(one, "key", place, seen)
        _html(one, "value", place, seen)
    for one, place in each(card, "items", at):
        for key in ("title", "subtitle", "text", "quantity", "price"):
            _html(one, key, place, seen)
        _tap(one, place, seen)
    for key in ("tax", "vat", "total"):
        _html(card, key, at, seen)
    for one, place in each(card, "buttons", at):
        _card_action(one, place, seen)
    _tap(card, at, seen)


def _list_card(card: Any, at: str, seen: Seen) -> None:
    seen.add("list_card", at)
    _html(card, "title", at, seen)
    for one, place in each(card, "items", at):
        seen.add("list_card.item", place)
        _html(one, "title", place, seen)
        _html(one, "subtitle", place, seen)
        _tap(one, place, seen)
    for one, place in each(card, "buttons", at):
        _card_action(one, place, seen)


def _tap(card: Any, at: str, seen: Seen) -> None:
    if isinstance(of(card, "tap"), dict):
        _card_action(of(card, "tap"), f"{at}/tap", seen, "hidden")


def _card_action(one: Any, at: str, seen: Seen, when: When = "shown") -> None:
    title, value = string(one, "title"), string(one, "value")
    seen.add(f"card_action.{string(one, 'type')}", at)
    seen.say(plain.teams(title), f"{at}/title", when)
    opens = string(one, "type") in ("openUrl", "downloadFile", "playVideo", "showImage", "call")
    if opens and not is_web(value):
        return
    seen.acts.append(Act(at, "link" if opens else "press", title, value if opens else ""))


def _message_card(card: Any, at: str, seen: Seen) -> None:
    seen.add("message_card", at)
    for key in ("title", "text"):
        _html(card, key, at, seen)
    for one, place in each(card, "sections", at):
        seen.add("message_card.section", place)
        for key in ("startGroup", "title", "activityTitle", "activitySubtitle", "activityText"):
            _html(one, key, place, seen)
        _html(one, "text", place, seen)
        for fact, below in each(one, "facts", place):
            _html(fact, "name", below, seen)
            _html(fact, "value", below, seen)
        for action, below in each(one, "potentialAction", place):
            _potential_action(action, below, seen)
    for action, place in each(card, "potentialAction", at):
        _potential_action(action, place, seen)


def _potential_action(one: Any, at: str, seen: Seen) -> None:
    name, kind = string(one, "name"), string(one, "@type")
    seen.say(name, f"{at}/name")
    seen.add(f"potential_action.{kind}", at)
    if kind == "OpenUri":
        url = next((string(t, "uri") for t, _ in each(one, "targets", at)), "")
        if is_web(url):
            seen.acts.append(Act(at, "link", name, url))
    elif kind == "ViewAction":
        pass
    elif kind == "ActionCard":
        for inner, place in each(one, "inputs", at):
            seen.say(of(inner, "title"), f"{place}/title")
            for choice, below in each(inner, "choices", place):
                seen.say(of(choice, "display"), f"{below}/display")
            seen.acts.append(Act(place, "input", string(inner, "title")))
        for inner, place in each(one, "actions", at):
            _potential_action(inner, place, seen)
    else:
        seen.acts.append(Act(at, "press", name))


# --- Adaptive Cards -------------------------------------------------------------------------


def _adaptive_card(card: Any, at: str, seen: Seen) -> None:
    if not _is_met(of(card, "requires")) and isinstance(of(card, "fallback"), dict):
        _element(of(card, "fallback"), f"{at}/fallback", seen)
        return
    card = _with_strings(card)
    seen.add("AdaptiveCard", at)
    _all(card, "body", at, seen)
    _all_actions(card, "actions", at, seen)
    _select(card, at, seen)


_RESOURCE = re.compile(r"\$\{rs:(\w+)\}")


def _with_strings(card: Any) -> Any:
    """The card with its own string resources in their places (Teams' extension `resources`)."""
    strings = of(of(card, "resources"), "strings")
    if not isinstance(strings, dict):
        return card
    told = {name: string(one, "defaultValue") for name, one in strings.items()}

    def expanded(value: Any) -> Any:
        if isinstance(value, str):
            return _RESOURCE.sub(lambda found: told.get(found[1], found[0]), value)
        if isinstance(value, dict):
            return {key: expanded(one) for key, one in value.items()}
        return [expanded(one) for one in value] if isinstance(value, list) else value

    return expanded(card)


def _all(value: Any, key: str, at: str, seen: Seen) -> None:
    for one, place in each(value, key, at):
        _element(one, place, seen)


def _all_actions(value: Any, key: str, at: str, seen: Seen) -> None:
    for one, place in each(value, key, at):
        _action(one, place, seen)


def _select(value: Any, at: str, seen: Seen) -> None:
    action = of(value, "selectAction")
    if isinstance(action, dict):
        _action(action, f"{at}/selectAction", seen, "hidden")


def _element(one: Any, at: str, seen: Seen) -> None:
    if _fails(one):
        if isinstance(of(one, "fallback"), dict):
            _element(of(one, "fallback"), f"{at}/fallback", seen)
        return
    kind = string(one, "type")
    seen.add(kind, at)
    if kind.startswith("Input."):
        _input(one, at, seen)
    elif kind.startswith("Chart."):
        _chart(one, at, seen)
    else:
        _ELEMENTS[kind](one, at, seen)
        if kind != "CompoundButton":
            _select(one, at, seen)


def _fails(one: Any) -> bool:
    """It is unknown, or asks for what Teams lacks; or it can be replaced as a whole, and something
    within it fails and cannot be (AdaptiveCards, "fallback" 1.2)."""
    kind = string(one, "type")
    known = kind in _ELEMENTS or kind.startswith(("Input.", "Chart."))
    if not known or not _is_met(of(one, "requires")):
        return True
    return "fallback" in one and any(_falls_through(inner) for inner in _within(one))


def _falls_through(one: Any) -> bool:
    """It fails, and says nothing of what to show instead."""
    if not isinstance(one, dict) or "fallback" in one or "type" not in one:
        return False
    kind = string(one, "type")
    known = kind in _ELEMENTS or kind in _ACTIONS or kind in _PARTS
    if not known and not kind.startswith(("Input.", "Chart.")):
        return True
    return not _is_met(of(one, "requires")) or any(_falls_through(each) for each in _within(one))


_PARTS = frozenset({"Column", "TableRow", "TableCell", "CarouselPage", "TextRun"})


def _within(one: Any) -> Iterator[Any]:
    for key in ("items", "columns", "rows", "cells", "pages", "actions", "images"):
        yield from (inner for inner, _ in each(one, key, ""))


def _is_met(requires: Any) -> bool:
    return not isinstance(requires, dict) or all(
        name == "adaptiveCards" and str(version) <= "1.6" for name, version in requires.items()
    )


def _md(value: Any, key: str, at: str, seen: Seen, when: When = "shown") -> None:
    text = of(value, key)
    seen.say(plain.adaptive(text) if isinstance(text, str) else text, f"{at}/{key}", when)


def _text_block(one: Any, at: str, seen: Seen) -> None:
    _md(one, "text", at, seen)


def _rich(one: Any, at: str, seen: Seen) -> None:
    runs = list(each(one, "inlines", at))
    seen.say("".join(run if isinstance(run, str) else string(run, "text") for run, _ in runs), at)
    for run, place in runs:
        if isinstance(run, dict):
            seen.add(string(run, "type") or "TextRun", place)
            _select(run, place, seen)


def _image(one: Any, at: str, seen: Seen) -> None:
    seen.say(of(one, "altText"), f"{at}/altText", "hidden")


def _images(one: Any, at: str, seen: Seen) -> None:
    for inner, place in each(one, "images", at):
        seen.add("ImageSet.Image", place)
        _image(inner, place, seen)
        _select(inner, place, seen)


def _items(*keys: str) -> Callable[[Any, str, Seen], None]:
    def read(one: Any, at: str, seen: Seen) -> None:
        for key in keys:
            _all(one, key, at, seen)

    return read


def _columns(one: Any, at: str, seen: Seen) -> None:
    for column, place in each(one, "columns", at):
        seen.add("Column", place)
        _all(column, "items", place, seen)
        _select(column, place, seen)


def _facts(one: Any, at: str, seen: Seen) -> None:
    for fact, place in each(one, "facts", at):
        seen.add("Fact", place)
        _md(fact, "title", place, seen)
        _md(fact, "value", place, seen)


def _table(one: Any, at: str, seen: Seen) -> None:
    for row, place in each(one, "rows", at):
        for cell, below in each(row, "cells", place):
            seen.add("TableCell", below)
            _all(cell, "items", below, seen)
            _select(cell, below, seen)


def _action_set(one: Any, at: str, seen: Seen) -> None:
    _all_actions(one, "actions", at, seen)


def _carousel(one: Any, at: str, seen: Seen) -> None:
    for page, place in each(one, "pages", at):
        seen.add("CarouselPage", place)
        _all(page, "items", place, seen)
        _select(page, place, seen)


def _badge(one: Any, at: str, seen: Seen) -> None:
    seen.say(of(one, "text"), f"{at}/text")
    seen.say(of(one, "tooltip"), f"{at}/tooltip", "hidden")


def _code(one: Any, at: str, seen: Seen) -> None:
    seen.say(of(one, "codeSnippet"), f"{at}/codeSnippet")


def _compound_button(one: Any, at: str, seen: Seen) -> None:
    for key in ("title", "description"):
        seen.say(of(one, key), f"{at}/{key}")
    seen.say(of(one, "badge"), f"{at}/badge")
    _select(one, at, seen)


def _labelled(one: Any, at: str, seen: Seen) -> None:
    seen.say(of(one, "label"), f"{at}/label")


def _nothing(_one: Any, _at: str, _seen: Seen) -> None:
    return


_ELEMENTS: dict[str, Callable[[Any, str, Seen], None]] = {
    "TextBlock": _text_block,
    "RichTextBlock": _rich,
    "Image": _image,
    "ImageSet": _images,
    "Media": _image,
    "Container": _items("items"),
    "ColumnSet": _columns,
    "FactSet": _facts,
    "Table": _table,
    "ActionSet": _action_set,
    "Carousel": _carousel,
    "Badge": _badge,
    "CodeBlock": _code,
    "CompoundButton": _compound_button,
    "Icon": _nothing,
    "Rating": _nothing,
    "ProgressBar": _nothing,
    "ProgressRing": _labelled,
}


def _input(one: Any, at: str, seen: Seen) -> None:
    kind = string(one, "type")
    _md(one, "label", at, seen)
    if kind == "Input.Toggle":
        _md(one, "title", at, seen)
    elif kind == "Input.ChoiceSet":
        _md(one, "placeholder", at, seen)
        for choice, place in each(one, "choices", at):
            _md(choice, "title", place, seen)
    elif kind != "Input.Rating":
        filled = of(one, "value") not in (None, "")
        secret = string(one, "style").lower() == "password"
        if not (filled and secret):
            _md(one, "value" if filled else "placeholder", at, seen)
    _md(one, "errorMessage", at, seen, "hidden")
    told = next(
        (string(one, key) for key in ("label", "title", "placeholder") if string(one, key)), ""
    )
    seen.acts.append(Act(at, "input", plain.adaptive(told)))
    action = of(one, "inlineAction")
    if isinstance(action, dict):
        _action(action, f"{at}/inlineAction", seen)


def _chart(one: Any, at: str, seen: Seen) -> None:
    for key in ("title", "xAxisTitle", "yAxisTitle"):
        seen.say(of(one, key), f"{at}/{key}")
    for item, place in each(one, "data", at):
        for key in ("legend", "title", "x"):
            seen.say(of(item, key), f"{place}/{key}")
        for key in ("value", "y"):
            seen.say(of(item, key), f"{place}/{key}")
        for key in ("values", "data"):
            for point, below in each(item, key, place):
                for name in ("x", "legend", "y", "value"):
                    seen.say(of(point, name), f"{below}/{name}")


def _action(one: Any, at: str, seen: Seen, when: When = "shown") -> None:
    kind = string(one, "type")
    if kind not in _ACTIONS or not _is_met(of(one, "requires")):
        if isinstance(of(one, "fallback"), dict):
            _action(of(one, "fallback"), f"{at}/fallback", seen, when)
        return
    seen.add(kind, at)
    title, url = string(one, "title"), string(one, "url")
    seen.say(title, f"{at}/title", when)
    seen.say(of(one, "tooltip"), f"{at}/tooltip", "hidden")
    does = _ACTIONS[kind] if of(one, "isEnabled") is not False else None
    if does == "link":
        if is_web(url):
            seen.acts.append(Act(at, "link", title, url))
    elif does is not None:
        seen.acts.append(Act(at, "show" if does == "show" else "press", title))
    if isinstance(of(one, "card"), dict):
        _adaptive_card(of(one, "card"), f"{at}/card", seen)
    if isinstance(of(one, "content"), dict):
        _element(of(one, "content"), f"{at}/content", seen)
    for inner, place in each(one, "menuActions", at):
        _action(inner, place, seen)


_ACTIONS = {
    "Action.OpenUrl": "link",
    "Action.OpenUrlDialog": "link",
    "Action.Submit": "press",
    "Action.Execute": "press",
    "Action.ShowCard": "show",
    "Action.Popover": "show",
    "Action.ToggleVisibility": "show",
    "Action.ResetInputs": None,
    "Action.InsertImage": "press",
}

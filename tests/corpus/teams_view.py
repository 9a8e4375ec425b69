"""What a Teams activity shows: text, Adaptive Cards, the Bot Framework's own cards
(AdaptiveCards schemas, msteams-docs, 2026)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.corpus import plain
from tests.corpus.view import Act, View, Visibility, is_web, items_of, of, string

_ADAPTIVE = "application/vnd.microsoft.card.adaptive"
_CARDS = ("hero", "thumbnail", "receipt", "signin", "oauth", "animation", "audio", "video")


def see(native: Any) -> View:
    """An activity, an attachment, an Adaptive Card or a MessageCard."""
    view = View()
    if of(native, "type") == "AdaptiveCard":
        _adaptive_card(native, "", view)
    elif of(native, "@type") == "MessageCard" or "potentialAction" in native:
        _message_card(native, "", view)
    elif isinstance(of(native, "contentType"), str):
        _attachment(native, "", view)
    else:
        _activity(native, view)
    return view


def _activity(native: Any, view: View) -> None:
    attachments = list(items_of(native, "attachments", ""))
    html = next((node for node in attachments if _is_html(node[0])), None)
    if html is not None:
        view.add_text(plain.teams_html(string(html[0], "content")), f"{html[1]}/content")
    elif string(native, "textFormat") == "plain":
        view.add_text(plain.teams_html(string(native, "text")) if "<at" in string(native, "text")
                 else string(native, "text"), "/text")  # fmt: skip
    else:
        view.add_text(plain.teams(string(native, "text")), "/text")
    for node, at in attachments:
        if not _is_html(node):
            _attachment(node, at, view)
    for node, at in items_of(of(native, "suggestedActions"), "actions", "/suggestedActions"):
        _card_action(node, at, view)


def _is_html(node: Any) -> bool:
    return string(node, "contentType").lower() == "text/html" and bool(string(node, "content"))


def _attachment(node: Any, at: str, view: View) -> None:
    kind, content = string(node, "contentType").lower(), of(node, "content")
    inner = f"{at}/content"
    family = kind.rpartition(".")[2]
    if kind == _ADAPTIVE:
        _adaptive_card(content, inner, view)
    elif kind.startswith("application/vnd.microsoft.card.") and family in _CARDS:
        _bot_card(content, inner, view, family)
    elif kind.endswith("teams.card.list"):
        _list_card(content, inner, view)
    elif kind.endswith("teams.card.o365connector"):
        _message_card(content, inner, view)
    elif kind.startswith("image/"):
        view.add("picture", at)
    elif string(node, "name"):
        view.add("file", at)
        view.add_text(of(node, "name"), f"{at}/name")


# --- the Bot Framework's cards --------------------------------------------------------------


def _html(value: Any, key: str, at: str, view: View) -> None:
    view.add_text(plain.teams(string(value, key)), f"{at}/{key}")


def _bot_card(card: Any, at: str, view: View, family: str) -> None:
    view.add(f"{family}_card", at)
    for node, place in items_of(card, "images", at):
        view.add_text(of(node, "alt"), place, "hidden")
    for key in ("title", "subtitle", "text"):
        _html(card, key, at, view)
    for node, place in items_of(card, "facts", at):
        _html(node, "key", place, view)
        _html(node, "value", place, view)
    for node, place in items_of(card, "items", at):
        for key in ("title", "subtitle", "text", "quantity", "price"):
            _html(node, key, place, view)
        _tap(node, place, view)
    for key in ("tax", "vat", "total"):
        _html(card, key, at, view)
    for node, place in items_of(card, "buttons", at):
        _card_action(node, place, view)
    _tap(card, at, view)


def _list_card(card: Any, at: str, view: View) -> None:
    view.add("list_card", at)
    _html(card, "title", at, view)
    for node, place in items_of(card, "items", at):
        view.add("list_card.item", place)
        _html(node, "title", place, view)
        _html(node, "subtitle", place, view)
        _tap(node, place, view)
    for node, place in items_of(card, "buttons", at):
        _card_action(node, place, view)


def _tap(card: Any, at: str, view: View) -> None:
    if isinstance(of(card, "tap"), dict):
        _card_action(of(card, "tap"), f"{at}/tap", view, "hidden")


def _card_action(node: Any, at: str, view: View, visibility: Visibility = "shown") -> None:
    title, value = string(node, "title"), string(node, "value")
    view.add(f"card_action.{string(node, 'type')}", at)
    view.add_text(plain.teams(title), f"{at}/title", visibility)
    opens = string(node, "type") in ("openUrl", "downloadFile", "playVideo", "showImage", "call")
    if opens and not is_web(value):
        return
    view.acts.append(Act(at, "link" if opens else "press", title, value if opens else ""))


def _message_card(card: Any, at: str, view: View) -> None:
    view.add("message_card", at)
    for key in ("title", "text"):
        _html(card, key, at, view)
    for node, place in items_of(card, "sections", at):
        view.add("message_card.section", place)
        for key in ("startGroup", "title", "activityTitle", "activitySubtitle", "activityText"):
            _html(node, key, place, view)
        _html(node, "text", place, view)
        for fact, below in items_of(node, "facts", place):
            _html(fact, "name", below, view)
            _html(fact, "value", below, view)
        for action, below in items_of(node, "potentialAction", place):
            _potential_action(action, below, view)
    for action, place in items_of(card, "potentialAction", at):
        _potential_action(action, place, view)


def _potential_action(node: Any, at: str, view: View) -> None:
    name, kind = string(node, "name"), string(node, "@type")
    view.add_text(name, f"{at}/name")
    view.add(f"potential_action.{kind}", at)
    if kind == "OpenUri":
        url = next((string(t, "uri") for t, _ in items_of(node, "targets", at)), "")
        if is_web(url):
            view.acts.append(Act(at, "link", name, url))
    elif kind == "ViewAction":
        pass
    elif kind == "ActionCard":
        for inner, place in items_of(node, "inputs", at):
            view.add_text(of(inner, "title"), f"{place}/title")
            for choice, below in items_of(inner, "choices", place):
                view.add_text(of(choice, "display"), f"{below}/display")
            view.acts.append(Act(place, "input", string(inner, "title")))
        for inner, place in items_of(node, "actions", at):
            _potential_action(inner, place, view)
    else:
        view.acts.append(Act(at, "press", name))


# --- Adaptive Cards -------------------------------------------------------------------------


def _adaptive_card(card: Any, at: str, view: View) -> None:
    if not _is_met(of(card, "requires")) and isinstance(of(card, "fallback"), dict):
        _element(of(card, "fallback"), f"{at}/fallback", view)
        return
    card = _with_strings(card)
    view.add("AdaptiveCard", at)
    _all(card, "body", at, view)
    _all_actions(card, "actions", at, view)
    _select(card, at, view)


_RESOURCE = re.compile(r"\$\{rs:(\w+)\}")


def _with_strings(card: Any) -> Any:
    """The card with its own string resources in their places (Teams' extension `resources`)."""
    strings = of(of(card, "resources"), "strings")
    if not isinstance(strings, dict):
        return card
    defaults = {name: string(node, "defaultValue") for name, node in strings.items()}

    def expanded(value: Any) -> Any:
        if isinstance(value, str):
            return _RESOURCE.sub(lambda match: defaults.get(match[1], match[0]), value)
        if isinstance(value, dict):
            return {key: expanded(node) for key, node in value.items()}
        return [expanded(node) for node in value] if isinstance(value, list) else value

    return expanded(card)


def _all(value: Any, key: str, at: str, view: View) -> None:
    for node, place in items_of(value, key, at):
        _element(node, place, view)


def _all_actions(value: Any, key: str, at: str, view: View) -> None:
    for node, place in items_of(value, key, at):
        _action(node, place, view)


def _select(value: Any, at: str, view: View) -> None:
    action = of(value, "selectAction")
    if isinstance(action, dict):
        _action(action, f"{at}/selectAction", view, "hidden")


def _element(node: Any, at: str, view: View) -> None:
    if _fails(node):
        if isinstance(of(node, "fallback"), dict):
            _element(of(node, "fallback"), f"{at}/fallback", view)
        return
    kind = string(node, "type")
    view.add(kind, at)
    if kind.startswith("Input."):
        _input(node, at, view)
    elif kind.startswith("Chart."):
        _chart(node, at, view)
    else:
        _ELEMENTS[kind](node, at, view)
        if kind != "CompoundButton":
            _select(node, at, view)


def _fails(node: Any) -> bool:
    """It is unknown, or asks for what Teams lacks; or it can be replaced as a whole, and something
    within it fails and cannot be (AdaptiveCards, "fallback" 1.2)."""
    kind = string(node, "type")
    is_known = kind in _ELEMENTS or kind.startswith(("Input.", "Chart."))
    if not is_known or not _is_met(of(node, "requires")):
        return True
    return "fallback" in node and any(_falls_through(inner) for inner in _within(node))


def _falls_through(node: Any) -> bool:
    """It fails, and says nothing of what to show instead."""
    if not isinstance(node, dict) or "fallback" in node or "type" not in node:
        return False
    kind = string(node, "type")
    is_known = kind in _ELEMENTS or kind in _ACTIONS or kind in _PARTS
    if not is_known and not kind.startswith(("Input.", "Chart.")):
        return True
    return not _is_met(of(node, "requires")) or any(map(_falls_through, _within(node)))


_PARTS = frozenset({"Column", "TableRow", "TableCell", "CarouselPage", "TextRun"})


def _within(node: Any) -> Iterator[Any]:
    for key in ("items", "columns", "rows", "cells", "pages", "actions", "images"):
        yield from (inner for inner, _ in items_of(node, key, ""))


def _is_met(requires: Any) -> bool:
    return not isinstance(requires, dict) or all(
        name == "adaptiveCards" and str(version) <= "1.6" for name, version in requires.items()
    )


def _md(value: Any, key: str, at: str, view: View, visibility: Visibility = "shown") -> None:
    text = of(value, key)
    view.add_text(
        plain.adaptive(text) if isinstance(text, str) else text, f"{at}/{key}", visibility
    )


def _text_block(node: Any, at: str, view: View) -> None:
    _md(node, "text", at, view)


def _rich(node: Any, at: str, view: View) -> None:
    runs = list(items_of(node, "inlines", at))
    view.add_text(
        "".join(run if isinstance(run, str) else string(run, "text") for run, _ in runs), at
    )
    for run, place in runs:
        if isinstance(run, dict):
            view.add(string(run, "type") or "TextRun", place)
            _select(run, place, view)


def _image(node: Any, at: str, view: View) -> None:
    view.add_text(of(node, "altText"), f"{at}/altText", "hidden")


def _images(node: Any, at: str, view: View) -> None:
    for inner, place in items_of(node, "images", at):
        view.add("ImageSet.Image", place)
        _image(inner, place, view)
        _select(inner, place, view)


def _items(*keys: str) -> Callable[[Any, str, View], None]:
    def read(node: Any, at: str, view: View) -> None:
        for key in keys:
            _all(node, key, at, view)

    return read


def _columns(node: Any, at: str, view: View) -> None:
    for column, place in items_of(node, "columns", at):
        view.add("Column", place)
        _all(column, "items", place, view)
        _select(column, place, view)


def _facts(node: Any, at: str, view: View) -> None:
    for fact, place in items_of(node, "facts", at):
        view.add("Fact", place)
        _md(fact, "title", place, view)
        _md(fact, "value", place, view)


def _table(node: Any, at: str, view: View) -> None:
    for row, place in items_of(node, "rows", at):
        for cell, below in items_of(row, "cells", place):
            view.add("TableCell", below)
            _all(cell, "items", below, view)
            _select(cell, below, view)


def _action_set(node: Any, at: str, view: View) -> None:
    _all_actions(node, "actions", at, view)


def _carousel(node: Any, at: str, view: View) -> None:
    for page, place in items_of(node, "pages", at):
        view.add("CarouselPage", place)
        _all(page, "items", place, view)
        _select(page, place, view)


def _badge(node: Any, at: str, view: View) -> None:
    view.add_text(of(node, "text"), f"{at}/text")
    view.add_text(of(node, "tooltip"), f"{at}/tooltip", "hidden")


def _code(node: Any, at: str, view: View) -> None:
    view.add_text(of(node, "codeSnippet"), f"{at}/codeSnippet")


def _compound_button(node: Any, at: str, view: View) -> None:
    for key in ("title", "description"):
        view.add_text(of(node, key), f"{at}/{key}")
    view.add_text(of(node, "badge"), f"{at}/badge")
    _select(node, at, view)


def _labelled(node: Any, at: str, view: View) -> None:
    view.add_text(of(node, "label"), f"{at}/label")


def _nothing(_node: Any, _at: str, _view: View) -> None:
    return


_ELEMENTS: dict[str, Callable[[Any, str, View], None]] = {
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


def _input(node: Any, at: str, view: View) -> None:
    kind = string(node, "type")
    _md(node, "label", at, view)
    if kind == "Input.Toggle":
        _md(node, "title", at, view)
    elif kind == "Input.ChoiceSet":
        _md(node, "placeholder", at, view)
        for choice, place in items_of(node, "choices", at):
            _md(choice, "title", place, view)
    elif kind != "Input.Rating":
        filled = of(node, "value") not in (None, "")
        secret = string(node, "style").lower() == "password"
        if not (filled and secret):
            _md(node, "value" if filled else "placeholder", at, view)
    _md(node, "errorMessage", at, view, "hidden")
    label = next(
        (string(node, key) for key in ("label", "title", "placeholder") if string(node, key)), ""
    )
    view.acts.append(Act(at, "input", plain.adaptive(label)))
    action = of(node, "inlineAction")
    if isinstance(action, dict):
        _action(action, f"{at}/inlineAction", view)


def _chart(node: Any, at: str, view: View) -> None:
    for key in ("title", "xAxisTitle", "yAxisTitle"):
        view.add_text(of(node, key), f"{at}/{key}")
    for item, place in items_of(node, "data", at):
        for key in ("legend", "title", "x"):
            view.add_text(of(item, key), f"{place}/{key}")
        for key in ("value", "y"):
            view.add_text(of(item, key), f"{place}/{key}")
        for key in ("values", "data"):
            for point, below in items_of(item, key, place):
                for name in ("x", "legend", "y", "value"):
                    view.add_text(of(point, name), f"{below}/{name}")


def _action(node: Any, at: str, view: View, visibility: Visibility = "shown") -> None:
    kind = string(node, "type")
    if kind not in _ACTIONS or not _is_met(of(node, "requires")):
        if isinstance(of(node, "fallback"), dict):
            _action(of(node, "fallback"), f"{at}/fallback", view, visibility)
        return
    view.add(kind, at)
    title, url = string(node, "title"), string(node, "url")
    view.add_text(title, f"{at}/title", visibility)
    view.add_text(of(node, "tooltip"), f"{at}/tooltip", "hidden")
    does = _ACTIONS[kind] if of(node, "isEnabled") is not False else None
    if does == "link":
        if is_web(url):
            view.acts.append(Act(at, "link", title, url))
    elif does is not None:
        view.acts.append(Act(at, "show" if does == "show" else "press", title))
    if isinstance(of(node, "card"), dict):
        _adaptive_card(of(node, "card"), f"{at}/card", view)
    if isinstance(of(node, "content"), dict):
        _element(of(node, "content"), f"{at}/content", view)
    for inner, place in items_of(node, "menuActions", at):
        _action(inner, place, view)


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

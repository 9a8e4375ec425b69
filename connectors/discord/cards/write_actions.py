"""Buttons, menus and inputs that stand together -> rows of components; inputs that cannot stand in
a message are a form behind a button.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bridge.content.cards.forms import forms_of, texts_that_name
from bridge.content.cards.input_text import kind_of_input, words
from bridge.content.cards.tree import (
    Actions,
    Button,
    Choice,
    Columns,
    Container,
    Context,
    Divider,
    Fields,
    Input,
    Node,
    Nodes,
    Prose,
    Section,
    Toggle,
)
from bridge.content.cards.walk import walk, within
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Break, Inline, Text
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_buttons import STYLES, Row, button_body, tell_details
from connectors.discord.cards.write_inputs import (
    filled_in,
    input_name,
    input_words,
    with_room,
)
from connectors.discord.cards.write_menus import stands_in_message, write_as_text, write_menu
from connectors.discord.cards.write_state import Asking, Json, Writing, content_of, sound
from connectors.discord.cards.write_text import bold, joined, lines_of, plain, say_line, say_small

Line = tuple[Inline, ...]

FILL_IN = "Fill in"
_MAX_OPTIONS = 10  # of a menu in a form that the small print above its button lists
_MAX_IN_LINE = 200  # characters of a text in a form that the small print repeats


def write_actions(w: Writing, items: Iterable[Button | Input]) -> None:
    """Buttons in rows of five, each menu in its own; inputs that stand together are one form. The
    small print of a form stands between the buttons before it and its own."""
    row = Row(w)
    asked: list[Input] = []
    beside = False
    for item in items:
        if not isinstance(item, Button) and not stands_in_message(item):
            if asked and (item.dispatches or asked[-1].dispatches):
                _write_form_button(w, asked, row)
                asked = []
            asked.append(item)
            continue
        if asked:
            _write_form_button(w, asked, row)
            asked = []
        if not isinstance(item, Button):
            row.end()
            write_menu(w, item)
        elif item.does == "reveal" and (form := _form_in(w, item)) is not None:
            if beside:
                row.end()
                beside = False
            _write_revealed_form(w, item, form, row)
        elif item.does in ("reveal", "toggle"):
            row.end()
            _write_shown(w, item)
        else:
            row.add(item)
            beside = True
    if asked:
        _write_form_button(w, asked, row)
    row.end()


def _write_shown(w: Writing, node: Button) -> None:
    """What a press would show is shown: below its label, or where it stands anyway."""
    tell_details(w, node)
    label = plain(node.label)
    sign: Line = (Text(f"{node.emoji} "),) if node.emoji else ()
    if node.does == "toggle":
        words = f"{node.emoji} {label}".strip() or "button"
        w.lose(node.at, "toggle_shown", words, "what it hides is shown")
        hidden = _asking(w).hidden & {*node.targets} - w.unfolded
        if hidden and label:
            w.unfolded |= hidden
            say_small(w, (Text("▾ "), *sign, *node.label), node.at)
        return
    say_line(w, (*sign, *bold(node.label)), node.at)
    w.lose(node.at, "reveal_shown", label or "button", "what it shows is below it")
    w.write(node.nodes)


# --- forms ----------------------------------------------------------------------------------


def _write_form_button(w: Writing, asked: Sequence[Input], row: Row) -> None:
    """What is asked, and filled in already, in small print; the button that sends the inputs opens
    the form. Inputs that no button sends have a button of their own, which is called as they
    are."""
    if not w.token(asked[0].at):
        row.end()
        for node in asked:
            write_as_text(w, node)
        return
    asking = _asking(w)
    alone = [node for node in asked if not node.disabled and id(node) not in asking.sent]
    name = _button_name(asked) if len(alone) == len(asked) else ""
    if lines := [line for node in asked if (line := _asked_line(w, node, named=bool(name)))]:
        row.end()
        _say_asked(w, asked, lines)
    for node in asked:
        _tell_asked(w, node)
    if alone and (custom_id := w.action_id(alone[0].at)):
        body: Json = {"type": schemas.BUTTON, "style": STYLES["default"]}
        row.add_body(body | {"label": _unlike_others(w, name or FILL_IN), "custom_id": custom_id})


def _say_asked(w: Writing, asked: Sequence[Input], lines: Sequence[Line]) -> None:
    more = any(_tells_more(node) for node in asked)
    gap: Inline = Break() if more else Text(" · ")
    spaced = [each for line in lines for each in (gap, *line)]
    say_small(w, tuple(spaced[1:]), asked[0].at)


def _tell_asked(w: Writing, node: Input) -> None:
    words = input_words(node) or node.type
    if node.disabled:
        w.lose(node.at, "disabled_input", words, "what is filled in, in small print")
    elif id(node) in _asking(w).roomless:
        w.lose(node.at, "input_without_room", words)
    else:
        w.lose(node.at, "input_in_form", words, "a form behind a button")


def _asked_line(w: Writing, node: Input, *, named: bool = False) -> Line:
    """`label: what is filled in (what stands in the empty field) · hint`; without the label where a
    button is `named` by it. What nothing names is called by its kind."""
    label = () if named else node.label
    filled = _filled_beside(node) if named else filled_in(node)
    placeholder = plain((Text(node.placeholder),))
    empty: Line = (Text(placeholder),) if placeholder and not filled else ()
    if label and empty:
        empty = (Text("("), *empty, Text(")"))
    elif named and not node.label:
        empty = ()
    colon = " " if plain(label).endswith((":", "?")) else ": "
    run: list[Inline] = [*label]
    for gap, part in ((colon, filled), (" ", empty), (" · ", node.hint)):
        if part:
            run += (Text(gap), *part) if run else part
    if not run and not named and id(node) not in _asking(w).names:
        run = [Text(kind_of_input(node))]
    return tuple(run)


def _filled_beside(node: Input) -> Line:
    """What is filled in, beside a button that is called as the input is: a box by its title."""
    return () if isinstance(node, Toggle) and not node.label else filled_in(node)


def _tells_more(node: Input) -> bool:
    """Whether there is more to say of it than its name."""
    return bool(filled_in(node) or node.hint or (node.label and node.placeholder.strip()))


def _button_name(asked: Sequence[Input]) -> str:
    """The names of the inputs, where a button has room for them and nothing else is to be said;
    the name of a single one in any case."""
    if len(asked) > 1 and any(map(_tells_more, asked)):
        return ""
    name = ", ".join(map(_name_on_button, asked))
    return name if len(name) <= limits.LABEL else ""


def _name_on_button(node: Input) -> str:
    """A text before the input is read there: the button does not repeat it."""
    if isinstance(node, Toggle) and not node.label:
        return plain(filled_in(node)) or input_name(node, {})
    return input_name(node, {})


def _unlike_others(w: Writing, label: str) -> str:
    """The label with a number, where another form or a button of this message is called the
    same."""
    number = w.labels.get(label, _asking(w).labels[label]) + 1
    w.labels[label] = number
    return label if number == 1 else f"{label[: limits.LABEL - 8]} ({number})"


def _asking(w: Writing) -> Asking:
    """What the whole card asks; looked for once."""
    if w.asking is None:
        forms = forms_of(w.card)
        sent: set[int] = set()
        in_forms: set[int] = set()
        for node in walk(w.card.nodes):
            if isinstance(node, Button) and node.does == "submit" and w.token(node.at):
                inputs = forms.sent_by(node)
                fresh = [
                    item for item in inputs if not item.dispatches and id(item) not in in_forms
                ]
                if fresh:
                    asked = [item for item in inputs if not item.dispatches]
                    sent.update(map(id, asked))
                    in_forms.update(map(id, with_room(asked)))
        named = texts_that_name(w.card.nodes)
        names = {asked: blocks_as_line(text.text) for asked, text in named.items()}
        hidden = frozenset(
            node.id for node in walk(w.card.nodes) if isinstance(node, Container) and node.hidden
        )
        labels = Counter(
            plain(node.label) for node in walk(w.card.nodes) if isinstance(node, Button)
        )
        w.asking = Asking(names, frozenset(sent), frozenset(sent - in_forms), hidden, labels)
    return w.asking


# --- a form that a button reveals ------------------------------------------------------------


@dataclass(slots=True)
class _Form:
    """What a button reveals, as a form has it: by `id(input)` the texts that are labels there, the
    other texts, the inputs, both in order, the buttons that send them, and what no form holds."""

    names: Mapping[int, Prose]

    texts: list[Node] = field(default_factory=list[Node])
    asked: list[Node] = field(default_factory=list[Node])
    inputs: list[Input] = field(default_factory=list[Input])
    buttons: list[Button] = field(default_factory=list[Button])
    others: list[Node] = field(default_factory=list[Node])


def texts_of_form(button: Button) -> Nodes:
    """The texts in what a button reveals that stand in the form, above its inputs."""
    return tuple(_parted(button).texts)


def several_send(button: Button) -> bool:
    """Whether what the button reveals has several buttons that send its inputs."""
    return sum(button.does == "submit" for button in _parted(button).buttons) > 1


def _form_in(w: Writing, node: Button) -> _Form | None:
    """None for what asks nothing or sends nothing: it is shown as it is."""
    form = _parted(node)
    sends = any(button.does == "submit" and w.token(button.at) for button in form.buttons)
    return form if sends and form.inputs else None


def _parted(button: Button) -> _Form:
    form = _Form(texts_that_name(button.nodes))
    names = {id(text) for text in form.names.values()}
    stack = [iter(button.nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Button):
            form.buttons.append(node)
        elif isinstance(node, Input):
            form.inputs.append(node)
            form.asked.append(node)
        elif isinstance(node, Prose | Fields | Divider) or _is_all_text(node):
            if not isinstance(node, Divider) and id(node) not in names:
                form.texts.append(node)
                form.asked.append(node)
        elif _is_bare(node):
            stack.append(within(node))
        else:
            form.others.append(node)
    return form


def _is_all_text(node: Node) -> bool:
    return isinstance(node, Context) and all(isinstance(item, Prose) for item in node.items)


def _is_bare(node: Node) -> bool:
    """Whether it says nothing itself, and is no more than the nodes that it holds."""
    if isinstance(node, Container):
        return node == Container(
            node.nodes, form=node.form, style=node.style, color=node.color, id=node.id
        )
    if isinstance(node, Columns):
        return not any(column.link for column in node.columns)
    return isinstance(node, Actions | Section)


def _write_revealed_form(w: Writing, node: Button, form: _Form, row: Row) -> None:
    """A button that opens the form, called as the one that would have revealed it. One line of
    small print above the row says what the form asks. Where several buttons send the inputs, each
    opens it."""
    sends = [button for button in form.buttons if button.does == "submit"]
    for text in form.texts:
        if not _is_said_in_line(text):
            w.lose(text.at, "text_in_form", _words_of(w, text), "in the form")
    say_small(w, _form_line(w, node, form, sends), node.at)
    for each in form.inputs:
        _tell_asked(w, each)
    label = plain(node.label)
    for button in form.buttons:
        if button.does != "submit":
            _write_beside(w, button, row)
            continue
        own = plain(button.label)
        w.lose(node.at, "reveal_in_form", own if len(sends) == 1 else label, "a form of its title")
        faced = _as_opener(node, button, f"{label}: {own}" if len(sends) > 1 else label)
        if (body := button_body(w, faced)) is not None:
            row.add_body(body)
    if form.others:
        row.end()
        w.write(form.others)


def _form_line(w: Writing, node: Button, form: _Form, sends: Sequence[Button]) -> Line:
    """`button: texts · inputs with their options → the button that sends them`; the last part only
    where no button of the row says it."""
    parts: list[Line] = []
    for item in form.asked:
        if isinstance(item, Input):
            parts.append(_revealed_input(w, item, form.names.get(id(item))))
        elif _is_said_in_line(item):
            parts.append(_text_line(item))
    label, inner = plain(node.label), plain(sends[0].label)
    lead = bold(node.label)
    if lead and any(parts):
        lead = (*lead, Text(" " if label.endswith((":", "?")) else ": "))
    run = (*lead, *joined(parts))
    if len(sends) == 1 and inner.casefold() != label.casefold():
        run = (*run, Text(" → "), *sends[0].label)
    return tuple(Text(" ") if isinstance(inline, Break) else inline for inline in run)


def _revealed_input(w: Writing, node: Input, name: Prose | None) -> Line:
    """What is asked, with all options of a short menu; a text that names it is its label."""
    if name is not None:
        node = replace(node, label=blocks_as_line(name.text))
    if not isinstance(node, Choice) or not 0 < len(node.options) <= _MAX_OPTIONS:
        return _asked_line(w, node)
    placeholder = words(sound(node.placeholder).strip())
    label, options = node.label or placeholder, _options_line(node)
    colon = " " if plain(label).endswith((":", "?")) else ": "
    line: Line = (*label, Text(colon), *options) if label else options
    if node.label and placeholder:
        line = (*line, Text(" ("), *placeholder, Text(")"))
    return (*line, Text(" · "), *node.hint) if node.hint else line


def _options_line(node: Choice) -> Line:
    """`☑ one / another`: what is chosen already has a tick."""
    run: list[Inline] = []
    for option in node.options:
        sign = f"{'☑ ' * (option.value in node.values)}{option.emoji and f'{option.emoji} '}"
        run.append(Text(f"{' / ' if run else ''}{sign}"))
        run += option.label or words(sound(option.value))
    return tuple(run)


def _is_said_in_line(node: Node) -> bool:
    """Whether it is short enough for the small print: anything longer stands in the form alone."""
    return len(plain(_text_line(node))) <= _MAX_IN_LINE


def _text_line(node: Node) -> Line:
    match node:
        case Prose(text):
            return blocks_as_line(text)
        case Context(items):
            return joined(lines_of(item) for item in items if isinstance(item, Prose))
        case Fields(items):
            pairs = ((*item.label, Text(": "), *blocks_as_line(item.value)) for item in items)
            return joined(pairs)
        case _:
            return ()


def _as_opener(node: Button, sends: Button, label: str) -> Button:
    """The button that sends the form, with the face of the one that would have revealed it."""
    style = sends.style if node.style == "default" else node.style
    return replace(
        sends, label=(Text(label),), style=style, emoji=node.emoji or sends.emoji,
        icon=node.icon or sends.icon, hint=node.hint or sends.hint,
        disabled=node.disabled or sends.disabled,
    )  # fmt: skip


def _write_beside(w: Writing, node: Button, row: Row) -> None:
    if node.does in ("reveal", "toggle"):
        row.end()
        _write_shown(w, node)
    else:
        row.add(node)


def _words_of(w: Writing, node: Node) -> str:
    """What a text says, for the reader of a Loss."""
    apart = w.apart()
    apart.write((node,))
    return " ".join(content_of(piece) for piece in apart.pieces)

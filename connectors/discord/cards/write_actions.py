"""Groups of buttons, menus and inputs -> rows of components; inputs that messages cannot show
become a form behind a button.
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
from connectors.discord.cards.write_buttons import STYLES, Row, button_body, lose_details
from connectors.discord.cards.write_inputs import (
    input_name,
    input_words,
    value_line,
    with_room,
)
from connectors.discord.cards.write_menus import stands_in_message, write_as_text, write_menu
from connectors.discord.cards.write_state import CardInputs, Json, Writing, content_of, sound
from connectors.discord.cards.write_text import bold, joined, lines_of, plain, say_line, say_small

Line = tuple[Inline, ...]

FILL_IN = "Fill in"
_MAX_OPTIONS = 10  # of a menu in a form; the small print above its button lists up to this many
_MAX_IN_LINE = 200  # characters of a form's text; the small print repeats shorter ones


def write_actions(w: Writing, items: Iterable[Button | Input]) -> None:
    """Write buttons in rows of five, each menu in a row, and adjacent inputs as one form.

    The small print of a form stands between the buttons before it and its own button.
    """
    row = Row(w)
    inputs: list[Input] = []
    row_has_buttons = False
    for item in items:
        if not isinstance(item, Button) and not stands_in_message(item):
            if inputs and (item.dispatches or inputs[-1].dispatches):
                _write_form_button(w, inputs, row)
                inputs = []
            inputs.append(item)
            continue
        if inputs:
            _write_form_button(w, inputs, row)
            inputs = []
        if not isinstance(item, Button):
            row.end()
            write_menu(w, item)
        elif item.does == "reveal" and (form := _form_in(w, item)) is not None:
            if row_has_buttons:
                row.end()
                row_has_buttons = False
            _write_revealed_form(w, item, form, row)
        elif item.does in ("reveal", "toggle"):
            row.end()
            _write_revealed(w, item)
        else:
            row.add(item)
            row_has_buttons = True
    if inputs:
        _write_form_button(w, inputs, row)
    row.end()


def _write_revealed(w: Writing, node: Button) -> None:
    """Write the nodes that a press would reveal: below its label, or in their own place."""
    lose_details(w, node)
    label = plain(node.label)
    sign: Line = (Text(f"{node.emoji} "),) if node.emoji else ()
    if node.does == "toggle":
        lost_words = f"{node.emoji} {label}".strip() or "button"
        w.lose(node.at, "toggle_shown", lost_words, "what it hides is shown")
        hidden = _card_inputs(w).hidden & {*node.targets} - w.unfolded
        if hidden and label:
            w.unfolded |= hidden
            say_small(w, (Text("▾ "), *sign, *node.label), node.at)
        return
    say_line(w, (*sign, *bold(node.label)), node.at)
    w.lose(node.at, "reveal_shown", label or "button", "what it shows is below it")
    w.write(node.nodes)


# --- forms ----------------------------------------------------------------------------------


def _write_form_button(w: Writing, inputs: Sequence[Input], row: Row) -> None:
    """Write the inputs and their values in small print; their submit button opens the form.

    Inputs without a submit button get a button of their own, labelled with their names.
    """
    if not w.token(inputs[0].at):
        row.end()
        for node in inputs:
            write_as_text(w, node)
        return
    card_inputs = _card_inputs(w)
    unsent = [
        node for node in inputs if not node.disabled and id(node) not in card_inputs.submitted
    ]
    name = _button_name(inputs) if len(unsent) == len(inputs) else ""
    if lines := [line for node in inputs if (line := _input_line(w, node, named=bool(name)))]:
        row.end()
        _write_input_lines(w, inputs, lines)
    for node in inputs:
        _lose_input(w, node)
    if unsent and (custom_id := w.action_id(unsent[0].at)):
        body: Json = {"type": schemas.BUTTON, "style": STYLES["default"]}
        row.add_body(body | {"label": _unlike_others(w, name or FILL_IN), "custom_id": custom_id})


def _write_input_lines(w: Writing, inputs: Sequence[Input], lines: Sequence[Line]) -> None:
    multiline = any(_has_more_than_name(node) for node in inputs)
    gap: Inline = Break() if multiline else Text(" · ")
    parts = [part for line in lines for part in (gap, *line)]
    say_small(w, tuple(parts[1:]), inputs[0].at)


def _lose_input(w: Writing, node: Input) -> None:
    words = input_words(node) or node.type
    if node.disabled:
        w.lose(node.at, "disabled_input", words, "what is filled in, in small print")
    elif id(node) in _card_inputs(w).without_page:
        w.lose(node.at, "input_without_room", words)
    else:
        w.lose(node.at, "input_in_form", words, "a form behind a button")


def _input_line(w: Writing, node: Input, *, named: bool = False) -> Line:
    """Return `label: value (placeholder) · hint`, without the label if it is the button's.

    `named`: the button has the input's name. An input without any name is called by its kind.
    """
    label = () if named else node.label
    value = _value_beside_name(node) if named else value_line(node)
    placeholder = plain((Text(node.placeholder),))
    empty: Line = (Text(placeholder),) if placeholder and not value else ()
    if label and empty:
        empty = (Text("("), *empty, Text(")"))
    elif named and not node.label:
        empty = ()
    colon = " " if plain(label).endswith((":", "?")) else ": "
    inlines: list[Inline] = [*label]
    for gap, part in ((colon, value), (" ", empty), (" · ", node.hint)):
        if part:
            inlines += (Text(gap), *part) if inlines else part
    if not inlines and not named and id(node) not in _card_inputs(w).names:
        inlines = [Text(kind_of_input(node))]
    return tuple(inlines)


def _value_beside_name(node: Input) -> Line:
    """Return the value beside a button with the input's name; a checkbox is named by its title."""
    return () if isinstance(node, Toggle) and not node.label else value_line(node)


def _has_more_than_name(node: Input) -> bool:
    """Return whether the input has a value, a hint or a placeholder besides its label."""
    return bool(value_line(node) or node.hint or (node.label and node.placeholder.strip()))


def _button_name(inputs: Sequence[Input]) -> str:
    """Return the names of the inputs if they fit a button and no input has more than its name.

    A single input always gives its name.
    """
    if len(inputs) > 1 and any(map(_has_more_than_name, inputs)):
        return ""
    name = ", ".join(map(_name_on_button, inputs))
    return name if len(name) <= limits.LABEL else ""


def _name_on_button(node: Input) -> str:
    """Return the input's name for a button, which does not repeat the text before the input."""
    if isinstance(node, Toggle) and not node.label:
        return plain(value_line(node)) or input_name(node, {})
    return input_name(node, {})


def _unlike_others(w: Writing, label: str) -> str:
    """Return the label, numbered if another form or button of this message has the same."""
    number = w.labels.get(label, _card_inputs(w).labels[label]) + 1
    w.labels[label] = number
    return label if number == 1 else f"{label[: limits.LABEL - 8]} ({number})"


def _card_inputs(w: Writing) -> CardInputs:
    """Return the inputs of the whole card, computed once."""
    if w.card_inputs is None:
        forms = forms_of(w.card)
        sent: set[int] = set()
        in_forms: set[int] = set()
        for node in walk(w.card.nodes):
            if isinstance(node, Button) and node.does == "submit" and w.token(node.at):
                inputs = forms.sent_by(node)
                unassigned = [
                    item for item in inputs if not item.dispatches and id(item) not in in_forms
                ]
                if unassigned:
                    own_inputs = [item for item in inputs if not item.dispatches]
                    sent.update(map(id, own_inputs))
                    in_forms.update(map(id, with_room(own_inputs)))
        texts_by_input = texts_that_name(w.card.nodes)
        names = {
            own_inputs: blocks_as_line(text.text) for own_inputs, text in texts_by_input.items()
        }
        hidden = frozenset(
            node.id for node in walk(w.card.nodes) if isinstance(node, Container) and node.hidden
        )
        labels = Counter(
            plain(node.label) for node in walk(w.card.nodes) if isinstance(node, Button)
        )
        w.card_inputs = CardInputs(
            names, frozenset(sent), frozenset(sent - in_forms), hidden, labels
        )
    return w.card_inputs


# --- revealed forms --------------------------------------------------------------------------


@dataclass(slots=True)
class _Form:
    """The nodes that a button reveals, as parts of a form.

    `names`: by `id(input)`, the texts that label inputs; `texts`: the other texts; `nodes`: texts
    and inputs in order; `others`: nodes that no form holds.
    """

    names: Mapping[int, Prose]

    texts: list[Node] = field(default_factory=list[Node])
    nodes: list[Node] = field(default_factory=list[Node])
    inputs: list[Input] = field(default_factory=list[Input])
    buttons: list[Button] = field(default_factory=list[Button])
    others: list[Node] = field(default_factory=list[Node])


def texts_of_form(button: Button) -> Nodes:
    """Return the revealed texts that stand in the form, above its inputs."""
    return tuple(_parse_form(button).texts)


def has_several_submits(button: Button) -> bool:
    """Return whether the revealed nodes have several submit buttons."""
    return sum(button.does == "submit" for button in _parse_form(button).buttons) > 1


def _form_in(w: Writing, node: Button) -> _Form | None:
    """Return the form that a button reveals; None without inputs or without a live submit."""
    form = _parse_form(node)
    is_submitted = any(button.does == "submit" and w.token(button.at) for button in form.buttons)
    return form if is_submitted and form.inputs else None


def _parse_form(button: Button) -> _Form:
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
            form.nodes.append(node)
        elif isinstance(node, Prose | Fields | Divider) or _is_all_text(node):
            if not isinstance(node, Divider) and id(node) not in names:
                form.texts.append(node)
                form.nodes.append(node)
        elif _is_bare(node):
            stack.append(within(node))
        else:
            form.others.append(node)
    return form


def _is_all_text(node: Node) -> bool:
    return isinstance(node, Context) and all(isinstance(item, Prose) for item in node.items)


def _is_bare(node: Node) -> bool:
    """Return whether the node has no content besides its children."""
    if isinstance(node, Container):
        return node == Container(
            node.nodes, form=node.form, style=node.style, color=node.color, id=node.id
        )
    if isinstance(node, Columns):
        return not any(column.link for column in node.columns)
    return isinstance(node, Actions | Section)


def _write_revealed_form(w: Writing, node: Button, form: _Form, row: Row) -> None:
    """Write a button that opens the form, labelled like the one that would reveal it.

    A line of small print above the row lists the form's texts and inputs. With several submit
    buttons, each opens the form.
    """
    submits = [button for button in form.buttons if button.does == "submit"]
    for text in form.texts:
        if not _fits_in_line(text):
            w.lose(text.at, "text_in_form", _words_of(w, text), "in the form")
    say_small(w, _form_line(w, node, form, submits), node.at)
    for asked_input in form.inputs:
        _lose_input(w, asked_input)
    label = plain(node.label)
    for button in form.buttons:
        if button.does != "submit":
            _write_other_button(w, button, row)
            continue
        submit_label = plain(button.label)
        w.lose(
            node.at,
            "reveal_in_form",
            submit_label if len(submits) == 1 else label,
            "a form of its title",
        )
        opener = _as_opener(node, button, f"{label}: {submit_label}" if len(submits) > 1 else label)
        if (body := button_body(w, opener)) is not None:
            row.add_body(body)
    if form.others:
        row.end()
        w.write(form.others)


def _form_line(w: Writing, node: Button, form: _Form, submits: Sequence[Button]) -> Line:
    """Return `button: texts · inputs with options → submit button`.

    The last part is left out if a button of the row shows it.
    """
    parts: list[Line] = []
    for item in form.nodes:
        if isinstance(item, Input):
            parts.append(_revealed_input(w, item, form.names.get(id(item))))
        elif _fits_in_line(item):
            parts.append(_text_line(item))
    label, inner = plain(node.label), plain(submits[0].label)
    lead = bold(node.label)
    if lead and any(parts):
        lead = (*lead, Text(" " if label.endswith((":", "?")) else ": "))
    inlines = (*lead, *joined(parts))
    if len(submits) == 1 and inner.casefold() != label.casefold():
        inlines = (*inlines, Text(" → "), *submits[0].label)
    return tuple(Text(" ") if isinstance(inline, Break) else inline for inline in inlines)


def _revealed_input(w: Writing, node: Input, name: Prose | None) -> Line:
    """Return a revealed input with all options of a short menu; `name` replaces its label."""
    if name is not None:
        node = replace(node, label=blocks_as_line(name.text))
    if not isinstance(node, Choice) or not 0 < len(node.options) <= _MAX_OPTIONS:
        return _input_line(w, node)
    placeholder = words(sound(node.placeholder).strip())
    label, options = node.label or placeholder, _options_line(node)
    colon = " " if plain(label).endswith((":", "?")) else ": "
    line: Line = (*label, Text(colon), *options) if label else options
    if node.label and placeholder:
        line = (*line, Text(" ("), *placeholder, Text(")"))
    return (*line, Text(" · "), *node.hint) if node.hint else line


def _options_line(node: Choice) -> Line:
    """Return the options as `☑ first / second`; chosen options have a tick."""
    inlines: list[Inline] = []
    for option in node.options:
        sign = f"{'☑ ' * (option.value in node.values)}{option.emoji and f'{option.emoji} '}"
        inlines.append(Text(f"{' / ' if inlines else ''}{sign}"))
        inlines += option.label or words(sound(option.value))
    return tuple(inlines)


def _fits_in_line(node: Node) -> bool:
    """Return whether a text fits the small print; longer ones are in the form only."""
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


def _as_opener(node: Button, submit: Button, label: str) -> Button:
    """Return the submit button with the look of the button that would reveal it."""
    style = submit.style if node.style == "default" else node.style
    return replace(
        submit, label=(Text(label),), style=style, emoji=node.emoji or submit.emoji,
        icon=node.icon or submit.icon, hint=node.hint or submit.hint,
        disabled=node.disabled or submit.disabled,
    )  # fmt: skip


def _write_other_button(w: Writing, node: Button, row: Row) -> None:
    if node.does in ("reveal", "toggle"):
        row.end()
        _write_revealed(w, node)
    else:
        row.add(node)


def _words_of(w: Writing, node: Node) -> str:
    """Return the words of a text, for a Loss."""
    apart = w.apart()
    apart.write((node,))
    return " ".join(content_of(piece) for piece in apart.pieces)

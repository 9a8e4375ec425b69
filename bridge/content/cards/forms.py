"""The inputs that a submit button sends, and the names of inputs without labels. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bridge.content.cards.tree import Button, Card, Container, Input, Node, Nodes, Prose, Toggle
from bridge.content.cards.walk import walk, within
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Heading, Paragraph

_Path = tuple[int, ...]

_MAX_NAME = 60  # characters of a text that may name the input after it
_MAX_WORDS = 4  # words of a name that is preferred to the placeholder


@dataclass(frozen=True, slots=True)
class Forms:
    """The inputs of a card by the buttons that send them.

    A submit button sends the inputs of its own card and of the cards around it. The nodes of a
    `reveal` button are a card of their own; so is each container of the form `card`, for the
    buttons inside it.
    """

    _inputs: Mapping[_Path, tuple[tuple[int, Input], ...]]
    _inputs_of_any_card: Mapping[_Path, tuple[tuple[int, Input], ...]]
    _enclosing: Mapping[int, tuple[Node, ...]]  # the cards around each button, if any

    def sent_by(self, button: Button) -> tuple[Input, ...]:
        """Returns the inputs whose values this button sends, in the order of reading."""
        if button.does != "submit":
            return ()
        enclosing = self._enclosing.get(id(button), ())
        in_card = any(isinstance(outer, Container) for outer in enclosing)
        inputs = self._inputs if in_card else self._inputs_of_any_card
        path = tuple(map(id, enclosing))
        entries = [entry for end in range(len(path) + 1) for entry in inputs.get(path[:end], ())]
        return tuple(node for _, node in sorted(entries, key=lambda entry: entry[0]))

    def revealed_by(self, button: Button) -> Button | None:
        """Returns the button that reveals the card around this one; None if no button does."""
        enclosing = self._enclosing.get(id(button), ())
        return next((outer for outer in reversed(enclosing) if isinstance(outer, Button)), None)


def forms_of(card: Card) -> Forms:
    """Finds which button of the card sends which inputs, in one walk over the card."""
    inputs: dict[_Path, list[tuple[int, Input]]] = {}
    of_any_card: dict[_Path, list[tuple[int, Input]]] = {}
    enclosing_cards: dict[int, tuple[Node, ...]] = {}
    for number, (node, enclosing) in enumerate(_placed(card.nodes)):
        if isinstance(node, Button):
            if enclosing:
                enclosing_cards[id(node)] = enclosing
        elif isinstance(node, Input):
            path = tuple(map(id, enclosing))
            inputs.setdefault(path, []).append((number, node))
            buttons = tuple(id(outer) for outer in enclosing if isinstance(outer, Button))
            of_any_card.setdefault(buttons, []).append((number, node))
    return Forms(_frozen(inputs), _frozen(of_any_card), enclosing_cards)


def _frozen(
    inputs_by_path: Mapping[_Path, list[tuple[int, Input]]],
) -> Mapping[_Path, tuple[tuple[int, Input], ...]]:
    return {path: tuple(inputs) for path, inputs in inputs_by_path.items()}


def _placed(nodes: Nodes) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every node in the order of reading, with the cards around it, outermost first."""
    stack: list[tuple[Iterator[Node], tuple[Node, ...]]] = [(iter(nodes), ())]
    while stack:
        siblings, enclosing = stack[-1]
        node = next(siblings, None)
        if node is None:
            stack.pop()
            continue
        yield node, enclosing
        is_card = isinstance(node, Button) or (isinstance(node, Container) and node.form == "card")
        stack.append((within(node), (*enclosing, node) if is_card else enclosing))


# --- names ----------------------------------------------------------------------------------


def texts_that_name(nodes: Nodes) -> Mapping[int, Prose]:
    """Returns the texts that name an input without a label, by `id(input)`.

    Such a text is directly before the input. Cards of Adaptive Cards 1.0 to 1.2 have no labels: a
    text above the field, or in the column before it, names it.
    """
    names: dict[int, Prose] = {}
    for siblings in (nodes, *(within(node) for node in walk(nodes))):
        before: Node | None = None
        for node in siblings:
            if isinstance(node, Input) and isinstance(before, Prose) and _is_name_of(before, node):
                names[id(node)] = before
            before = node
    return names


def _is_name_of(prose: Prose, field: Input) -> bool:
    """Whether the input has no name of its own, and the text is a better one than the
    placeholder."""
    if field.label or (isinstance(field, Toggle) and field.title):
        return False
    match prose.text:
        case (Paragraph() | Heading(),):
            text = plain_inlines(blocks_as_line(prose.text)).strip()
        case _:
            return False
    if not text or len(text) > _MAX_NAME or "\n" in text:
        return False
    if not field.placeholder.strip() or text.endswith((":", "?")):
        return True
    headline = isinstance(prose.text[0], Heading) or prose.size in ("large", "huge")
    return len(text.split()) <= _MAX_WORDS and not text.endswith((".", "!")) and not headline

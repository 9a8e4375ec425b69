"""What a submit button sends, and what an input is called that has no label of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bridge.content.cards.tree import Button, Card, Container, Input, Node, Nodes, Prose, Toggle
from bridge.content.cards.walk import walk, within
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Heading, Paragraph

_Path = tuple[int, ...]

_LONGEST_NAME = 60  # characters of a text that can be taken for the name of what follows it
_MOST_WORDS = 4  # of a name that is preferred to what stands in the empty field


@dataclass(frozen=True, slots=True)
class Forms:
    """The inputs of a card by the buttons that send them.

    A submit button sends the inputs of its own card and of the cards around it. What a `reveal`
    button shows is a card of its own; so is each container of the form `card`, for the buttons
    that stand in one.
    """

    _inputs: Mapping[_Path, tuple[tuple[int, Input], ...]]
    _inputs_of_any_card: Mapping[_Path, tuple[tuple[int, Input], ...]]
    _around: Mapping[int, tuple[Node, ...]]  # of each button that has something around it

    def sent_by(self, button: Button) -> tuple[Input, ...]:
        """The inputs whose values this button sends, in the order of reading."""
        if button.does != "submit":
            return ()
        around = self._around.get(id(button), ())
        in_card = any(isinstance(one, Container) for one in around)
        inputs = self._inputs if in_card else self._inputs_of_any_card
        path = tuple(map(id, around))
        found = [one for end in range(len(path) + 1) for one in inputs.get(path[:end], ())]
        return tuple(node for _, node in sorted(found, key=lambda one: one[0]))

    def revealed_by(self, button: Button) -> Button | None:
        """The button that shows the card in which this one stands; None for all others."""
        around = self._around.get(id(button), ())
        return next((one for one in reversed(around) if isinstance(one, Button)), None)


def forms_of(card: Card) -> Forms:
    """Which button of the card sends which inputs. One walk over the card."""
    inputs: dict[_Path, list[tuple[int, Input]]] = {}
    of_any_card: dict[_Path, list[tuple[int, Input]]] = {}
    around_buttons: dict[int, tuple[Node, ...]] = {}
    for number, (node, around) in enumerate(_placed(card.nodes)):
        if isinstance(node, Button):
            if around:
                around_buttons[id(node)] = around
        elif isinstance(node, Input):
            path = tuple(map(id, around))
            inputs.setdefault(path, []).append((number, node))
            buttons = tuple(id(one) for one in around if isinstance(one, Button))
            of_any_card.setdefault(buttons, []).append((number, node))
    return Forms(_frozen(inputs), _frozen(of_any_card), around_buttons)


def _frozen(
    found: Mapping[_Path, list[tuple[int, Input]]],
) -> Mapping[_Path, tuple[tuple[int, Input], ...]]:
    return {path: tuple(several) for path, several in found.items()}


def _placed(nodes: Nodes) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every node in the order of reading, and the cards around it, from the outermost on."""
    stack: list[tuple[Iterator[Node], tuple[Node, ...]]] = [(iter(nodes), ())]
    while stack:
        several, around = stack[-1]
        node = next(several, None)
        if node is None:
            stack.pop()
            continue
        yield node, around
        is_card = isinstance(node, Button) or (isinstance(node, Container) and node.form == "card")
        stack.append((within(node), (*around, node) if is_card else around))


# --- names ----------------------------------------------------------------------------------


def texts_that_name(nodes: Nodes) -> Mapping[int, Prose]:
    """The text directly before an input that has no label, where it names it: by `id(input)`.

    Cards of Adaptive Cards 1.0 to 1.2 have no labels: a text above the field, or in the column
    before it, says what it asks.
    """
    found: dict[int, Prose] = {}
    for siblings in (nodes, *(within(one) for one in walk(nodes))):
        before: Node | None = None
        for node in siblings:
            if isinstance(node, Input) and isinstance(before, Prose) and _names(before, node):
                found[id(node)] = before
            before = node
    return found


def _names(prose: Prose, asked: Input) -> bool:
    """Whether the input has no name of its own, and the text is a better one than the
    placeholder."""
    if asked.label or (isinstance(asked, Toggle) and asked.title):
        return False
    match prose.text:
        case (Paragraph() | Heading(),):
            said = plain_inlines(blocks_as_line(prose.text)).strip()
        case _:
            return False
    if not said or len(said) > _LONGEST_NAME or "\n" in said:
        return False
    if not asked.placeholder.strip() or said.endswith((":", "?")):
        return True
    headline = isinstance(prose.text[0], Heading) or prose.size in ("large", "huge")
    return len(said.split()) <= _MOST_WORDS and not said.endswith((".", "!")) and not headline

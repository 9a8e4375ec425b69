"""The laws of translation, judged for one message and one target. Knows no codec.

What is judged is what `translate` gives; what the source and the output show is read by
the platforms' `seen` modules, written from the platforms' own descriptions.
"""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bridge.app.translation.translate import Translation, token, translate
from bridge.content.cards.codec import Codec
from bridge.content.cards.tree import Node
from bridge.content.cards.walk import walk
from bridge.errors import CodecError
from bridge.model import Level, Loss
from bridge.runtime.discovery import connector_type
from tests.corpus import card_view, plain, rules
from tests.corpus.discord_pressed import asked_in_forms
from tests.corpus.lcs import longest_common
from tests.corpus.payloads import Case
from tests.corpus.platforms import PLATFORMS, part_of
from tests.corpus.view import Act, Element, View, ViewText

TARGETS = (*PLATFORMS, "uacs", "card")
# A template without its data is the author's; a Native's loss is no loss of what stands for it,
# which has the same place.
_NO_LOSS_OF_THE_TARGET = frozenset(
    {"template_unexpanded", "native_as_fallback", "native_fallback", "native"}
)
_REPEATED = 3  # words: shorter strings may be said again by chance
_LONG_WORD = 20  # letters: it may be split


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that breaks a law; faults of one `cause` are mended together."""

    law: str
    cause: str
    case: str
    what: str


@dataclass(slots=True)
class Verdict:
    """What was counted in one translation, and what was wrong."""

    case: Case
    target: str
    refused: str = ""
    words: int = 0
    kept: int = 0
    named: int = 0
    ordered: int = 0
    in_order: int = 0
    acts: int = 0
    usable: int = 0
    acts_named: int = 0
    full: int = 0
    full_lost: int = 0
    nodes: int = 0
    nodes_kept: int = 0
    losses: tuple[Loss, ...] = ()
    elements: list[Element] = field(default_factory=list[Element])
    faults: list[Fault] = field(default_factory=list[Fault])


def judge(case: Case, target: str) -> Verdict:
    """One way of one message. `target` of the same platform means: through the tree."""
    verdict = Verdict(case, target)
    try:
        done = translate(
            case.payload, source=case.platform, target=target, through_tree=target == case.platform
        )
    except CodecError as error:
        verdict.refused = str(error)
        return verdict
    except Exception as error:  # noqa: BLE001  # law 2: nothing but CodecError
        verdict.refused = f"failed: {error}"
        verdict.faults.append(_not_total(case, target, error))
        return verdict
    _Judge(verdict, _see(case.platform)(case.payload), done).all()
    return verdict


@cache
def _see(form: str) -> Callable[[Any], View]:
    """What a message of a platform, a card or a UACS message shows."""
    match form:
        case "card":
            return card_view.see_card
        case "uacs":
            return card_view.see_message
        case _:
            module = part_of(form, "view")
            assert module is not None, form
            return module.see


def see(platform: str, messages: Iterable[Any]) -> View:
    """What several messages show, one after the other."""
    whole = View()
    for number, message in enumerate(messages):
        part = _see(platform)(message)
        whole.texts += part.texts
        whole.acts += part.acts
        whole.elements += [
            Element(f"#{number}{element.at}", element.kind) for element in part.elements
        ]
    return whole


def _not_total(case: Case, target: str, error: Exception) -> Fault:
    way = f"{case.platform} -> {target}"
    cause = f"{way}: {type(error).__name__} {rules.cause(str(error))}"
    return Fault("2 total", cause, case.name, str(error))


class _Judge:
    def __init__(self, verdict: Verdict, source: View, done: Translation) -> None:
        self._verdict = verdict
        self._case = verdict.case
        self._source = source
        self._done = done
        self._target_view = see(verdict.target, done.messages)
        self._card = codec_of(verdict.case.platform).read_message(verdict.case.payload)
        self._nodes = [Element(node.at, node.type) for node in walk(self._card.nodes)]
        self._shown_words = [
            word for text in self._target_view.texts for word in plain.words(text.text)
        ]
        self._whole = "".join(self._shown_words)
        self._blob = "\n".join(_strings(list(done.messages)))
        lost = [
            word for loss in done.losses for word in plain.words(f"{loss.what} {loss.shown_as}")
        ]
        self._lost, self._lost_whole = frozenset(lost), "".join(lost)
        self._in_forms: frozenset[str] | None = None

    def all(self) -> None:
        self._verdict.losses = self._done.losses
        self._verdict.elements = self._source.elements
        self._words()
        if self._verdict.target != "card":  # its JSON has the order of fields, not of reading
            self._order()
            self._repeats()
        self._actions()
        self._full()
        self._safe()
        self._deliverable()
        if self._verdict.target == self._case.platform:
            self._home()

    def _fault(self, law: str, what: str, at: str = "", kind: str = "") -> None:
        way = f"{self._case.platform} -> {self._verdict.target}"
        cause = kind or owner_of(self._source.elements, at).kind
        self._verdict.faults.append(Fault(law, f"{way}: {cause}", self._case.name, what))

    # --- words ------------------------------------------------------------------------------

    def _words(self) -> None:
        remaining = Counter(self._shown_words)
        for entry in sorted(self._source.texts, key=lambda entry: entry.visibility == "hidden"):
            if entry.visibility == "hidden" and self._verdict.target == "uacs":
                continue  # the payload itself stands beside what is said of it
            words = plain.words(entry.text)
            missing = [word for word in words if not _take(remaining, word)]
            if missing and len(words) > 1 and "".join(words) in self._whole:
                missing = []
            missing = [word for word in missing if not self._is_split(word)]
            unnamed = [word for word in missing if not self._is_named(word)]
            if entry.visibility == "shown":
                self._verdict.words += len(words)
                self._verdict.kept += len(words) - len(missing)
            self._verdict.named += len(missing) - len(unnamed)
            if unnamed:
                law = "3 words vanish" if entry.visibility == "shown" else "3 hidden words vanish"
                self._fault(
                    law, f"{entry.at}: {_short(entry.text)!r} lacks {unnamed[:8]}", entry.at
                )

    def _is_split(self, word: str) -> bool:
        return len(word) >= _LONG_WORD and word in self._whole

    def _is_named(self, word: str) -> bool:
        return word in self._lost or (len(word) >= _LONG_WORD and word in self._lost_whole)

    def _order(self) -> None:
        texts = [text.text for text in self._source.texts if self._is_in_order(text)]
        words = [word for text in texts for word in plain.words(text)]
        present = Counter(self._shown_words)
        present_words = [word for word in words if _take(present, word)]
        self._verdict.ordered = len(words)
        self._verdict.in_order = (
            longest_common(present_words, self._shown_words) + len(words) - len(present_words)
        )
        if words and self._verdict.in_order < 0.97 * len(words):
            share = self._verdict.in_order / len(words)
            self._fault("3 order", f"{share:.2f} of {len(words)} words in order",
                        kind=self._moved())  # fmt: skip

    def _is_in_order(self, text: ViewText) -> bool:
        """Charts are read as tables elsewhere, label by label."""
        if text.visibility == "hidden":
            return False
        return not owner_of(self._source.elements, text.at).kind.startswith(("Chart.", "data_vis"))

    def _moved(self) -> str:
        """The kind of element whose words stand furthest from where they stood."""
        position = 0
        for text in self._source.texts:
            words = plain.words(text.text)
            if text.visibility != "shown" or not words:
                continue
            start_at = _find(self._shown_words, words, position)
            if start_at is None and _find(self._shown_words, words, 0) is not None:
                return owner_of(self._source.elements, text.at).kind
            position = start_at if start_at is not None else position
        return "?"

    def _repeats(self) -> None:
        before = [word for text in self._source.texts for word in plain.words(text.text)]
        for text, text_item in {text.text: text for text in self._source.texts}.items():
            words = plain.words(text)
            if len(words) < _REPEATED and sum(map(len, words)) < 12:
                continue
            if "/option_groups/" in text_item.at and text_item.at.endswith("/label"):
                continue  # menus without headings say them with each option
            allowed = _times(before, words) + self._names_a_form(text_item)
            if _times(self._shown_words, words) > allowed:
                self._fault("3 said twice", f"{text_item.at}: {_short(text)!r}", text_item.at)

    def _names_a_form(self, text: ViewText) -> bool:
        """It is the label of a button that opens a form: small print above says what that asks."""
        owner = text.at.rpartition("/")[0]
        return any(
            loss.kind == "reveal_in_form" and loss.path == owner for loss in self._done.losses
        )

    # --- actions ----------------------------------------------------------------------------

    def _actions(self) -> None:
        if self._verdict.target in ("uacs", "card"):
            return
        for act in self._source.acts:
            self._verdict.acts += 1
            if self._is_usable(act):
                self._verdict.usable += 1
            elif self._act_is_named(act):
                self._verdict.acts_named += 1
            else:
                self._fault(f"3 actions vanish ({act.does})", f"{act.at}: {act.label!r}", act.at)

    def _is_usable(self, act: Act) -> bool:
        if act.does == "link":
            return act.url in self._blob or _url(act.url) in _url(self._blob)
        if act.does == "show" and (
            self._is_open(act) or set(plain.words(act.label)) <= set(self._shown_words)
        ):
            return True
        if any(token(at) in self._blob for at in _places(act)):
            return True
        if act.does == "input" and self._is_in_form(act):
            return True
        return self._has_a_number(act)

    def _has_a_number(self, act: Act) -> bool:
        """People answer with the number of the action: one of this name has a number, or as many
        have one as the source has actions."""
        numbers = [shown for shown in self._target_view.acts if "/!" in shown.at]
        label = plain.words(act.label)
        named = any(
            shown.does == act.does and label == plain.words(shown.label)[: len(label)]
            for shown in numbers
        )
        reported = [action for action in self._source.acts if action.does in ("press", "input")]
        return named or (act in reported and len(numbers) >= len(reported))

    def _is_open(self, act: Act) -> bool:
        """What it would show is shown already."""
        return any(loss.shown_as and _within(loss.path, act.at) for loss in self._done.losses)

    def _is_in_form(self, act: Act) -> bool:
        """A button opens a form with it, where the target's messages hold no inputs."""
        if self._verdict.target != "discord":
            return False
        if self._in_forms is None:
            self._in_forms = asked_in_forms(self._card, self._done.messages)
        return any(token(at) in self._in_forms for at in _places(act))

    def _act_is_named(self, act: Act) -> bool:
        words = plain.words(act.label)
        for loss in self._done.losses:
            if any(_within(loss.path, at) for at in _places(act)):
                return True
            if words and set(words) <= set(plain.words(loss.what)):
                return True
        return False

    # --- nodes ------------------------------------------------------------------------------

    def _full(self) -> None:
        """Losses on nodes that the target says it shows in full."""
        nodes = [node for node in walk(self._card.nodes) if _is_full(self._verdict.target, node)]
        lost: dict[str, Loss] = {}
        for loss in self._done.losses:
            if loss.kind not in _NO_LOSS_OF_THE_TARGET:
                lost.setdefault(owner_of(self._nodes, loss.path).at, loss)
        self._verdict.full += len(nodes)
        innermost = {node.at: node for node in walk(self._card.nodes)}
        for node in nodes:
            if (loss := lost.get(node.at)) is not None and innermost[node.at] is node:
                self._verdict.full_lost += 1
                what = f"{loss.kind} at {loss.path}: {_short(loss.what)}"
                self._fault("losses on full nodes", what, kind=f"{node.type} ({loss.kind})")

    def _home(self) -> None:
        """The tree of what was written for the same platform has the same nodes in this order."""
        if "custom_id" in self._case.payload:
            return  # a modal, which is no message
        codec = codec_of(self._case.platform)
        again = [
            node for message in self._done.messages for node in codec.read_message(message).nodes
        ]
        before, after = _kinds(self._card.nodes), _kinds(again)
        self._verdict.nodes = len(before)
        self._verdict.nodes_kept = longest_common(before, after)
        missing = Counter(before) - Counter(after)
        for kind, count in missing.items():
            what = f"{count} x {kind} is not there again"
            self._fault("1 home through the tree", what, kind=kind)
        if not missing and self._verdict.nodes_kept < len(before):
            self._fault("1 home through the tree", f"order: {before} -> {after}", kind="order")

    # --- what may be sent -------------------------------------------------------------------

    def _safe(self) -> None:
        for what in rules.unsafe(self._verdict.target, self._done.messages, self._case):
            self._fault("5 safe", what, kind=what.partition(":")[0])

    def _deliverable(self) -> None:
        for number, message in enumerate(self._done.messages):
            for what in rules.broken(self._verdict.target, message):
                self._fault("4 deliverable", f"message {number}: {what}", kind=rules.cause(what))


# --- laws that need no count ----------------------------------------------------------------


def home_faults(case: Case) -> Iterator[Fault]:
    """Law 1: what goes home is the same JSON, straight and through UACS; law 6: the same bytes."""
    way = f"{case.platform} -> {case.platform}"
    try:
        straight = translate(case.payload, source=case.platform, target=case.platform)
        (stored,) = translate(case.payload, source=case.platform, target="uacs").messages
        again = translate(stored, source="uacs", target=case.platform)
    except CodecError:
        return
    except Exception as error:  # noqa: BLE001  # law 2
        yield _not_total(case, case.platform, error)
        return
    expected = rules.sent_home(case.platform, case.payload)
    if list(straight.messages) != [expected]:
        yield Fault(
            "1 home is exact", f"{way}: straight", case.name, _difference(straight, expected)
        )
    if list(again.messages) != [expected]:
        yield Fault("1 home is exact", f"{way}: over UACS", case.name, _difference(again, expected))


def stable_faults(case: Case, target: str) -> Iterator[Fault]:
    """Law 6: twice the same bytes; and there and back, all that the target shows."""
    way = f"{case.platform} -> {target}"
    try:
        first = translate(case.payload, source=case.platform, target=target, through_tree=True)
        second = translate(case.payload, source=case.platform, target=target, through_tree=True)
        if json.dumps(first.messages) != json.dumps(second.messages):
            yield Fault("6 stable", f"{way}: bytes differ", case.name, "")
        if target in PLATFORMS and target != case.platform:
            yield from _there_and_back(case, target, first)
    except CodecError:
        return
    except Exception as error:  # noqa: BLE001  # law 2 again, on the way back
        yield _not_total(case, f"{target} -> {case.platform}", error)


def _there_and_back(case: Case, target: str, first: Translation) -> Iterator[Fault]:
    way = f"{case.platform} -> {target} -> {case.platform}"
    view = see(target, first.messages)
    lost: set[str] = set()
    back: list[Any] = []
    for message in first.messages:
        try:
            done = translate(message, source=target, target=case.platform)
        except CodecError as error:
            yield Fault("6 there and back", f"{way}: refused", case.name, str(error))
            return
        back += done.messages
        losses = " ".join(f"{loss.what} {loss.shown_as}" for loss in done.losses)
        lost |= set(plain.words(losses))
    remaining = Counter(
        w for text in see(case.platform, back).texts for w in plain.words(text.text)
    )
    whole = "".join(remaining.elements())
    for text in view.texts:
        words = plain.words(text.text)
        missing = [w for w in words if not _take(remaining, w) and w not in lost]
        if missing and text.visibility == "shown" and "".join(words) not in whole:
            kind = owner_of(view.elements, f"#0{text.at}").kind
            what = f"{_short(text.text)!r} lacks {missing[:6]}"
            yield Fault("6 there and back", f"{way}: {kind}", case.name, what)


# --- nodes ---------------------------------------------------------------------------------


@cache
def codec_of(platform: str) -> Codec:
    return connector_type(platform).codec()


@cache
def _levels(platform: str) -> dict[str, Level]:
    """How far a platform says that it shows each node of a card."""
    if platform not in PLATFORMS:
        return {}
    capabilities = importlib.import_module(f"connectors.{platform}.capabilities")
    features: dict[str, Level] = capabilities.CAPABILITIES.features
    return {name.removeprefix("card."): level for name, level in features.items()}


def _is_full(platform: str, node: Node) -> bool:
    return _levels(platform).get(node.type) == Level.FULL


def _kinds(nodes: Iterable[Node]) -> list[str]:
    """The types of all nodes; prose that stands together is one."""
    kinds = [node.type for node in walk(nodes)]
    return [kind for kind, before in zip(kinds, ["", *kinds], strict=False)
            if kind != "prose" or before != "prose"]  # fmt: skip


# --- small ----------------------------------------------------------------------------------


def _take(remaining: Counter[str], word: str) -> bool:
    if remaining[word] <= 0:
        return False
    remaining[word] -= 1
    return True


def _times(heap: Sequence[str], words: Sequence[str]) -> int:
    """How often this run of words stands there, in itself, too."""
    count, start = 0, 0
    while (end := _find(heap, words, start)) is not None:
        count, start = count + 1, end - len(words) + 1
    return count


def _find(text_words: Sequence[str], words: Sequence[str], start: int) -> int | None:
    first = words[0]
    for index in range(start, len(text_words) - len(words) + 1):
        if text_words[index] == first and list(text_words[index : index + len(words)]) == list(
            words
        ):
            return index + len(words)
    return None


def _strings(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            stack += node.values()
        elif isinstance(node, list):
            stack += node


_ENCODED = re.compile(r"%[0-9a-fA-F]{2}|[<>\\`|*_~()\[\]{}^\"' ]|&amp;|&")


@cache
def _url(text: str) -> str:
    """URLs without what some dialects must spell otherwise."""
    return _ENCODED.sub("", text)


_INNER = frozenset({"element", "component", "accessory", "tap", "selectAction"})


def _places(act: Act) -> tuple[str, ...]:
    """Where codecs may say that it stood: itself, its block, its parts."""
    parent = act.at.rpartition("/")[0]
    last = act.at.rpartition("/")[2]
    beside = (
        (parent,) if last in ("element", "component", "accessory", "tap", "selectAction") else ()
    )
    return (act.at, *beside, f"{act.at}/element", f"{act.at}/component")


def _within(path: str, at: str) -> bool:
    return path == at or path.startswith(f"{at}/")


def owner_of(elements: Sequence[Element], at: str) -> Element:
    """The innermost element that stands at this place or around it."""
    owner = Element("", "message")
    for element in elements:
        if _within(at, element.at) and len(element.at) >= len(owner.at):
            owner = element
    return owner


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _difference(done: Translation, expected: Any) -> str:
    (*_, message) = (*done.messages, None) if not done.messages else done.messages
    if not isinstance(message, dict) or not isinstance(expected, dict):
        return f"{len(done.messages)} messages"
    differs = [k for k in {**message, **expected} if message.get(k) != expected.get(k)]
    return f"{len(done.messages)} messages; differs in {differs}"

"""Trees of text for the laws of the dialects: whatever one of them can say, however tricky."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from bridge.content.text.tree import (
    Block,
    Break,
    CodeBlock,
    Document,
    Heading,
    Inline,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Text,
)

# Signs of every dialect, words, other scripts, signs that combine, emoji of several characters.
PIECES = [
    *"*_~`|<>[]()#-+.!&\\/:@=^{}$1ab", " ", "word", "two words", "**", "__", "~~", "||",
    "```", "> ", "- ", "1. ", "12) ", "# ", "-# ", "• ", "http", "://",
    "https://a.example/b_c", "@everyone", "<@1>", "<#1>", "<!here>", "<b>", "</b>",
    "<br>", "&amp;", "&lt;", "&#42;", ":smile:", "<t:1:R>", "{x}", "$1$", "שלום", "é",
    "e\u0301", "न\u093f", "👨‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "漢字", "ß", "٣", "…",
]  # fmt: skip


# What makes careless readers slow: signs that open and never close, and depth.
HOSTILE = [
    *"*_~`[]()<>:&|\\#-!@=\n\t ", "*a ", "_a ", "~a ", "**a ", "__a", "||a",
    "*a _b ~c ", "a*b", "<a", "<@", "<!", "<b>", "</b>", "<u>", "<a href='", "<p>",
    "<ul><li>", "<table><tr><td>", "<!--", "<at>", "[a](", "[a](b", "![", "](", "> ",
    "> > ", ">>> ", "> a\n", "- ", "  - ", "- a\n", "1. ", "• ", "-# a\n", "    • ",
    "```", "```\n", "`a``b`", "&amp;", "&#", "https://", "https://a", "http://a(",
    "://", ":a", ":a:", ":tada:", "<t:1", "<:a:", "@everyone", "\n\n", "a\n\n",
    "\u200b", "e\u0301", "👨‍👩‍👧", "א", "|a|b\n|-|-\n", "| a |\n", "[x] ", "<https://a",
    "<http://a|b", "<!date^1^{_}|", "{", "$",
]  # fmt: skip


def words(*left_out: str, max_pieces: int = 5) -> st.SearchStrategy[str]:
    """Text of one line, without white space at its edges and without the signs left out."""
    pieces = [piece for piece in PIECES if not any(sign in piece for sign in left_out)]
    return (
        st.lists(st.sampled_from(pieces), min_size=1, max_size=max_pieces)
        .map(lambda pieces: " ".join("".join(pieces).split()))
        .filter(lambda text: text and not any(sign in text for sign in left_out))
    )


def texts(*left_out: str) -> st.SearchStrategy[Inline]:
    return words(*left_out).map(Text)


def styled(
    inner: st.SearchStrategy[Inline], kinds: Sequence[type[Inline]]
) -> st.SearchStrategy[Inline]:
    children = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(*(st.builds(kind, children) for kind in kinds))


def runs(inner: st.SearchStrategy[Inline]) -> st.SearchStrategy[tuple[Inline, ...]]:
    """Nodes with a space or nothing between them, in lines."""
    gap: st.SearchStrategy[Inline | None] = st.sampled_from([None, Text(" "), Text(" "), Break()])
    pairs = st.lists(st.tuples(inner, gap), min_size=1, max_size=4)
    return pairs.map(
        lambda pairs_drawn: _without_end(
            [inline for pair in pairs_drawn for inline in pair if inline]
        )
    )


def _without_end(nodes: list[Inline]) -> tuple[Inline, ...]:
    return tuple(nodes[:-1] if nodes[-1] in (Break(), Text(" ")) else nodes)


@dataclass(frozen=True)
class Sayable:
    """What blocks a dialect can say, and where; `runs` are its runs of inlines."""

    runs: st.SearchStrategy[tuple[Inline, ...]]
    code: st.SearchStrategy[str] | None = None
    languages: tuple[str, ...] = ("",)
    headings: int = 0
    subtle: bool = False
    quotes: bool = True
    below: int = 2  # most blocks below the first of an item
    in_items: tuple[type[Block], ...] = (Paragraph, List)
    in_quotes: tuple[type[Block], ...] = (Paragraph, List)
    rules: bool = True
    starts: tuple[int | None, ...] = (None, None, 1, 7)

    def documents(self) -> st.SearchStrategy[Document]:
        return st.lists(self._block(2), min_size=1, max_size=4).map(tuple)

    def _block(self, depth: int, kinds: tuple[type[Block], ...] = ()) -> st.SearchStrategy[Block]:
        strategies: dict[type[Block], st.SearchStrategy[Block]] = {
            Paragraph: st.builds(Paragraph, self.runs, st.sampled_from([False, False, self.subtle]))
        }
        if self.code is not None:
            strategies[CodeBlock] = st.builds(CodeBlock, self.code, st.sampled_from(self.languages))
        if self.headings:
            line = self.runs.filter(lambda run: Break() not in run)
            strategies[Heading] = st.builds(Heading, st.integers(1, self.headings), line)
        if self.rules:
            strategies[Rule] = st.just(Rule())
        if depth:
            strategies[List] = st.builds(List, self._items(depth - 1), st.sampled_from(self.starts))
            if self.quotes:
                inner = st.lists(self._block(depth - 1, self.in_quotes), min_size=1, max_size=2)
                strategies[Quote] = st.builds(Quote, inner.map(tuple))
        return st.one_of(
            *(strategy for kind, strategy in strategies.items() if not kinds or kind in kinds)
        )

    def _items(self, depth: int) -> st.SearchStrategy[tuple[ListItem, ...]]:
        """Items begin with a paragraph; what else stands in them comes below it."""
        first = st.builds(Paragraph, self.runs)
        limit = self.below if depth or Paragraph in self.in_items else 0
        below = (
            st.lists(self._block(depth, self.in_items), max_size=limit) if limit else st.just([])
        )
        blocks = st.tuples(first, below).map(lambda pair: (pair[0], *pair[1]))
        boxes = st.sampled_from([None, None, None, True, False])
        return st.lists(st.builds(ListItem, blocks, boxes), min_size=1, max_size=3).map(tuple)

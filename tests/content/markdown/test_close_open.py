"""Markdown that is still being written: what may be shown of it, and what waits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text
from bridge.content.markdown.close_open import close_open_markup, settled_markdown
from tests.content.reading import addresses, letters
from tests.examples import examples

WRITTEN = """# A plan

Here is **what** I found in *three* [places](https://a.example/x_(y)?q=1&r=2),
[@Ann](uacs:actor/chat:T0:U1):

1. `one` and ~~two~~ and ||hidden words||
2. https://b.example/path is bare

   - [ ] nested __thing__
   - [x] done &amp; dusted \\*not bold\\*

| Name | Value |
| ---- | :---: |
| a    | **1** |
| b    | `x|y` |

> quoted **words
> over lines** end

```python
def f():
    return "**not bold** [no](link)"
```

~~~
tilde
~~~

Title
=====

Last <u>line</u> 2 * 3 and snake_case_name, 5 < 6, :tada: done!
"""

PIECES = [
    "word", "two words", " ", " ", "\n", "\n\n", "**", "*", "_", "__", "~~", "||", "`", "``",
    "```\n", "```py\n", "~~~\n", "[a label", "](", ")", "]", "![alt](",
    "[@Ann](uacs:actor/chat:T0:U1)", "[x](https://h.example)", "- ", "1. ", "2) ", "# ", "> ",
    "| a | b |\n", "|-|-|\n", "| 1 | 2 |", "&amp;", "&lt", "\\*", "\\", "<u>inner</u>",
    "https://c.example/d ", ":tada:", ":ta", "!", ".", "snake_case", "2 * 3", "- [ ] ",
    "---\n", "===\n",
]  # fmt: skip


def written() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)


def assert_shows_a_beginning(visible: str, whole: str) -> None:
    visible_text, final = markdown_to_text(visible), markdown_to_text(whole)
    assert letters(final).startswith(letters(visible_text)), (
        visible,
        letters(visible_text),
        letters(final),
    )
    assert addresses(visible_text) <= addresses(final), (visible, addresses(visible_text))


@pytest.mark.parametrize("close_markup", [close_open_markup, settled_markdown])
def test_each_prefix_of_an_answer_shows_a_prefix_of_its_text(
    close_markup: Callable[[str], str],
) -> None:
    for end in range(len(WRITTEN) + 1):
        assert_shows_a_beginning(close_markup(WRITTEN[:end]), WRITTEN)


@settings(max_examples=examples(400))
@given(written(), st.data())
def test_a_prefix_of_any_text_shows_nothing_that_the_whole_text_lacks(
    whole: str, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(whole)))
    assert_shows_a_beginning(close_open_markup(whole[:end]), whole)
    assert_shows_a_beginning(settled_markdown(whole[:end]), whole)


@given(st.text(max_size=300))
def test_any_text_can_be_closed(text: str) -> None:
    assert isinstance(close_open_markup(text), str)
    assert text.startswith(settled_markdown(text))


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("It is **very bo", "It is **very bo**"),
        ("It is **very bold*", "It is **very bold**"),
        ("It is **very bold**", "It is **very bold**"),
        ("a *b **c", "a *b **c***"),
        ("see [the page](https://evil.exam", "see"),
        ("see [the pa", "see"),
        ("see [@Ann](uacs:actor/ch", "see"),
        ("run `rm -r", "run"),
        ("at https://a.example/pa", "at"),
        ("so\n\n```py\nx = 1\ny", "so\n\n```py\nx = 1\ny\n```"),
        ("so\n\n```py\nx = 1\n``", "so\n\n```py\nx = 1\n```"),
        ("so\n\n```p", "so"),
        ("so\n\n| a | b |\n|--", "so"),
        ("| a | b |\n|---|---|\n| 1 |", "| a | b |\n|---|---|"),
        ("hidden: ||the butl", "hidden: ||the butl||"),
        ("points:\n- one\n-", "points:\n- one"),
        ("points:\n- one\n- [", "points:\n- one"),
        ("2 * 3 is 6", "2 * 3 is 6"),
        ("snake_case_na", "snake_case_na"),
        ("a <u>line", "a"),
        ("fish &am", "fish"),
    ],
)
def test_open_markup_is_closed_or_held_back(text: str, visible: str) -> None:
    assert close_open_markup(text) == visible


@pytest.mark.parametrize(
    ("text", "visible"),
    [("It is **very bo", "It is"), ("so\n\n```py\nx = 1\ny", "so\n\n```py\nx = 1\ny")],
)
def test_settled_markdown_holds_back_open_styles_but_not_open_code_blocks(
    text: str, visible: str
) -> None:
    assert settled_markdown(text) == visible


def test_a_bracket_without_a_link_is_held_back_only_for_a_while() -> None:
    text = "the list [1, 2, " + "word " * 100

    assert len(close_open_markup(text)) > 300

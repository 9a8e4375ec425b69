"""A glob describes what its states accept, whichever way it is matched."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bridge.content.text.globs import matches

GLOBS = st.text(alphabet="ab*/", max_size=8)
TEXTS = st.text(alphabet="ab*/\0", max_size=8)


@given(GLOBS, TEXTS)
def test_one_star_matches_no_slash_and_two_stars_match_any_text(glob: str, text: str) -> None:
    runs = re.sub(r"\*{2,}", "\1", glob)
    pattern = "".join(
        {"\1": r"[^\0]*", "*": r"[^/\0]*"}.get(char, re.escape(char)) for char in runs
    )

    assert matches(glob, text) == (re.fullmatch(pattern, text) is not None)


def test_each_alternative_of_a_glob_can_match() -> None:
    assert matches("{team,dev}-*", "dev-ops")
    assert not matches("{team,dev}-*", "devops")

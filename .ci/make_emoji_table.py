"""npm `emoji-datasource` -> `bridge/content/text/emoji_table.py`: short names and code points.

`npm pack emoji-datasource && tar xzf emoji-datasource-*.tgz`, then
`python .ci/make_emoji_table.py package`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "bridge" / "content" / "emoji_table.py"
WIDTH = 99
TONES = ("1F3FB", "1F3FC", "1F3FD", "1F3FE", "1F3FF")
HEAD = '''"""Short names of emoji and their characters; `.ci/make_emoji_table.py` wrote it.

NOTICE: names and code points are from npm `emoji-datasource` {version} (MIT licence, (c) 2013 Cal
Henderson, https://github.com/iamcal/emoji-data).

`name/alias=code-points`: `+` before the code points when a skin tone may follow the first of them,
`~form` behind them where two people have one each (`a` and `b`).
"""

TABLE = """
'''


def main() -> None:
    """Read the unpacked package that is named on the command line; write the table."""
    package = Path(sys.argv[1])
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    emoji = json.loads((package / "emoji.json").read_text("utf-8"))
    emoji.sort(key=lambda one: one["sort_order"])
    words = [entry(one) for one in emoji]
    TABLE.write_text(HEAD.format(version=version) + "\n".join(wrapped(words)) + '\n"""\n', "utf-8")


def entry(emoji: dict[str, Any]) -> str:
    """One emoji as a word of the table; all its tones must follow from that word."""
    variations = {tones: one["unified"] for tones, one in emoji.get("skin_variations", {}).items()}
    points = emoji["unified"]
    form = two_tones(variations)
    takes_one = any("-" not in tones for tones in variations)
    for tones, expected in variations.items():
        first, _, second = tones.partition("-")
        made = (
            with_tone(points, first) if not second and takes_one else form_of(form, first, second)
        )
        if made != expected:
            raise ValueError(f"{emoji['short_name']} {tones}: {made} is not {expected}")
    names = "/".join(emoji["short_names"])
    return f"{names}={'+' if takes_one else ''}{points}{f'~{form}' if form else ''}"


def with_tone(points: str, tone: str) -> str:
    first, *rest = points.split("-")
    return "-".join([first, tone, *(rest[1:] if rest[:1] == ["FE0F"] else rest)])


def two_tones(variations: dict[str, str]) -> str:
    """The form of an emoji of two people: its code points with `a` and `b` for the tones."""
    pair = variations.get(f"{TONES[0]}-{TONES[1]}", "")
    return pair.replace(TONES[0], "a").replace(TONES[1], "b")


def form_of(form: str, first: str, second: str) -> str:
    return re.sub("[ab]", lambda found: first if found[0] == "a" else second or first, form)


def wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


if __name__ == "__main__":
    main()

"""The networks that the local IRC is seeded with: their channels, people and bots."""

from __future__ import annotations

from dataclasses import dataclass

BOT = "bridge"
_CHANNELS = ("general", "random", "help")


@dataclass(frozen=True)
class SeededNetwork:
    """A network: its name in settings and ids, its title, and the nicks of its people. People in
    `logged_in` have a services account of the same name."""

    name: str
    title: str
    people: tuple[str, ...]
    logged_in: tuple[str, ...]


NETWORKS = (
    SeededNetwork("harbour", "HarbourNet", ("mika", "ines", "tomas", "yara"), ("mika", "yara")),
    SeededNetwork("meadow", "MeadowNet", ("olga", "pavel", "rosa"), ("olga",)),
)


def channel_names(count: int) -> list[str]:
    """`#general`, `#random`, `#help`, `#ch-4` and so on."""
    further = (f"ch-{number}" for number in range(len(_CHANNELS) + 1, count + 1))
    return [f"#{name}" for name in [*_CHANNELS, *further][: max(1, count)]]

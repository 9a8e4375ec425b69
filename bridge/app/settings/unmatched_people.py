"""Globs of people, as a configuration has them -> those that can mean nobody, and what to write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from bridge.app.settings.nearest import closest
from bridge.content.text.globs import matches, meet
from bridge.model.refs import PROGRAMS
from bridge.ports.tools import ADMINS, ASKER
from bridge.runtime.discovery import CONNECTORS, names_of

_PERSON = re.compile(r"[0-9a-f]{32}")
_ACCOUNTS = {"group": "WORKSPACE:ID", "guest": "WORKSPACE"}


def nobody_meant(globs: Sequence[str], *, groups: bool = False) -> Iterator[tuple[int, str]]:
    """The index of each glob of ids (with `groups`: of groups and guests, too) that no id can fit,
    and why."""
    kinds = ("group", "guest") if groups else ()
    for index, glob in enumerate(globs):
        if not _may_mean(glob, kinds):
            yield index, _todo(glob, kinds)


@cache
def _may_mean(glob: str, kinds: tuple[str, ...]) -> bool:
    """Whether some id has one of the known forms and fits the glob."""
    forms = [*(f"{kind}:{form}" for kind in kinds for form in _forms(kind)), *_forms("")]
    # A star may stand for nothing: what is left of nearly every glob is an id already.
    plain = glob.replace("*", "")
    if "{" not in glob and any(matches(form, plain) for form in forms):
        return True
    return any(meet(glob, form) for form in forms)


def nobody_approves(globs: Sequence[str]) -> Iterator[tuple[int, str]]:
    """As `nobody_meant`; words for who asked and for admins, and ids of people, are good, too."""
    for index, why in nobody_meant(globs):
        one = globs[index]
        if one in (ASKER, ADMINS) or _PERSON.fullmatch(one):
            continue
        near = closest(one, (ASKER, ADMINS))
        yield index, f"{one!r} is nobody; did you mean {near!r}?" if near else why


@cache
def _forms(kind: str) -> Sequence[str]:
    """What ids look like: `slack:*:*`; behind `guest:` they name no account."""
    platforms = names_of(CONNECTORS)
    if kind == "guest":
        return [f"{platform}:*" for platform in platforms]
    return [f"{platform}:*:*" for platform in (*platforms, *(() if kind else PROGRAMS[:1]))]


def _todo(glob: str, kinds: Sequence[str]) -> str:
    first, colon, rest = glob.partition(":")
    platforms = names_of(CONNECTORS)
    if not colon:
        return (
            f"{glob!r} is no id; names are not enough, for everybody may take any. An id is "
            "PLATFORM:WORKSPACE:ID, as `uacs-bridge people list` has them"
        )
    if first not in (*kinds, *platforms):
        near = closest(first, (*kinds, *platforms))
        known = ", ".join(f"{one}:" for one in (*kinds, *platforms))
        hint = f"did you mean {near + ':' + rest!r}?" if near else f"it begins with one of {known}"
        return f"{glob!r} is nobody; {hint}"
    platform = rest.partition(":")[0] if first in kinds else first
    if platform not in platforms:
        near = closest(platform, platforms)
        hint = f"did you mean {near!r}?" if near else f"known are {', '.join(platforms)}"
        return f"{glob!r} is nobody: there is no platform {platform!r}; {hint}"
    form = f"{first}:PLATFORM:{_ACCOUNTS[first]}" if first in kinds else f"{first}:WORKSPACE:ID"
    return f"{glob!r} is nobody: it has the form {form}, and * stands for any"

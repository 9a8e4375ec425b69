"""Globs of people in a configuration -> those that match nobody, and what to write instead."""

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


def unmatched_globs(globs: Sequence[str], *, groups: bool = False) -> Iterator[tuple[int, str]]:
    """The index of each glob that no id can match, and an error text.

    Globs are of ids; with `groups`, also of groups and guests.
    """
    kinds = ("group", "guest") if groups else ()
    for index, glob in enumerate(globs):
        if not _may_mean(glob, kinds):
            yield index, _todo(glob, kinds)


@cache
def _may_mean(glob: str, kinds: tuple[str, ...]) -> bool:
    """Whether an id of one of the known forms can match the glob."""
    forms = [*(f"{kind}:{form}" for kind in kinds for form in _forms(kind)), *_forms("")]
    # A star may match the empty text: most globs without their stars are ids already.
    plain = glob.replace("*", "")
    if "{" not in glob and any(matches(form, plain) for form in forms):
        return True
    return any(meet(glob, form) for form in forms)


def unmatched_approvers(globs: Sequence[str]) -> Iterator[tuple[int, str]]:
    """As `nobody_meant`; `asker`, `admins` and ids of persons are valid, too."""
    for index, problem in unmatched_globs(globs):
        glob = globs[index]
        if glob in (ASKER, ADMINS) or _PERSON.fullmatch(glob):
            continue
        near = closest(glob, (ASKER, ADMINS))
        yield index, f"{glob!r} is nobody; did you mean {near!r}?" if near else problem


@cache
def _forms(kind: str) -> Sequence[str]:
    """The forms of ids: `slack:*:*`; after `guest:` they name no account."""
    platforms = names_of(CONNECTORS)
    if kind == "guest":
        return [f"{platform}:*" for platform in platforms]
    return [f"{platform}:*:*" for platform in (*platforms, *(() if kind else PROGRAMS[:1]))]


def _todo(glob: str, kinds: Sequence[str]) -> str:
    first, colon, remainder = glob.partition(":")
    platforms = names_of(CONNECTORS)
    if not colon:
        return (
            f"{glob!r} is no id; names are not enough, for everybody may take any. An id is "
            "PLATFORM:WORKSPACE:ID, as `uacs-bridge people list` has them"
        )
    if first not in (*kinds, *platforms):
        near = closest(first, (*kinds, *platforms))
        prefixes = ", ".join(f"{kind}:" for kind in (*kinds, *platforms))
        hint = (
            f"did you mean {near + ':' + remainder!r}?"
            if near
            else f"it begins with one of {prefixes}"
        )
        return f"{glob!r} is nobody; {hint}"
    platform = remainder.partition(":")[0] if first in kinds else first
    if platform not in platforms:
        near = closest(platform, platforms)
        hint = f"did you mean {near!r}?" if near else f"known are {', '.join(platforms)}"
        return f"{glob!r} is nobody: there is no platform {platform!r}; {hint}"
    form = f"{first}:PLATFORM:{_ACCOUNTS[first]}" if first in kinds else f"{first}:WORKSPACE:ID"
    return f"{glob!r} is nobody: it has the form {form}, and * stands for any"

"""Counting from what stands on the local platforms alone: lost, doubled, out of order, not as it
was last said, torn, or without its file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bridge.sandbox.feed import LocalMessage
from tests.e2e.processes import SandboxProcess, Spot
from tests.e2e.traffic import (
    EMOJI,
    SHARING,
    Change,
    PersonPost,
    read_tag,
    read_words,
    text_of,
    words,
)

Where = tuple[int, Spot]  # a post's number, and the channel where it should be seen
IsReported = Callable[[PersonPost, Change], bool]  # whether its platform tells of a change


def always(_post: PersonPost, _change: Change) -> bool:
    """Everything is told: live, again, or by what stands in the channel."""
    return True


_Version = int | None  # None: it stands no more


@dataclass
class Tally:
    """`stale`: its words are not the last ones; `undeleted`: it is gone where it was said;
    `unlike`: its reactions are others; `torn`: a part of it is missing, doubled or of other words;
    `unfiled`: what was shared with it does not stand there once."""

    lost: list[Where] = field(default_factory=list[Where])
    doubled: list[Where] = field(default_factory=list[Where])
    disordered: list[Where] = field(default_factory=list[Where])
    stale: list[Where] = field(default_factory=list[Where])
    undeleted: list[Where] = field(default_factory=list[Where])
    unlike: list[Where] = field(default_factory=list[Where])
    torn: list[Where] = field(default_factory=list[Where])
    unfiled: list[Where] = field(default_factory=list[Where])
    reacted: int = 0
    in_parts: int = 0
    shared: int = 0
    copies: int = 0
    unreported_posts: int = 0
    changes: int = 0
    unreported_changes: int = 0

    @property
    def settled(self) -> bool:
        """Whether nothing more has to come."""
        return not self.wrong

    @property
    def wrong(self) -> Sequence[Where]:
        """What may still become as it should be."""
        return (
            *self.lost, *self.stale, *self.undeleted, *self.unlike, *self.torn, *self.unfiled,
        )  # fmt: skip

    def __str__(self) -> str:
        return (
            f"{self.copies} copies, {len(self.lost)} lost, {len(self.doubled)} doubled, "
            f"{len(self.disordered)} out of order, {len(self.stale)} with older words, "
            f"{len(self.undeleted)} not deleted, {len(self.unlike)} of {self.reacted} with other "
            f"reactions, {len(self.torn)} of {self.in_parts} in parts torn, {len(self.unfiled)} of "
            f"{self.shared} without their file; not reported: {self.unreported_posts} posts, "
            f"{self.unreported_changes} of {self.changes} changes"
        )


@dataclass
class TeamsLog:
    """What Teams handed over, read a piece at a time."""

    sandbox: SandboxProcess
    count: int = 0
    posts: set[str] = field(default_factory=set[str])
    changes: set[tuple[str, _Version]] = field(default_factory=set[tuple[str, _Version]])

    async def read(self) -> None:
        for activity in await self.sandbox.taken_by_teams_bots(self.count):
            self.count += 1
            tag = read_tag(activity.get("text") or "")
            match activity["type"]:
                case "message":
                    self.posts.add(activity["id"])
                case "messageUpdate" if tag is not None:
                    self.changes.add((activity["id"], tag[1]))
                case "messageDelete":
                    self.changes.add((activity["id"], None))
                case _:
                    pass


async def tally(
    sandbox: SandboxProcess,
    posts: Sequence[PersonPost],
    rooms: Sequence[Sequence[Spot]],
    log: TeamsLog,
    is_reported: IsReported,
) -> Tally:
    """What became of each post in the other channels of its room. `told` is asked of changes on
    platforms other than Teams."""
    await log.read()
    result = Tally()
    of_spot: dict[Spot, list[PersonPost]] = defaultdict(list)
    for post in posts:
        of_spot[post.spot].append(post)
    allowed = {post.number: _allowed(post, log, is_reported) for post in posts}
    _count(posts, log, is_reported, result)
    for room in rooms:
        messages = {spot: await sandbox.standing(spot) for spot in room}
        for source in room:
            for target in room:
                if target is not source:
                    _compare(of_spot[source], target, _tags(messages[target]), allowed, result)
                    _compare_reactions(of_spot[source], target, messages[target], result)
                    _compare_parts(of_spot[source], target, messages[target], result)
                    _compare_files(of_spot[source], target, messages[target], result)
    return result


def _tags(messages: Sequence[LocalMessage]) -> list[tuple[int, int]]:
    """Numbers and versions of posts in the order in which they stand."""
    return [tag for message in messages if (tag := read_tag(text_of(message))) is not None]


def _was_reported(post: PersonPost, log: TeamsLog) -> bool:
    return post.spot.platform != "teams" or post.native_id in log.posts


def _change_was_reported(
    post: PersonPost, change: Change, log: TeamsLog, is_reported: IsReported
) -> bool:
    if post.spot.platform == "teams":
        return (post.native_id, change.version) in log.changes
    return is_reported(post, change)


def _allowed(post: PersonPost, log: TeamsLog, is_reported: IsReported) -> set[_Version]:
    """As it may stand elsewhere: as it was after the last change that was told, or any later."""
    allowed: set[_Version] = {0} if _was_reported(post, log) else {0, None}
    for change in post.changes:
        if _change_was_reported(post, change, log, is_reported) and _was_reported(post, log):
            allowed.clear()
        allowed.add(change.version)
    return allowed


def _count(
    posts: Sequence[PersonPost], log: TeamsLog, is_reported: IsReported, result: Tally
) -> None:
    for post in posts:
        result.unreported_posts += not _was_reported(post, log)
        result.changes += len(post.changes)
        result.unreported_changes += sum(
            not _change_was_reported(post, change, log, is_reported) for change in post.changes
        )


def _compare(
    posts: Sequence[PersonPost],
    target: Spot,
    standing: Sequence[tuple[int, int]],
    allowed: Mapping[int, set[_Version]],
    result: Tally,
) -> None:
    order: Mapping[int, int] = {post.number: index for index, post in enumerate(posts)}
    here = [tag for tag in standing if tag[0] in order]
    numbers = [number for number, _ in here]
    versions = dict(here)
    result.copies += len(here)
    result.doubled += [(n, target) for n in sorted(set(numbers)) if numbers.count(n) > 1]
    result.disordered += [
        (later, target) for earlier, later in pairwise(numbers) if order[later] < order[earlier]
    ]
    for number in order:
        version = versions.get(number)
        if version in allowed[number]:
            continue
        where = (number, target)
        if version is None:
            result.lost.append(where)
        elif None in allowed[number]:
            result.undeleted.append(where)
        else:
            result.stale.append(where)


def _compare_reactions(
    posts: Sequence[PersonPost], target: Spot, messages: Sequence[LocalMessage], result: Tally
) -> None:
    """Of what stands on both sides."""
    there = {
        tag[0]: set(message.reactions)
        for message in messages
        if (tag := read_tag(text_of(message)))
    }
    for post in posts:
        if post.reacted and not post.deleted and post.number in there:
            result.reacted += 1
            if there[post.number] & set(EMOJI) != post.reactions:
                result.unlike.append((post.number, target))


def _compare_parts(
    posts: Sequence[PersonPost], target: Spot, messages: Sequence[LocalMessage], result: Tally
) -> None:
    """A long text stands in as many messages as its platform needs: together they have each of its
    words once, in their order."""
    versions = dict(_tags(messages))
    parts: dict[int, list[str]] = defaultdict(list)
    places: dict[int, int] = defaultdict(int)
    for message in messages:
        here = list(read_words(text_of(message)))
        for number, word in here:
            parts[number].append(word)
        for number in {number for number, _ in here}:
            places[number] += 1
    for post in posts:
        version = versions.get(post.number)
        of = [] if version is None else words(post.number, version, post.spot.platform)
        result.in_parts += places[post.number] > 1
        if parts[post.number] != of:
            result.torn.append((post.number, target))


def _compare_files(
    posts: Sequence[PersonPost], target: Spot, messages: Sequence[LocalMessage], result: Tally
) -> None:
    """A file stands with its post, and goes with it."""
    if target.platform not in SHARING:
        return
    versions = dict(_tags(messages))
    names = [name for message in messages for name in _files(message)]
    for post in posts:
        if post.file:
            result.shared += post.number in versions
            if names.count(post.file) != (post.number in versions):
                result.unfiled.append((post.number, target))


def _files(message: LocalMessage) -> list[str]:
    """Those of Slack and of Discord."""
    shared = [file.get("name", "") for file in message.raw.get("files") or ()]
    return shared + [
        attachment["filename"]
        for attachment in message.raw.get("attachments") or ()
        if "filename" in attachment
    ]

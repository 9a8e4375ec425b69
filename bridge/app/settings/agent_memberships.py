"""How an agent sits in a room: when, where and for whom it answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bridge.app.settings.strict import StrictSettings
from bridge.content.text.globs import Glob
from bridge.content.text.patterns import RegularExpression, pattern_of
from bridge.errors import InvalidData
from bridge.router.rooms.answer_conditions import Route
from bridge.router.rooms.rooms import AgentMembership
from bridge.router.turns.selection import ambiguities
from bridge.runtime.renamed_keys import RenamedFrom


class RouteSettings(StrictSettings):
    """Where an agent answers: all conditions that are given hold."""

    channels: tuple[Glob, ...] = Field(
        default=(), description="Globs of the channel's name (#help) or id."
    )
    people: tuple[Glob, ...] = Field(
        default=(), description="Who asks: globs of names, or of ids, also of linked accounts."
    )
    threads: bool | None = Field(
        default=None, description="true: in threads alone; false: never there."
    )
    matching: RegularExpression | None = Field(
        default=None, description="A regular expression (RE2) that is found in the text."
    )
    priority: int = Field(
        default=0, description="A higher one goes before routes that are more specific."
    )


class MembershipSettings(StrictSettings):
    """An agent in a room."""

    agent: str = Field(description="The agent's name under `agents`.")
    listen: Literal["mentions", "always", "threads"] = Field(
        default="mentions",
        description="When it answers: when it is mentioned, always, or once called in a thread.",
    )
    session: Literal["room", "channel", "thread", "person"] = Field(
        default="room",
        description="What it knows of, and answers one after the other: the whole room, what was "
        "said in one channel, in one thread, or by one person.",
    )
    busy: Literal["queue", "merge", "steer", "interrupt"] = Field(
        default="queue",
        description="A question while it answers: queue: waits; merge: all that wait are one; "
        "steer: it is told at once, if it listens; interrupt: it stops, and answers the new one.",
    )
    tools: tuple[str, ...] | None = Field(
        default=None,
        description="The servers of tools that it has in this room; null: those of the agent.",
    )
    history_tokens: int | None = Field(
        default=None,
        ge=500,
        description="How much of the room it reads here, in tokens (an estimate); null: that of "
        "the agent.",
    )
    history_seconds: Annotated[float | None, RenamedFrom("before")] = Field(
        default=None,
        ge=0,
        description="How old what it reads may be when it is asked, in seconds; 0: the question "
        "alone; null: as far back as fits.",
    )
    gather: float = Field(
        default=0.0,
        ge=0,
        le=60,
        description="Seconds in which further messages belong to the same question.",
    )
    routes: tuple[RouteSettings, ...] = Field(
        default=(),
        description="Where it answers unless it is named: what one of these means, the most "
        "specific of all agents alone; none: everywhere.",
    )
    always_answer: Annotated[bool, RenamedFrom("beside")] = Field(
        default=False, description="Whether it answers also when another agent does."
    )
    bots: bool = Field(default=False, description="Whether bots and apps may call it by its name.")
    allow: tuple[Glob, ...] = Field(
        default=(),
        description="Who reaches it: globs of ids, also of linked accounts, of groups "
        "(`group:discord:42:88`) and of guests (`guest:slack:*`); none: everybody in channels, and "
        "in direct messages those who gave a code (`uacs-bridge pair new`).",
    )
    deny: tuple[Glob, ...] = Field(
        default=(),
        description="Who never reaches it: globs of ids, groups and guests, as in `allow`.",
    )
    operators: tuple[Glob, ...] = Field(
        default=(),
        description="Who may take over from it and hand it over, beside admins: globs of ids.",
    )


class DirectSettings(StrictSettings):
    """Direct messages to our bots: each is a room of its own, with these agents."""

    account: Glob = Field(description="The accounts that are written to: a name, or a glob.")
    agents: tuple[MembershipSettings, ...] = Field(
        min_length=1, description="The agents of such rooms."
    )


def membership_of(wanted: MembershipSettings) -> AgentMembership:
    """The seat as the router knows it."""
    return AgentMembership(
        agent=wanted.agent,
        listen=wanted.listen,
        session=wanted.session,
        busy=wanted.busy,
        gather=wanted.gather,
        before=wanted.history_seconds,
        routes=tuple(map(_route, wanted.routes)),
        beside=wanted.always_answer,
        bots=wanted.bots,
        operators=wanted.operators,
        tools=wanted.tools or (),
        allow=wanted.allow,
        deny=wanted.deny,
    )


def membership_problems(where: str, memberships: tuple[MembershipSettings, ...]) -> list[str]:
    """Seats of which nobody could say which answers, both by their names, and what to do."""
    try:
        found = ambiguities([membership_of(one) for one in memberships])
    except InvalidData as error:
        return [f"{where}.agents: {error}"]
    return [
        f"{where}.agents[{first}] ({memberships[first].agent}) and [{second}] "
        f"({memberships[second].agent}) are ambiguous: {why}; {_todo(why)}"
        for first, second, why in found
    ]


def _todo(why: str) -> str:
    if "same agent" in why:
        return "give it one seat with several routes"
    return "make one more specific, give it a priority, or set `always_answer` for one"


def _route(wanted: RouteSettings) -> Route:
    pattern = None if wanted.matching is None else pattern_of(wanted.matching)
    return Route(wanted.channels, wanted.people, wanted.threads, pattern, wanted.priority)

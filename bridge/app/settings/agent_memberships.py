"""Settings of an agent's membership in a room: when, where and whom it answers."""

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
    """Where an agent answers: all given conditions must hold."""

    channels: tuple[Glob, ...] = Field(
        default=(), description="Globs of the channel's name (#help) or id."
    )
    people: tuple[Glob, ...] = Field(
        default=(), description="Who asks: globs of names or ids, also of linked accounts."
    )
    threads: bool | None = Field(
        default=None, description="true: only in threads; false: never in threads."
    )
    matching: RegularExpression | None = Field(
        default=None, description="A regular expression (RE2) that the text must contain."
    )
    priority: int = Field(
        default=0, description="A higher priority wins over a more specific route."
    )


class MembershipSettings(StrictSettings):
    """An agent's membership in a room."""

    agent: str = Field(description="The agent's name under `agents`.")
    listen: Literal["mentions", "always", "threads"] = Field(
        default="mentions",
        description="When it answers: when it is mentioned; always; or, once called in a thread, "
        "everything in that thread.",
    )
    session: Literal["room", "channel", "thread", "person"] = Field(
        default="room",
        description="The messages that it knows and answers in sequence: those of the whole room, "
        "of one channel, of one thread, or of one person.",
    )
    busy: Literal["queue", "merge", "steer", "interrupt"] = Field(
        default="queue",
        description="What happens to a question that arrives while it answers: queue: it waits; "
        "merge: all waiting questions get one answer; steer: the agent receives it at once, if it "
        "listens; interrupt: the agent stops and answers the new one.",
    )
    tools: tuple[str, ...] | None = Field(
        default=None,
        description="The tool servers that it has in this room; null: those of the agent.",
    )
    history_tokens: int | None = Field(
        default=None,
        ge=500,
        description="How much of this room it reads, in tokens (an estimate); null: as much as the "
        "agent's own setting.",
    )
    history_seconds: Annotated[float | None, RenamedFrom("before")] = Field(
        default=None,
        ge=0,
        description="The maximum age of messages that it reads, in seconds before the question; "
        "0: the question alone; null: as far back as fits.",
    )
    gather: float = Field(
        default=0.0,
        ge=0,
        le=60,
        description="Seconds in which further messages are part of the same question.",
    )
    routes: tuple[RouteSettings, ...] = Field(
        default=(),
        description="Where it answers without being named; of all agents, only the one with the "
        "most specific route answers; none: everywhere.",
    )
    always_answer: Annotated[bool, RenamedFrom("beside")] = Field(
        default=False, description="Whether it answers also when another agent does."
    )
    bots: bool = Field(default=False, description="Whether bots and apps may call it by its name.")
    allow: tuple[Glob, ...] = Field(
        default=(),
        description="Who may use it: globs of ids, also of linked accounts, of groups "
        "(`group:discord:42:88`) and of guests (`guest:slack:*`); none: everybody in channels, and "
        "in direct messages those who gave a code (`uacs-bridge pair new`).",
    )
    deny: tuple[Glob, ...] = Field(
        default=(),
        description="Who may never use it: globs of ids, groups and guests, as in `allow`.",
    )
    operators: tuple[Glob, ...] = Field(
        default=(),
        description="Who may take over from it and hand it over, besides admins: globs of ids.",
    )
    greeting: str = Field(
        default="",
        max_length=2000,
        description="What it says when it comes into the room, once, in Markdown.",
    )
    convener: bool = Field(
        default=False,
        description="Whether it hears all that is said, and decides which agents and programs may "
        "speak; one agent of a room, of the kind openfloor.",
    )


class DirectSettings(StrictSettings):
    """Direct messages to the bridge's bots: each is a room of its own, with these agents."""

    account: Glob = Field(description="The accounts that people write to: a name, or a glob.")
    agents: tuple[MembershipSettings, ...] = Field(
        min_length=1, description="The agents of such rooms."
    )


def membership_of(
    settings: MembershipSettings, tools: tuple[str, ...] = (), history_tokens: int | None = None
) -> AgentMembership:
    """The membership as the router takes it; `tools` and `history_tokens` are the agent's own, for
    settings that say nothing of them."""
    return AgentMembership(
        agent=settings.agent,
        listen=settings.listen,
        session=settings.session,
        busy=settings.busy,
        gather=settings.gather,
        before=settings.history_seconds,
        routes=tuple(map(_route, settings.routes)),
        beside=settings.always_answer,
        bots=settings.bots,
        operators=settings.operators,
        tools=tools if settings.tools is None else settings.tools,
        greeting=settings.greeting,
        convener=settings.convener,
        allow=settings.allow,
        deny=settings.deny,
        history_tokens=settings.history_tokens or history_tokens or AgentMembership.history_tokens,
    )


def membership_problems(where: str, memberships: tuple[MembershipSettings, ...]) -> list[str]:
    """Pairs of memberships of which it is ambiguous which one answers, and what to do about each.

    `where` is the path of the room's settings.
    """
    try:
        pairs = ambiguities([membership_of(membership) for membership in memberships])
    except InvalidData as error:
        return [f"{where}.agents: {error}"]
    return [
        f"{where}.agents[{first}] ({memberships[first].agent}) and [{second}] "
        f"({memberships[second].agent}) are ambiguous: {ambiguity}; {_todo(ambiguity)}"
        for first, second, ambiguity in pairs
    ]


def _todo(ambiguity: str) -> str:
    if "same agent" in ambiguity:
        return "give it one membership with several routes"
    return "make one more specific, give it a priority, or set `always_answer` for one"


def _route(settings: RouteSettings) -> Route:
    pattern = None if settings.matching is None else pattern_of(settings.matching)
    return Route(settings.channels, settings.people, settings.threads, pattern, settings.priority)

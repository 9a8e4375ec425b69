"""The sections of the configuration file, and the settings as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from bridge.app.settings.agent_memberships import DirectSettings
from bridge.app.settings.catch_up import CatchUpSettings
from bridge.app.settings.cluster import ClusterSettings
from bridge.app.settings.installs import InstallSettings
from bridge.app.settings.keep import ArchiveSettings
from bridge.app.settings.manifest import ManifestSettings
from bridge.app.settings.quotas import QuotaSettings
from bridge.app.settings.rooms import RoomSettings
from bridge.app.settings.store import StoreSettings
from bridge.app.settings.strict import NativeId, StrictSettings
from bridge.app.settings.traces import TraceSettings
from bridge.content.text.globs import Glob
from bridge.runtime.renamed_keys import RenamedFrom, RenamedKey
from bridge.tools.settings import ToolServerSettings


class AccountSettings(StrictSettings):
    """Settings of an account: a Slack app in a workspace, a Discord bot, a Teams bot."""

    platform: str = Field(description="Its platform: slack, discord, teams, irc.")
    options: Any = Field(
        default=None, description="The platform's own settings, which its connector validates."
    )


class AgentSettings(StrictSettings):
    """Settings of an agent; people write its name after the @."""

    kind: str = Field(
        description="Its agent API: echo, openai-chat, openai-responses, anthropic, "
        "gemini, ailoy, a2a, acp, openfloor, webhook."
    )
    tools: tuple[str, ...] = Field(
        default=(), description="The servers under `tools` whose tools it may call."
    )
    options: Any = Field(default=None, description="The agent API's own settings.")
    manifest: ManifestSettings = Field(
        default=ManifestSettings(), description="What agents of other makers learn about it."
    )
    picture: str | None = Field(
        default=None,
        description="The picture beside its messages: an https address, or a PNG, JPEG, GIF or "
        "WebP file (relative to the configuration file; needs web.public_url).",
    )
    quota: Annotated[QuotaSettings, RenamedFrom("budget")] = Field(
        default=QuotaSettings(), description="Limits of its cost in all rooms together."
    )
    policies: tuple[str, ...] = Field(
        default=(), description="The policies between the rooms and it: names under `policies`."
    )


class PolicySettings(StrictSettings):
    """Settings of a policy, which inspects everything that an agent receives and writes."""

    kind: str = Field(description="redact, deny, or a policy that is installed beside the bridge.")
    options: Any = Field(default=None, description="The policy's own settings.")


class WebSettings(StrictSettings):
    """Settings of the bridge's own web server."""

    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="The port; 0 selects a free one.")
    public_url: str | None = Field(
        default=None,
        description="The address under which platforms reach the bridge, e.g. "
        "https://bridge.example.org.",
    )


class OpenFloorServerSettings(StrictSettings):
    """Settings of the rooms' Open Floor endpoints, `/openfloor/ROOM`."""

    directory: tuple[str, ...] = Field(
        default=(),
        description="Addresses that are asked for manifests of agents, when an agent looks for "
        "others (tools: [agents]).",
    )
    private_addresses: bool = Field(
        default=False,
        description="Whether an address of the directory may be in a private network.",
    )
    invite: tuple[Glob, ...] = Field(
        default=(),
        description="Hosts (globs) whose agents people may invite to a room by command; none: only "
        "agents of the configuration.",
    )
    discovery: bool = Field(
        default=False,
        description="Whether peers that look for agents are told of all that the bridge knows, "
        "ranked for their task.",
    )
    ranker: str | None = Field(
        default=None,
        description="The agent that ranks others for a task; null: the words of their manifests "
        "do.",
    )
    push: tuple[Glob, ...] = Field(
        default=(),
        description="Hosts (globs) of peers to whose address (`replyTo`, `serviceUrl`) answers are "
        "posted that took longer than `answer_seconds`; none: they come with the next answer.",
    )
    require_invite: bool = Field(
        default=False,
        description="Whether a peer has to invite a room before it speaks; otherwise its first "
        "utterance is an invitation.",
    )
    idle_minutes: float | None = Field(
        default=1440.0,
        gt=0,
        description="Minutes without an envelope after which a peer has left a room; null: it "
        "stays until it says good-bye.",
    )
    on_failure: Literal["stay", "yield", "bye", "propose"] = Field(
        default="yield",
        description="What a peer gets when an agent cannot answer it: stay: words; yield: the "
        "floor back, with the reason; bye: a good-bye; propose: other agents that fit.",
    )
    answer_seconds: float = Field(
        default=25.0,
        ge=0,
        le=300,
        description="Seconds that a request waits for the room's agents; what they say later comes "
        "with the answer to the next envelope.",
    )


class FileSettings(StrictSettings):
    """Settings of files: what the bridge fetches and stores, and how it shows them."""

    max_file_mb: Annotated[float, RenamedFrom("largest_mb")] = Field(
        default=100.0,
        gt=0,
        le=10_000,
        description="The largest file that the bridge fetches, in MB.",
    )
    fetch_seconds: float = Field(
        default=120.0, gt=0, description="Timeout of fetching one file, in seconds."
    )
    keep_unused_days: float | None = Field(
        default=30.0,
        ge=1,
        description="Days after which the bridge removes a file that no message uses any more; "
        "null: never.",
    )
    link_days: float = Field(
        default=30.0,
        gt=0,
        le=3650,
        description="Days for which a link to a stored file works; needs public_url.",
    )
    allow_loopback: bool = Field(
        default=False,
        description="Whether the bridge also fetches files from this machine: for the sandbox "
        "only.",
    )


class PeopleSettings(StrictSettings):
    """Settings of people: linked accounts, equal groups and quotas."""

    quota: Annotated[QuotaSettings, RenamedFrom("budget")] = Field(
        default=QuotaSettings(), description="Limits of agents' cost for each person."
    )
    link_by_email: bool = Field(
        default=False,
        description="Whether the bridge links accounts with the same e-mail address; it asks the "
        "platforms for addresses, and stores keyed digests of them.",
    )
    groups: dict[str, dict[str, NativeId]] = Field(
        default={},
        description="Roles and user groups that are the same, by a name of your choice: account -> "
        "the id of the group there.",
    )


class LogSettings(StrictSettings):
    """Settings of the log."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The lowest level that is logged."
    )
    format: Literal["auto", "json", "text"] = Field(
        default="auto", description="json for machines, text for people; auto: text on a terminal."
    )


class DeliverySettings(StrictSettings):
    """Deadlines and retries of delivery."""

    settle_grace: float = Field(
        default=2.0,
        ge=0,
        description="Seconds after a lost response before the bridge checks whether the post "
        "arrived.",
    )
    settle_late: float = Field(
        default=30.0,
        ge=0,
        description="Seconds after `send_deadline` during which the bridge looks for a post "
        "without a response, before it sends it again: a slow platform may accept it late.",
    )
    send_deadline: float = Field(
        default=30.0,
        gt=0,
        description="Timeout of one request to a platform, in seconds; files take longer.",
    )
    retry_for: float = Field(
        default=86400.0,
        gt=0,
        description="Seconds after which a post, an edit or a deletion that its platform does not "
        "accept (5xx, no connection, rate limits, rejected tokens, missing permissions) becomes a "
        "dead letter.",
    )
    retry_reactions_for: Annotated[float, RenamedFrom("retry_marks_for")] = Field(
        default=3600.0, gt=0, description="The same for reactions and pins."
    )
    retry_single_for: Annotated[float, RenamedFrom("retry_alone_for")] = Field(
        default=600.0,
        gt=0,
        description="Seconds for which one request may fail before the bridge tries the requests "
        "behind it in its channel. If the platform accepts one of these, the bridge tries the "
        "failing one a last time and makes it a dead letter; if they fail as well, all wait in "
        "their order.",
    )
    max_backoff: Annotated[float, RenamedFrom("longest_backoff")] = Field(
        default=60.0, gt=0, description="The longest pause between two attempts, in seconds."
    )
    agent_idle: float = Field(
        default=60.0,
        gt=0,
        description="Seconds that an agent may be silent before the bridge gives it up.",
    )
    late_after: float | None = Field(
        default=120.0,
        gt=0,
        description="Seconds that a channel may be behind before the bridge tells the room's "
        "other channels; null: never.",
    )
    drain: float = Field(
        default=5.0, ge=0, description="Seconds that a stop waits for running work."
    )


class Settings(StrictSettings):
    """The whole configuration file."""

    accounts: dict[str, AccountSettings] = Field(
        default={}, description="Accounts of the bridge, by a name of your choice."
    )
    rooms: dict[str, RoomSettings] = Field(
        default={}, description="Rooms, by a name of your choice."
    )
    agents: dict[str, AgentSettings] = Field(
        default={}, description="Agents, by the name that people write after the @."
    )
    tools: dict[str, ToolServerSettings] = Field(
        default={}, description="Tool servers (MCP), by a name of your choice."
    )
    admins: tuple[Glob, ...] = Field(
        default=(),
        description="Who may give admins' commands in channels: ids (slack:T01:U01) or globs of "
        "them.",
    )
    store: StoreSettings = Field(
        default=StoreSettings(), description="Where the bridge stores everything."
    )
    cluster: ClusterSettings | None = Field(
        default=None,
        description="Makes this process one of many that share a PostgreSQL store; null: it has "
        "the store for itself.",
    )
    web: WebSettings = Field(default=WebSettings(), description="The bridge's own web server.")
    openfloor: OpenFloorServerSettings = Field(
        default=OpenFloorServerSettings(),
        description="Rooms as endpoints for agents of other makers.",
    )
    files: FileSettings = Field(
        default=FileSettings(), description="Files: what the bridge fetches and stores."
    )
    archive: ArchiveSettings = Field(
        default=ArchiveSettings(), description="What the archive keeps, and for how long."
    )
    direct: tuple[DirectSettings, ...] = Field(
        default=(), description="Agents that answer direct messages."
    )
    policies: dict[str, PolicySettings] = Field(
        default={}, description="Policies of agents, by a name of your choice."
    )
    people: PeopleSettings = Field(
        default=PeopleSettings(), description="Linked accounts, equal groups and quotas."
    )
    installs: InstallSettings = Field(
        default=InstallSettings(),
        description="Apps that many workspaces install by themselves, each as a tenant.",
    )
    log: LogSettings = Field(default=LogSettings(), description="Level and format of the log.")
    traces: TraceSettings = Field(
        default=TraceSettings(), description="OpenTelemetry traces of messages."
    )
    catch_up: CatchUpSettings = Field(
        default=CatchUpSettings(),
        description="How the bridge catches up with time in which it received nothing.",
    )
    delivery: DeliverySettings = Field(
        default=DeliverySettings(), description="Deadlines and retries of delivery."
    )

    _renamed_keys: tuple[RenamedKey, ...] = PrivateAttr(default=())

    @property
    def renamed_keys(self) -> tuple[RenamedKey, ...]:
        """The keys of the version before that the file still has."""
        return self._renamed_keys

    def with_renamed_keys(self, renamed: Sequence[RenamedKey]) -> Settings:
        """The same settings, read from a file that has these old keys."""
        settings = self.model_copy()
        settings._renamed_keys = tuple(renamed)
        return settings

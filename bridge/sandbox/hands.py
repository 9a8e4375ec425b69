"""What people do on a local platform beside writing, in one shape for all.

They press buttons, choose, fill forms in, give files, change and delete what they said; and see
what only they can see. A control is named by the id that its app gave it (`action_id`,
`custom_id`, `id`) or, if no control has that id, by the words on it. Inputs are named the same way.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from bridge.sandbox.feed import Shown

Json = dict[str, Any]


class GivenFile(BaseModel):
    """A file that a person gives; in JSON its `data` are base64."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    data: bytes
    content_type: str = ""  # "": found out from the bytes and the name
    alt: str = ""
    spoiler: bool = False

    @field_validator("data", mode="before")
    @classmethod
    def _decoded(cls, value: object) -> object:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value

    @field_serializer("data", when_used="json")
    def _encoded(self, value: bytes) -> str:
        return base64.b64encode(value).decode()


class Press(BaseModel):
    """A person presses a control of a message, or of a form that is open to them.

    `values` are filled into the inputs beside it first, as `Choice.value` says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: str
    person: str
    channel: str = ""  # not needed for a form
    message: str = ""
    form: str = ""
    action: str
    values: dict[str, Any] = Field(default_factory=dict[str, Any])


class Choice(BaseModel):
    """A person chooses in a menu, or fills one input in, of a message or an open form.

    `value`: the text, number or date that is typed, the value of an option, the id of a person or
    channel; a list of these where several may be chosen; true or false for a box; files as
    `GivenFile`s. Platforms on which choosing tells the app do so; the others keep it for the press.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: str
    person: str
    channel: str = ""
    message: str = ""
    form: str = ""
    action: str
    value: Any


class Filled(BaseModel):
    """A person sends a form, or closes it without sending."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: str
    person: str
    form: str
    values: dict[str, Any] = Field(default_factory=dict[str, Any])
    close: bool = False


class OpenForm(BaseModel):
    """A modal, dialog or task module that stands open before one person.

    `fields` are the ids of its inputs and what stands beside each; `raw` is the platform's own.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    person: str
    title: str
    fields: dict[str, str]
    raw: Json


class Outcome(BaseModel):
    """What came of it, as the person sees it.

    `sent`: whether the app was told. `answered`: whether it answered in time. `failed`: what the
    client says when it did not, or refused. `errors`: what the client or app says of single
    inputs. `said`: a text for this person alone. `form`: what opened, when it opened at once.
    """

    model_config = ConfigDict(frozen=True)

    sent: bool
    answered: bool = False
    failed: str = ""
    errors: dict[str, str] = Field(default_factory=dict[str, str])
    said: str = ""
    form: OpenForm | None = None
    raw: Json = Field(default_factory=dict[str, Any])  # the app's answer, where it has one


@runtime_checkable
class Handled(Protocol):
    """What a local platform lets people do; `Hand` and the control API go through it."""

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> Shown: ...

    async def post_files(
        self,
        workspace: str,
        channel: str,
        person: str,
        files: Sequence[GivenFile],
        text: str = "",
        thread: str | None = None,
    ) -> Shown:
        """A person shares files, with or without words; apps hear of it."""
        ...  # fmt: skip

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> Shown: ...

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None: ...

    async def press(self, press: Press) -> Outcome: ...

    async def choose(self, choice: Choice) -> Outcome: ...

    async def fill(self, filled: Filled) -> Outcome: ...

    def forms(self, workspace: str, person: str) -> list[OpenForm]:
        """What stands open before a person, the topmost last."""
        ...

    def whispers(self, workspace: str, person: str) -> list[Shown]:
        """What a person alone can see, in the order of time."""
        ...


class Hand:
    """One person in one channel; saves tests and scripts from repeating who and where."""

    def __init__(self, platform: Handled, workspace: str, channel: str, person: str) -> None:
        self._platform = platform
        self._workspace = workspace
        self._channel = channel
        self._person = person

    async def press(
        self, message: str, action: str, values: Mapping[str, Any] | None = None, *, form: str = ""
    ) -> Outcome:
        """Press what has this id, or these words on it; of a message, or of an open form."""
        return await self._platform.press(
            Press(
                workspace=self._workspace, person=self._person, channel=self._channel,
                message=message, form=form, action=action, values=dict(values or {}),
            )
        )  # fmt: skip

    async def choose(self, message: str, action: str, value: Any, *, form: str = "") -> Outcome:
        return await self._platform.choose(
            Choice(
                workspace=self._workspace, person=self._person, channel=self._channel,
                message=message, form=form, action=action, value=value,
            )
        )  # fmt: skip

    async def submit_form(self, form: str, values: Mapping[str, Any] | None = None) -> Outcome:
        return await self._fill(form, values or {}, close=False)

    async def close_form(self, form: str) -> Outcome:
        return await self._fill(form, {}, close=True)

    async def post_file(
        self, name: str, data: bytes, content_type: str = "", *, text: str = "",
        thread: str | None = None, alt: str = "", spoiler: bool = False,
    ) -> Shown:  # fmt: skip
        file = GivenFile(
            name=name, data=data, content_type=content_type, alt=alt, spoiler=spoiler
        )  # fmt: skip
        return await self.post_files([file], text=text, thread=thread)

    async def post_files(
        self, files: Sequence[GivenFile], *, text: str = "", thread: str | None = None
    ) -> Shown:
        return await self._platform.post_files(
            self._workspace, self._channel, self._person, files, text, thread
        )

    async def say(self, text: str, thread: str | None = None) -> Shown:
        return await self._platform.post_as(
            self._workspace, self._channel, self._person, text, thread
        )

    async def edit(self, message: str, text: str) -> Shown:
        """Change the words of a message that this person said."""
        return await self._platform.edit_as(
            self._workspace, self._channel, self._person, message, text
        )

    async def delete(self, message: str) -> None:
        """Delete a message that this person said, or may delete."""
        await self._platform.delete_as(self._workspace, self._channel, self._person, message)

    def forms(self) -> list[OpenForm]:
        """What stands open before this person, the topmost last."""
        return self._platform.forms(self._workspace, self._person)

    def whispers(self) -> list[Shown]:
        """What only this person can see."""
        return self._platform.whispers(self._workspace, self._person)

    async def _fill(self, form: str, values: Mapping[str, Any], *, close: bool) -> Outcome:
        return await self._platform.fill(
            Filled(
                workspace=self._workspace, person=self._person, form=form, values=dict(values),
                close=close,
            )
        )  # fmt: skip

"""User actions on a local platform, in one shape for all platforms.

People press buttons, choose in menus, fill in forms, upload files, edit and delete their messages,
and read the messages that only they can see. A control is named by the id that its app gave it
(`action_id`, `custom_id`, `id`) or, if no control has that id, by its label. Inputs are named the
same way.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from bridge.sandbox.feed import LocalMessage

Json = dict[str, Any]


class FileUpload(BaseModel):
    """A file that a person uploads; in JSON its `data` is base64."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    data: bytes
    content_type: str = ""  # "": detected from the bytes and the name
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

    `values` are first filled into the inputs beside the control, in the form of `Choice.value`.
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
    """A person chooses in a menu or fills in one input of a message or an open form.

    `value`: the text, number or date that is typed, the value of an option, the id of a person or
    channel; a list of these where several may be chosen; true or false for a checkbox; files as
    `FileUpload`s. The app receives the choice at once where the platform does that; otherwise the
    platform keeps it until the press.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: str
    person: str
    channel: str = ""
    message: str = ""
    form: str = ""
    action: str
    value: Any


class FormSubmission(BaseModel):
    """A person submits a form, or closes it without submitting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: str
    person: str
    form: str
    values: dict[str, Any] = Field(default_factory=dict[str, Any])
    close: bool = False


class OpenForm(BaseModel):
    """A modal, dialog or task module that is open for one person.

    `fields`: label by input id. `raw`: the form as the platform represents it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    person: str
    title: str
    fields: dict[str, str]
    raw: Json


class Outcome(BaseModel):
    """The result of an action, as the person sees it.

    `sent`: whether the app received the action. `answered`: whether it answered in time. `failed`:
    the client's message when the app did not answer or refused. `errors`: message by input id, of
    the client or the app. `notice`: a text that only this person sees. `form`: the form that opened
    at once.
    """

    model_config = ConfigDict(frozen=True)

    sent: bool
    answered: bool = False
    failed: str = ""
    errors: dict[str, str] = Field(default_factory=dict[str, str])
    notice: str = ""
    form: OpenForm | None = None
    raw: Json = Field(default_factory=dict[str, Any])  # the app's answer, where it has one


@runtime_checkable
class TakesUserActions(Protocol):
    """A local platform on which people act; `LocalUser` and the control API call it."""

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage: ...

    async def post_files(
        self,
        workspace: str,
        channel: str,
        person: str,
        files: Sequence[FileUpload],
        text: str = "",
        thread: str | None = None,
    ) -> LocalMessage:
        """A person shares files, with or without a text; apps receive the event."""
        ...  # fmt: skip

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage: ...

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None: ...

    async def press(self, press: Press) -> Outcome: ...

    async def choose(self, choice: Choice) -> Outcome: ...

    async def fill(self, submission: FormSubmission) -> Outcome: ...

    def forms(self, workspace: str, person: str) -> list[OpenForm]:
        """The forms that are open for a person, the topmost last."""
        ...

    def whispers(self, workspace: str, person: str) -> list[LocalMessage]:
        """The messages that only this person can see, oldest first."""
        ...


class LocalUser:
    """One person in one channel; the methods need not repeat who acts and where."""

    def __init__(
        self, platform: TakesUserActions, workspace: str, channel: str, person: str
    ) -> None:
        self._platform = platform
        self._workspace = workspace
        self._channel = channel
        self._person = person

    async def press(
        self, message: str, action: str, values: Mapping[str, Any] | None = None, *, form: str = ""
    ) -> Outcome:
        """Press the control with this id or label, of a message or of an open form."""
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
    ) -> LocalMessage:  # fmt: skip
        file = FileUpload(
            name=name, data=data, content_type=content_type, alt=alt, spoiler=spoiler
        )  # fmt: skip
        return await self.post_files([file], text=text, thread=thread)

    async def post_files(
        self, files: Sequence[FileUpload], *, text: str = "", thread: str | None = None
    ) -> LocalMessage:
        return await self._platform.post_files(
            self._workspace, self._channel, self._person, files, text, thread
        )

    async def say(self, text: str, thread: str | None = None) -> LocalMessage:
        return await self._platform.post_as(
            self._workspace, self._channel, self._person, text, thread
        )

    async def edit(self, message: str, text: str) -> LocalMessage:
        """Edit a message of this person."""
        return await self._platform.edit_as(
            self._workspace, self._channel, self._person, message, text
        )

    async def delete(self, message: str) -> None:
        """Delete a message that this person wrote or may delete."""
        await self._platform.delete_as(self._workspace, self._channel, self._person, message)

    def forms(self) -> list[OpenForm]:
        """The forms that are open for this person, the topmost last."""
        return self._platform.forms(self._workspace, self._person)

    def whispers(self) -> list[LocalMessage]:
        """The messages that only this person can see."""
        return self._platform.whispers(self._workspace, self._person)

    async def _fill(self, form: str, values: Mapping[str, Any], *, close: bool) -> Outcome:
        return await self._platform.fill(
            FormSubmission(
                workspace=self._workspace, person=self._person, form=form, values=dict(values),
                close=close,
            )
        )  # fmt: skip

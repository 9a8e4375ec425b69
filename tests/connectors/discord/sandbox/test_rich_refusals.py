"""Every documented limit of embeds, components, files and polls, with its nested error."""

from __future__ import annotations

import io
from typing import Any

import aiohttp
import orjson
import pytest

from tests.connectors.discord.sandbox.running import Running
from tests.connectors.discord.sandbox.test_refusals import fault

Json = dict[str, Any]
V2 = 1 << 15
MOST, BAD, REQUIRED = "BASE_TYPE_MAX_LENGTH", "BASE_TYPE_BAD_LENGTH", "BASE_TYPE_REQUIRED"
NEEDED = "This field is required"


def row(*components: Json) -> Json:
    return {"type": 1, "components": list(components)}


def button(custom_id: str | None = "b", **more: Any) -> Json:
    own = {} if custom_id is None else {"custom_id": custom_id}
    return {"type": 2, "style": 1, "label": "Go", **own, **more}


def option(value: str = "o", **more: Any) -> Json:
    return {"label": "O", "value": value, **more}


def menu(*options: Json, **more: Any) -> Json:
    return {"type": 3, "custom_id": "m", "options": list(options) or [option()], **more}


def text(content: str = "x") -> Json:
    return {"type": 10, "content": content}


def section(**more: Any) -> Json:
    return {"type": 9, "components": [text()], "accessory": button(), **more}


def gallery(count: int = 1, **more: Any) -> Json:
    return {"type": 12, "items": [{"media": {"url": "https://x.example/a.png"}, **more}] * count}


def container(*components: Json, **more: Any) -> Json:
    return {"type": 17, "components": list(components), **more}


def poll(**more: Any) -> Json:
    answers = [{"poll_media": {"text": "yes"}}, {"poll_media": {"text": "no"}}]
    return {"question": {"text": "Well?"}, "answers": answers, **more}


def kinds(*allowed: int) -> str:
    listed = ", ".join(map(str, allowed)) + ("," if len(allowed) == 1 else "")
    return f'Value of field "type" must be one of ({listed}).'


ON_TOP = kinds(1, 9, 10, 12, 13, 14, 17)
IN_ROWS = kinds(2, 3, 5, 6, 7, 8)


def embed(**fields: Any) -> Json:
    return {"embeds": [fields]}


def old(*components: Any) -> Json:
    return {"content": "x", "components": list(components)}


def new(*components: Any, **more: Any) -> Json:
    return {"flags": V2, "components": list(components), **more}


def longest(maximum: int) -> str:
    return f"Must be {maximum} or fewer in length."


def between(minimum: int, maximum: int) -> str:
    return f"Must be between {minimum} and {maximum} in length."


CASES: list[tuple[Json, str, str, str]] = [
    # embeds
    ({"embeds": [{"title": "x"}] * 11}, "embeds", MOST, longest(10)),
    ({"embeds": "x"}, "embeds", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"),
    ({"embeds": ["x"]}, "embeds.0", "MODEL_TYPE_CONVERT",
     "Only dictionaries may be used in a ModelType"),
    (embed(title="x" * 257), "embeds.0.title", MOST, longest(256)),
    (embed(description="x" * 4097), "embeds.0.description", MOST, longest(4096)),
    (embed(fields=[{"name": "n", "value": "v"}] * 26), "embeds.0.fields", MOST, longest(25)),
    (embed(fields=[{"name": "x" * 257, "value": "v"}]), "embeds.0.fields.0.name", MOST,
     longest(256)),
    (embed(fields=[{"name": "n", "value": "x" * 1025}]), "embeds.0.fields.0.value", MOST,
     longest(1024)),
    (embed(fields=[{"name": "n"}]), "embeds.0.fields.0.value", REQUIRED, NEEDED),
    (embed(fields=[{"name": " ", "value": "v"}]), "embeds.0.fields.0.name", REQUIRED, NEEDED),
    (embed(fields=[{"name": "n", "value": "v", "inline": "no"}]), "embeds.0.fields.0.inline",
     "BOOLEAN_TYPE_CONVERT", "Must be either true or false."),
    (embed(footer={"text": "x" * 2049}), "embeds.0.footer.text", MOST, longest(2048)),
    (embed(author={"name": "x" * 257}), "embeds.0.author.name", MOST, longest(256)),
    (embed(title="x", url="ftp://x/y"), "embeds.0.url", "URL_TYPE_INVALID_SCHEME",
     "Scheme \"ftp\" is not supported. Scheme must be one of ('http', 'https')."),
    (embed(title="x", url="not a link"), "embeds.0.url", "URL_TYPE_INVALID_URL",
     "Not a well formed URL."),
    (embed(image={"url": "ftp://x/y"}), "embeds.0.image.url", "URL_TYPE_INVALID_SCHEME",
     "Scheme \"ftp\" is not supported. "
     "Scheme must be one of ('http', 'https', 'attachment')."),
    (embed(image={"url": "https://x/" + "y" * 2048}), "embeds.0.image.url", MOST, longest(2048)),
    (embed(title="x", color=0x1000000), "embeds.0.color", "NUMBER_TYPE_MAX",
     "int value should be less than or equal to 16777215."),
    (embed(title="x", color=-1), "embeds.0.color", "NUMBER_TYPE_MIN",
     "int value should be greater than or equal to 0."),
    (embed(title="x", color="red"), "embeds.0.color", "NUMBER_TYPE_COERCE",
     'Value "red" is not int.'),
    (embed(title="x", timestamp="soon"), "embeds.0.timestamp", "DATE_TIME_TYPE_PARSE",
     'Could not parse "soon". Should be ISO8601.'),
    ({"embeds": [{"description": "x" * 3001}, {"footer": {"text": "x" * 2000}}, {
        "fields": [{"name": "n" * 200, "value": "v" * 800}]}]},
     "embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000"),
    # rows of the older kind
    (old(*[row(button(str(n))) for n in range(6)]), "components", MOST, longest(5)),
    (old(row()), "components.0.components", BAD, between(1, 5)),
    (old(row(*[button(str(n)) for n in range(6)])), "components.0.components", BAD, between(1, 5)),
    (old({"type": 1}), "components.0.components", REQUIRED, NEEDED),
    (old(button()), "components.0.type", "UNION_TYPE_CHOICES", kinds(1)),
    (old(text()), "components.0.type", "UNION_TYPE_CHOICES", kinds(1)),
    (old(row(text())), "components.0.components.0.type", "UNION_TYPE_CHOICES", IN_ROWS),
    (old(row({})), "components.0.components.0.type", "UNION_TYPE_CHOICES", IN_ROWS),
    (old("row"), "components.0", "MODEL_TYPE_CONVERT",
     "Only dictionaries may be used in a ModelType"),
    (old(row(button(), menu())), "components.0.components.1", "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
     "The specified component exceeds the maximum width"),
    (old(row(button("a")), row(button("a"))), "components.1.components.0.custom_id",
     "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"),
    (old(row(button(None))), "components.0.components.0.custom_id",
     "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required"),
    (old(row(button("x" * 101))), "components.0.components.0.custom_id", BAD, between(1, 100)),
    (old(row(button(label="x" * 81))), "components.0.components.0.label", MOST, longest(80)),
    (old(row(button(label=None))), "components.0.components.0.label", REQUIRED, NEEDED),
    (old(row(button(style=7))), "components.0.components.0.style", "BASE_TYPE_CHOICES",
     "Value must be one of (1, 2, 3, 4, 5, 6)."),
    (old(row(button(style=None))), "components.0.components.0.style", REQUIRED, NEEDED),
    (old(row(button(None, style=5))), "components.0.components.0.url", REQUIRED, NEEDED),
    (old(row(button(None, style=5, url="https://x/" + "y" * 512))),
     "components.0.components.0.url", MOST, longest(512)),
    (old(row(button(None, style=5, url="javascript:x"))), "components.0.components.0.url",
     "URL_TYPE_INVALID_SCHEME", "Scheme \"javascript\" is not supported. "
     "Scheme must be one of ('http', 'https', 'discord')."),
    (old(row(button(emoji={"name": "smile"}))), "components.0.components.0.emoji.name",
     "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji"),
    (old(row(button(disabled="yes"))), "components.0.components.0.disabled",
     "BOOLEAN_TYPE_CONVERT", "Must be either true or false."),
    (old(row(menu(*[option(str(n)) for n in range(26)]))), "components.0.components.0.options",
     BAD, between(1, 25)),
    (old(row({"type": 3, "custom_id": "m"})), "components.0.components.0.options", REQUIRED,
     NEEDED),
    (old(row(menu(option(label="x" * 101)))), "components.0.components.0.options.0.label", MOST,
     longest(100)),
    (old(row(menu(option("x" * 101)))), "components.0.components.0.options.0.value", MOST,
     longest(100)),
    (old(row(menu(option(description="x" * 101)))),
     "components.0.components.0.options.0.description", MOST, longest(100)),
    (old(row(menu(option("a"), option("a")))), "components.0.components.0.options.1",
     "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used"),
    (old(row(menu(placeholder="x" * 151))), "components.0.components.0.placeholder", MOST,
     longest(150)),
    (old(row(menu(min_values=26))), "components.0.components.0.min_values", "NUMBER_TYPE_MAX",
     "int value should be less than or equal to 25."),
    (old(row(menu(max_values=0))), "components.0.components.0.max_values", "NUMBER_TYPE_MIN",
     "int value should be greater than or equal to 1."),
    (old(row(menu(max_values=2))), "components.0.components.0.options", "BASE_TYPE_MIN_LENGTH",
     "Must be 2 or more in length."),
    (old(row(menu(option("a", default=True), option("b", default=True)))),
     "components.0.components.0.options", "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES",
     "The number of default values exceeds the maximum"),
    (old(row({"type": 5})), "components.0.components.0.custom_id", REQUIRED, NEEDED),
    # the newer components
    (new(text(), content="x"), "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
     "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"),
    (new(text(), embeds=[{"title": "x"}]), "embeds",
     "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
     "The 'embeds' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"),
    (new(text(), poll=poll()), "poll", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
     "The 'poll' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"),
    (new(*[text()] * 41), "components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
     "Total number of components cannot exceed 40"),
    (new(*[container(*[text()] * 13)] * 3), "components",
     "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "Total number of components cannot exceed 40"),
    (new(text("x" * 2000), text("x" * 2001)), "components",
     "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
     "Components displayable text size exceeds maximum size of 4000"),
    (new(text("x" * 4001)), "components.0.content", BAD, between(1, 4000)),
    (new(text("")), "components.0.content", BAD, between(1, 4000)),
    (new({"type": 99}), "components.0.type", "UNION_TYPE_CHOICES", ON_TOP),
    (new(button()), "components.0.type", "UNION_TYPE_CHOICES", ON_TOP),
    (new(section(accessory=None)), "components.0.accessory", REQUIRED, NEEDED),
    (new(section(components=[text()] * 4)), "components.0.components", BAD, between(1, 3)),
    (new(section(components=[])), "components.0.components", BAD, between(1, 3)),
    (new(section(components=[button()])), "components.0.components.0.type", "UNION_TYPE_CHOICES",
     kinds(10)),
    (new(section(accessory=menu())), "components.0.accessory.type", "UNION_TYPE_CHOICES",
     kinds(2, 11)),
    (new(section(accessory={"type": 11})), "components.0.accessory.media", REQUIRED, NEEDED),
    (new(section(accessory={"type": 11, "media": {"url": "ftp://x/y"}})),
     "components.0.accessory.media.url", "URL_TYPE_INVALID_SCHEME",
     "Scheme \"ftp\" is not supported. "
     "Scheme must be one of ('http', 'https', 'attachment')."),
    (new(gallery(11)), "components.0.items", BAD, between(1, 10)),
    (new(gallery(0)), "components.0.items", BAD, between(1, 10)),
    (new(gallery(description="x" * 1025)), "components.0.items.0.description", MOST,
     longest(1024)),
    (new({"type": 13, "file": {"url": "https://x/y"}}), "components.0.file.url",
     "URL_TYPE_INVALID_SCHEME",
     "Scheme \"https\" is not supported. Scheme must be one of ('attachment')."),
    (new({"type": 14, "spacing": 3}), "components.0.spacing", "BASE_TYPE_CHOICES",
     "Value must be one of (1, 2)."),
    (new(container()), "components.0.components", BAD, between(1, 40)),
    (new(container(container(text()))), "components.0.components.0.type", "UNION_TYPE_CHOICES",
     kinds(1, 9, 10, 12, 13, 14)),
    (new(container(text(), accent_color=0x1000000)), "components.0.accent_color",
     "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215."),
    (new(text() | {"id": 1}, text() | {"id": 1}), "components.1.id", "COMPONENT_ID_DUPLICATED",
     "Component id cannot be duplicated"),
    # files and polls
    ({"content": "x", "attachments": [{"id": "x"}]}, "attachments.0.id", "NUMBER_TYPE_COERCE",
     'Value "x" is not snowflake.'),
    ({"content": "x", "attachments": [{"id": 0}]}, "attachments.0.id", "ATTACHMENT_NOT_FOUND",
     "Attachment not found"),
    ({"content": "x", "attachments": [{"id": 0}] * 11}, "attachments", MOST, longest(10)),
    ({"content": "x", "attachments": [{"id": 0, "description": "x" * 1025}]},
     "attachments.0.description", MOST, longest(1024)),
    ({"poll": poll(question={"text": "x" * 301})}, "poll.question.text", BAD, between(1, 300)),
    ({"poll": poll(question={})}, "poll.question.text", REQUIRED, NEEDED),
    ({"poll": poll(answers=[{"poll_media": {"text": "x"}}] * 11)}, "poll.answers", BAD,
     between(1, 10)),
    ({"poll": poll(answers=[{"poll_media": {"text": "x" * 56}}])},
     "poll.answers.0.poll_media.text", MOST, longest(55)),
    ({"poll": poll(answers=[{"poll_media": {}}])}, "poll.answers.0.poll_media.text", REQUIRED,
     NEEDED),
    ({"poll": poll(duration=769)}, "poll.duration", "NUMBER_TYPE_MAX",
     "int value should be less than or equal to 768."),
    ({"poll": poll(layout_type=2)}, "poll.layout_type", "BASE_TYPE_CHOICES",
     "Value must be one of (1)."),
]  # fmt: skip


async def test_documented_rich_content_errors_are_reported_to_bots_and_webhooks(
    local: Running,
) -> None:
    _, hook, _ = await local.ask("POST", f"/channels/{local.channel}/webhooks", {"name": "w"})
    paths = [f"/channels/{local.channel}/messages", f"/webhooks/{hook['id']}/{hook['token']}"]

    expected, answered = [], []
    for body, place, code, message in CASES:
        for path in paths:
            expected.append((path, place, 400, fault(place, code, message)))
            status, answer, _ = await local.ask("POST", path, body)
            answered.append((path, place, status, answer))

    assert answered == expected
    assert local.texts() == []


async def test_several_errors_are_reported_together(local: Running) -> None:
    body = {"content": "x" * 2001} | embed(title="x" * 257, color=-1)

    status, answer, _ = await local.ask("POST", f"/channels/{local.channel}/messages", body)

    assert (status, list(answer["errors"]), list(answer["errors"]["embeds"]["0"])) == (
        400, ["content", "embeds"], ["title", "color"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        {"embeds": [{}]}, {"embeds": [{"color": 1, "url": "https://x.example"}]},
        {"components": []}, {"flags": V2, "components": []}, {"flags": V2}, {"attachments": []},
    ],
)  # fmt: skip
async def test_a_request_without_content_is_an_empty_message(local: Running, body: Json) -> None:
    _, answer, _ = await local.ask("POST", f"/channels/{local.channel}/messages", body)

    assert answer == {"message": "Cannot send an empty message", "code": 50006}


async def test_edits_obey_the_same_rules_and_the_messages_component_version(local: Running) -> None:
    path = f"/channels/{local.channel}/messages"
    _, plain, _ = await local.ask("POST", path, {"content": "plain"})
    _, newer, _ = await local.ask("POST", path, new(text("newer")))
    _, poll_message, _ = await local.ask("POST", path, {"poll": poll()})
    legacy = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"

    def refused(name: str) -> Json:
        words = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        return fault(name, legacy, words)

    cases: list[tuple[Json, Json, Json]] = [
        (plain, {"embeds": [{"title": "x" * 257}]}, fault("embeds.0.title", MOST, longest(256))),
        (plain, {"content": ""}, {"message": "Cannot send an empty message", "code": 50006}),
        (plain, new(text()), refused("content")),
        (newer, {"content": "back"}, refused("content")),
        (newer, {"components": [text()]}, fault("components.0.type", "UNION_TYPE_CHOICES",
                                                kinds(1))),
        (newer, new(), {"message": "Cannot send an empty message", "code": 50006}),
        (poll_message, {"content": "x"}, {"message": "Cannot edit a poll message", "code": 520003}),
    ]  # fmt: skip
    answers = [
        (await local.ask("PATCH", f"{path}/{message['id']}", body))[1] for message, body, _ in cases
    ]

    assert answers == [answer for _, _, answer in cases]
    changed = [
        (await local.ask("PATCH", f"{path}/{message['id']}", body))[1]
        for message, body in (
            (plain, new(text("now newer"), content=None)), (newer, new(text("changed"))),
            (newer, {"flags": 0} | {"components": None}),
        )
    ]  # fmt: skip
    assert [m.get("flags") for m in changed[:2]] == [V2, V2]
    assert [m["components"][0]["content"] for m in changed[:2]] == ["now newer", "changed"]


async def test_a_webhook_without_an_app_needs_with_components(local: Running) -> None:
    hook = local.discord.create_webhook_as(local.channel, local.person, "by hand")
    path = f"/webhooks/{hook.id}/{hook.token}?wait=true"

    ignored = await local.ask("POST", path, old(row(button())), app=None)
    answer = await local.ask("POST", path + "&with_components=true", new(text("hi")), app=None)
    link = await local.ask(
        "POST", path + "&with_components=1",
        old(row(button(None, style=5, url="https://x.example"))), app=None,
    )  # fmt: skip
    pressed = await local.ask("POST", path + "&with_components=1", old(row(button())), app=None)
    empty = await local.ask("POST", path, {"components": [row(button())]}, app=None)

    assert (ignored[0], ignored[1]["components"]) == (200, [])
    assert (answer[0], answer[1]["components"][0]["content"]) == (200, "hi")
    assert (link[0], pressed[0], empty[1]["code"]) == (200, 400, 50006)
    assert list(pressed[1]["errors"]) == ["components"]


async def test_files_above_the_limits_are_refused(local: Running) -> None:
    url = f"{local.context.base_url}/discord/api/v10/channels/{local.channel}/messages"
    headers = {"Authorization": f"Bot {local.app()['token']}"}

    async def post(files: list[bytes], payload: Any = None) -> tuple[int, Any]:
        form = aiohttp.FormData(default_to_multipart=True)
        form.add_field("payload_json", orjson.dumps(payload or {}).decode())
        for number, data in enumerate(files):
            form.add_field(f"files[{number}]", io.BytesIO(data), filename=f"{number}.bin")
        async with local.http.post(url, data=form, headers=headers) as response:
            return response.status, await response.json()

    too_large = (413, {"message": "Request entity too large", "code": 40005})
    assert await post([bytes((10 << 20) + 1)]) == too_large
    assert await post([bytes(9 << 20)] * 3) == too_large
    assert await post([b"x"] * 11) == (400, fault("attachments", MOST, longest(10)))
    assert await post([b"x"], {"content": "x" * 2001}) == (400, fault("content", MOST,
                                                                      longest(2000)))  # fmt: skip
    assert local.context.files.bytes == 0
    local.discord.state.guilds[int(local.guild)].premium_tier = 2
    assert (await post([bytes((10 << 20) + 1)]))[0] == 200


async def test_an_app_without_the_attach_permission_cannot_send_files(local: Running) -> None:
    guild = local.discord.state.guilds[int(local.guild)]
    for role in guild.roles.values():
        role.permissions &= ~(1 << 15)
    url = f"{local.context.base_url}/discord/api/v10/channels/{local.channel}/messages"
    headers = {"Authorization": f"Bot {local.app('narrow')['token']}"}
    form = aiohttp.FormData(default_to_multipart=True)
    form.add_field("files[0]", b"x", filename="x.bin")

    async with local.http.post(url, data=form, headers=headers) as response:
        assert (await response.json())["code"] == 50013
    assert local.context.files.bytes == 0


async def test_excessively_nested_json_is_refused(local: Running) -> None:
    url = f"{local.context.base_url}/discord/api/v10/channels/{local.channel}/messages"
    headers = {
        "Authorization": f"Bot {local.app()['token']}", "Content-Type": "application/json",
    }  # fmt: skip
    for depth in (200, 900, 20_000):
        deep = '{"type": 17, "components": [' * depth + "]}" * depth
        body = f'{{"flags": {V2}, "components": [{deep}]}}'
        async with local.http.post(url, data=body, headers=headers) as response:
            assert (response.status, (await response.json())["code"] in (50035, 50109)) == (
                400,
                True,
            )

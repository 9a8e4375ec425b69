"""Slack's own export: read, and written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ExportFormat, ReadOptions
from bridge.testing.export_contract import ExportFormatContract, read_all, write_all
from connectors.slack.exports.zip_format import SlackZip
from tests.connectors.slack.exports import samples
from tests.connectors.slack.exports.samples import ANN, BOB, CAROL, GENERAL, TEAM, encoded, post

Json = dict[str, Any]


class TestZip(ExportFormatContract):
    name = "Example.zip"

    @pytest.fixture
    def form(self) -> ExportFormat:
        return SlackZip()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        files = samples.export_files()
        del files["__uploads/F0FILE001/notes.txt"]  # the writer of the contract has no files
        return samples.written(tmp_path / self.name, files)

    def messages_in(self, path: Path) -> int:
        return sum(map(len, samples.contents(path)["posts"].values()))

    def comparable(self, path: Path) -> object:
        return samples.contents(path)


class TestFolder(TestZip):
    name = "Example"


def read(
    tmp_path: Path, files: samples.Files, options: ReadOptions | None = None
) -> list[ExportItem]:
    return read_all(SlackZip(), samples.written(tmp_path / "export.zip", files), options)


def messages(items: list[ExportItem]) -> dict[str, ExportedMessage]:
    return {item.posted.native_id: item for item in items if isinstance(item, ExportedMessage)}


def reports(items: list[ExportItem]) -> list[str]:
    return [item.what for item in items if isinstance(item, NotUnderstood)]


def with_day(*posts: object, **more: bytes) -> samples.Files:
    lists = {"users.json": encoded(samples.USERS), "channels.json": encoded(samples.CHANNELS)}
    return {**lists, "general/2024-01-01.json": encoded(list(posts)), **more}


@pytest.fixture
def items(tmp_path: Path) -> list[ExportItem]:
    return read(tmp_path, samples.export_files())


def test_a_message_has_its_reactions_its_edit_and_its_pin(items: list[ExportItem]) -> None:
    root = messages(items)[samples.ROOT]

    assert [(one.emoji, one.actor.rpartition(":")[2]) for one in root.reactions] == [
        ("👍", BOB), ("👍", ANN), (":partyparrot:", BOB),
    ]  # fmt: skip
    assert root.posted.edited_at is not None
    assert root.posted.edited_at.timestamp() == 1704106860
    assert root.editor == f"slack:{TEAM}:{ANN}"
    assert root.pinned
    assert root.root is None
    assert "reactions of people whom the export does not list" in reports(items)


def test_replies_name_their_root_and_a_broadcast_is_one_message(items: list[ExportItem]) -> None:
    reply, shown = messages(items)[samples.REPLY], messages(items)[samples.SHOWN]

    assert (reply.root, reply.posted.place.thread) == (samples.ROOT, samples.ROOT)
    assert not reply.posted.broadcast
    assert shown.posted.broadcast
    assert shown.root == samples.ROOT


def test_a_tombstone_is_a_deleted_message(items: list[ExportItem]) -> None:
    assert messages(items)[samples.GONE].deleted
    assert not messages(items)[samples.ROOT].deleted


def test_system_messages_have_words_and_an_author_of_role_system(items: list[ExportItem]) -> None:
    joined, huddle = messages(items)["1704107100.000100"], messages(items)["1704196900.000100"]

    assert joined.posted.message.actor.role == huddle.posted.message.actor.role == "system"
    assert "has joined the channel" in str(joined.posted.message.content[0])
    assert "started a huddle" in str(huddle.posted.message.content[0])
    assert messages(items)["1704107300.000100"].posted.message.actor.role == "human"


def test_the_list_of_people_names_the_authors(items: list[ExportItem]) -> None:
    assert messages(items)[samples.REPLY].posted.author.name == "Bøb"
    assert messages(items)[samples.REPLY].posted.message.actor.name == "Bøb"
    assert messages(items)["1704107200.000100"].posted.author.name == "Builds"


def test_an_author_who_is_not_listed_is_a_person_and_reported(items: list[ExportItem]) -> None:
    people = {item.person.id for item in items if isinstance(item, ExportedPerson)}

    assert f"slack:{TEAM}:{CAROL}" in people
    assert "author who is not in the list of people" in reports(items)


def test_channels_have_their_kinds_members_and_topics(items: list[ExportItem]) -> None:
    channels = {item.channel.channel: item for item in items if isinstance(item, ExportedChannel)}

    kinds = {native: channel.kind for native, channel in channels.items()}
    assert kinds == {
        GENERAL: "public", "C0QUIET01": "public", samples.SECRET: "private",
        samples.GROUP: "group", samples.DIRECT: "direct",
    }  # fmt: skip
    assert channels[GENERAL].topic == "**Bold** plans"
    assert channels[GENERAL].members == (f"slack:{TEAM}:{ANN}", f"slack:{TEAM}:{BOB}")
    assert channels[GENERAL].created == 1704060000
    assert channels[samples.DIRECT].name == "Ann, Bøb"


@pytest.mark.parametrize(
    "place", ["__uploads/F0FILE001/notes.txt", "general/attachments/F0FILE001-notes.txt"]
)
def test_bytes_in_the_folders_of_slackdump_belong_to_the_file(tmp_path: Path, place: str) -> None:
    files = samples.export_files()
    files[place] = files.pop("__uploads/F0FILE001/notes.txt")
    path = samples.written(tmp_path / "export.zip", files)
    reader = SlackZip().reader(path, ReadOptions())

    found = [item for unit in reader.units() for item in reader.read(unit)]
    file = messages(found)[samples.REPLY].files["slack:F0FILE001"]
    with file.open() as stream:
        assert (file.name, file.size, stream.read()) == ("notes.txt", 5, b"12345")
    reader.close()


def test_the_live_decoder_gives_a_message_the_same_content(items: list[ExportItem]) -> None:
    from bridge.model import MessagePosted
    from connectors.slack import ids
    from connectors.slack.decode import decode
    from connectors.slack.history import post_raw
    from connectors.slack.ids import Identity

    identity = Identity(team=TEAM, team_name="", user="U0OURS001", handle="", bot="B0OURS001")
    for native in (samples.ROOT, samples.REPLY, "1704107200.000100", "1704107300.000100"):
        exported = messages(items)[native]
        value = json.loads(exported.payload)
        channel = ids.channel_ref(TEAM, GENERAL)
        (live,) = decode(post_raw(exported.posted.account, identity, channel, value, 0.0), identity)
        assert isinstance(live, MessagePosted)
        assert live.message.content == exported.posted.message.content
        assert live.message.message_id == exported.posted.message.message_id
        assert live.author.id == exported.posted.author.id
        assert live.message.metadata == exported.posted.message.metadata


# --- old and odd messages -------------------------------------------------------------------


def test_the_old_forms_of_files_and_comments_are_read(tmp_path: Path) -> None:
    shared = post("1.000001", "shared", subtype="file_share", file=samples.FILE, upload=True)
    comment = {
        "type": "message", "subtype": "file_comment", "ts": "1.000002", "text": "commented on",
        "file": samples.FILE, "comment": {"user": BOB, "comment": "Nice notes"},
    }  # fmt: skip

    found = messages(read(tmp_path, with_day(shared, comment)))

    assert "files+json" in str(found["1.000001"].posted.message.content)
    assert "Nice notes" in str(found["1.000002"].posted.message.content)
    assert found["1.000002"].posted.author.id.endswith(BOB)


def test_every_subtype_is_a_message(tmp_path: Path) -> None:
    subtypes = ("channel_topic", "pinned_item", "bot_add", "reminder_add", "never_heard_of", "")
    posts = [
        {"type": "message", "subtype": subtype, "user": ANN, "ts": f"1.00000{number}"}
        for number, subtype in enumerate(subtypes)
    ]

    found = messages(read(tmp_path, with_day(*posts)))

    assert len(found) == len(subtypes)
    assert "(never heard of)" in str(found["1.000004"].posted.message.content)


def test_what_is_no_message_is_reported_with_its_place(tmp_path: Path) -> None:
    good = post("1.000001", "good")
    odd: list[object] = [{"text": "no time"}, {"ts": 12.5}, {"ts": "yesterday"}, [1], 7, good, good]

    found = read(tmp_path, with_day(*odd))

    assert list(messages(found)) == ["1.000001"]
    assert reports(found) == [
        "message without time", "message with an invalid time", "message with an invalid time",
        "message that is no object", "message that is no object", "message that appears twice",
    ]  # fmt: skip
    places = [item.where for item in found if isinstance(item, NotUnderstood)]
    assert places[0] == "general/2024-01-01.json#0"


def test_one_message_that_is_no_json_leaves_the_others(tmp_path: Path) -> None:
    files = with_day()
    files["general/2024-01-01.json"] = b'[{"ts": "1.000001", "user": "U1", "text": tru}, %s]' % (
        encoded(post("1.000002", "fine"))
    )

    found = read(tmp_path, files)

    assert list(messages(found)) == ["1.000002"]
    assert "message that is no JSON" in reports(found)


def test_a_truncated_day_gives_the_messages_before_its_end(tmp_path: Path) -> None:
    files = with_day(post("1.000001", "first"), post("1.000002", "second"))
    files["general/2024-01-01.json"] = files["general/2024-01-01.json"][:-40]
    reader = SlackZip().reader(samples.written(tmp_path / "export.zip", files), ReadOptions())
    day = reader.read(reader.units()[1])

    found: list[ExportItem] = []
    with pytest.raises(
        ExportUnreadable, match=r"general/2024-01-01\.json: the file ends in the middle"
    ):
        found.extend(day)
    reader.close()


def test_lone_surrogates_and_large_numbers_are_read_and_kept(tmp_path: Path) -> None:
    day = b'[{"ts":"1.000001","user":"U1","text":"a\\ud83d","n":123456789012345678901234567890}]'

    found = messages(read(tmp_path, {**with_day(), "general/2024-01-01.json": day}))

    assert found["1.000001"].payload == day[1:-1]


# --- the export as a whole ------------------------------------------------------------------


def test_a_channel_without_an_index_is_named_by_its_folder(tmp_path: Path) -> None:
    found = read(tmp_path, with_day(**{"Lost/2024-01-01.json": encoded([post("1.000001", "x")])}))

    channels = [item.channel.channel for item in found if isinstance(item, ExportedChannel)]
    assert "Lost" in channels
    assert "channel that is in no index of the export" in reports(found)


def test_files_that_are_not_imported_are_reported(tmp_path: Path) -> None:
    found = read(tmp_path, with_day(**{"canvases.json": b"[]", "general/canvas.json": b"{}"}))

    places = {item.where for item in found if isinstance(item, NotUnderstood)}
    assert places == {"canvases.json", "general/canvas.json"}


def test_a_broken_index_does_not_stop_the_other_files(tmp_path: Path) -> None:
    day = with_day(post("1.000001", "x"))

    found = read(tmp_path, {**day, "groups.json": b"[{", "users.json": day["users.json"][:-2]})

    assert list(messages(found)) == ["1.000001"]
    assert reports(found).count("file that cannot be read") == 2


def test_an_export_in_a_folder_of_its_own_inside_the_zip_is_read(tmp_path: Path) -> None:
    files = {f"My export/{name}": content for name, content in samples.export_files().items()}
    files["__MACOSX/My export/._users.json"] = b"\x00"

    path = samples.written(tmp_path / "export.zip", files)

    assert SlackZip().recognises(path)
    assert samples.ROOT in messages(read_all(SlackZip(), path))


def test_names_that_leave_the_export_are_reported_and_never_read(tmp_path: Path) -> None:
    files = {**with_day(), "../outside/2024-01-01.json": encoded([post("1.000001", "x")])}

    found = read(tmp_path, files)

    assert not messages(found)
    assert "file of the export that is not imported" in reports(found)


def test_links_to_outside_are_not_followed(tmp_path: Path) -> None:
    folder = samples.written(tmp_path / "export", with_day())
    outside = samples.written(
        tmp_path / "outside", {"2024-01-01.json": encoded([post("1.1", "x")])}
    )
    (folder / "linked").symlink_to(outside)

    found = read_all(SlackZip(), folder)

    assert not messages(found)
    assert ("linked", "symbolic link") in [
        (item.where, item.detail) for item in found if isinstance(item, NotUnderstood)
    ]


def test_a_zip_bomb_is_refused_alone(tmp_path: Path) -> None:
    files = with_day(post("1.000001", "x"))
    path = samples.written(
        tmp_path / "export.zip", {**files, "general/2024-01-02.json": b"[" + b" " * (80 << 20)}
    )
    reader = SlackZip().reader(path, ReadOptions())
    _, first, second = reader.units()

    assert any(isinstance(item, ExportedMessage) for item in reader.read(first))
    with pytest.raises(ExportUnreadable, match="zip bomb"):
        list(reader.read(second))
    reader.close()


def test_an_unchanged_file_keeps_its_fingerprint_and_a_changed_one_gets_another(
    tmp_path: Path,
) -> None:
    def fingerprints(name: str, *posts: Json) -> dict[str, str]:
        files = with_day(*posts, **{"büro/2024-01-01.json": encoded([post("1.000001", "x")])})
        reader = SlackZip().reader(samples.written(tmp_path / name, files), ReadOptions())
        found = {unit.key: unit.fingerprint for unit in reader.units()}
        reader.close()
        return found

    for ending in ("", ".zip"):
        one = fingerprints(f"one{ending}", post("1.000001", "a"))
        other = fingerprints(f"other{ending}", post("1.000001", "b"))
        changed = {name for name in one if one[name] != other[name]}
        assert changed == {"general/2024-01-01.json"}


def test_a_zip_with_a_damaged_index_is_still_of_the_format(tmp_path: Path) -> None:
    path = samples.written(tmp_path / "export.zip", samples.export_files())
    content = path.read_bytes()
    place = content.index(b"channels.json") - 30  # the header of the entry
    path.write_bytes(content[:place] + b"XX" + content[place + 2 :])

    assert SlackZip().recognises(path)
    assert samples.ROOT in messages(read_all(SlackZip(), path))


def test_members_of_unexpected_types_are_read_and_written_again(tmp_path: Path) -> None:
    odd = post(
        "1.000001", "x", reactions=[{"name": "+1", "users": 3, "count": 2**80}, 7], files=["F1", 2],
        edited=True, blocks="none", attachments={"a": 1}, thread_ts=5, replies="all",
    )  # fmt: skip
    channel = {**samples.CHANNELS[0], "created": 2**80, "members": {"a": 1}, "pins": [None, 1]}
    files = {**with_day(odd), "channels.json": encoded([channel, 7, {"id": None}])}

    found = read(tmp_path, files)
    write_all(SlackZip(), found, tmp_path / "again.zip")

    assert samples.contents(tmp_path / "again.zip")["posts"] == {"general": [odd]}
    assert reports(found).count("entry that is no object with an id") == 2


# --- workspaces -----------------------------------------------------------------------------


def workspaces(found: list[ExportItem]) -> set[str]:
    return {item.posted.place.channel.workspace for item in messages(found).values()}


def test_the_messages_name_the_workspace_where_the_people_do_not(tmp_path: Path) -> None:
    users = [{"id": ANN, "name": "ann"}]

    found = read(tmp_path, {**with_day(post("1.000001", "x")), "users.json": encoded(users)})

    assert workspaces(found) == {TEAM}


def test_guests_of_other_workspaces_do_not_name_it(tmp_path: Path) -> None:
    guests = [
        samples.user(f"U0GUEST{number}", "Guest", team_id="T0OTHER", is_stranger=True)
        for number in range(5)
    ]

    files = {**with_day(post("1.000001", "x")), "users.json": encoded([*guests, *samples.USERS])}

    assert workspaces(read(tmp_path, files)) == {TEAM}


def test_an_export_that_names_no_workspace_asks_for_it(tmp_path: Path) -> None:
    day = encoded([{"ts": "1.000001", "user": ANN, "text": "x"}])
    files = {"channels.json": encoded(samples.CHANNELS), "general/2024-01-01.json": day}

    with pytest.raises(ExportUnreadable, match="--workspace"):
        read(tmp_path, files)
    assert workspaces(read(tmp_path, files, ReadOptions(workspace="T0GIVEN"))) == {"T0GIVEN"}


def test_a_given_workspace_wins(tmp_path: Path) -> None:
    found = read(tmp_path, with_day(post("1.000001", "x")), ReadOptions(workspace="T0GIVEN"))

    assert workspaces(found) == {"T0GIVEN"}


def test_each_workspace_of_a_grid_keeps_its_own_channels(tmp_path: Path) -> None:
    users = [samples.user(ANN, "Ann", enterprise_user={"teams": ["T0ONE", "T0TWO"]})]
    files: samples.Files = {"org_users.json": encoded(users)}
    for team, native in (("T0ONE", "C0ONE"), ("T0TWO", "C0TWO")):
        folder = f"teams/{team.lower()}"
        files[f"{folder}/channels.json"] = encoded([samples.channel(native, "general")])
        day = [post("1.000001", "x", team=team)]
        files[f"{folder}/general/2024-01-01.json"] = encoded(day)
    path = samples.written(tmp_path / "grid.zip", files)

    found = read_all(SlackZip(), path)

    assert SlackZip().recognises(path)
    places = [item.posted.place.channel for item in found if isinstance(item, ExportedMessage)]
    assert [(place.workspace, place.channel) for place in places] == [
        ("T0ONE", "C0ONE"), ("T0TWO", "C0TWO"),
    ]  # fmt: skip
    people = [item.person.id for item in found if isinstance(item, ExportedPerson)]
    assert people == [f"slack:T0ONE:{ANN}", f"slack:T0TWO:{ANN}"]


# --- written again --------------------------------------------------------------------------


def test_the_same_archive_gives_the_same_bytes(tmp_path: Path, items: list[ExportItem]) -> None:
    write_all(SlackZip(), items, tmp_path / "one.zip")
    write_all(SlackZip(), items, tmp_path / "two.zip")

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_the_days_of_an_export_are_those_of_slack(tmp_path: Path, items: list[ExportItem]) -> None:
    write_all(SlackZip(), items, tmp_path / "again.zip")

    days = {name for name in samples.read_files(tmp_path / "again.zip") if "/" in name}
    assert days == set(samples.DAYS)

"""Files of a Slack message -> images, players and files of the card; snippets show their text.

Source: docs.slack.dev "File object" (2026-08).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from bridge.content.cards.tree import Asset, File, Image, Native, Node, Player, Prose
from bridge.content.text.tree import CodeBlock, Paragraph, Text
from connectors.slack.cards.read_json import count_at, string_at, url_at
from connectors.slack.cards.read_media import file_id
from connectors.slack.cards.read_texts import Line, plain_document
from connectors.slack.cards.read_unknown import unknown
from connectors.slack.cards.schemas import FILES
from connectors.slack.json_values import Json

_GONE = {"tombstone": "[deleted file]", "hidden_by_limit": "[file hidden by the workspace's limit]"}
_CODE = frozenset(("snippet", "hosted"))


def read_files(files: Sequence[object], at: str) -> list[Node]:
    """The nodes of all files of a list at the pointer `at`, in order."""
    nodes: list[Node] = []
    for index, file in enumerate(files):
        nodes += read_file(file, f"{at}/{index}")
    return nodes


def read_file(value: object, at: str) -> list[Node]:
    """The nodes of one file object."""
    if not isinstance(value, dict):
        return [unknown(value, at, "", FILES)]
    file = cast("Json", value)
    if notice_text := _GONE.get(string_at(file, "mode")):
        notice = Prose((Paragraph((Text(notice_text),)),), at=at)
        return [Native(FILES, file, (notice,), at=at)]
    return [_node(file, at), *_preview(file, at)]


def _node(file: Json, at: str) -> Node:
    asset, title = _asset(file), _title(file)
    # A voice clip may have a video container.
    kind = asset.media_type.partition("/")[0]
    match "audio" if file.get("subtype") == "slack_audio" else kind:
        case "image":
            return Image(asset, title=title, at=at)
        case "video":
            words = _spoken(file)
            return Player(
                "video", asset, title=title, description=words, poster=_poster(file), at=at
            )
        case "audio":
            return Player("audio", asset, title=title, description=_spoken(file), at=at)
        case _:
            return File(asset, title=title, at=at)


def _asset(file: Json) -> Asset:
    """The asset of a file. Bytes that Slack stores need a token; a remote file is at
    its own URL."""
    url, page = url_at(file, "url_private"), url_at(file, "permalink")
    if file.get("is_external") is True:
        url, page = "", url_at(file, "external_url") or url or page
    milliseconds = count_at(file, "duration_ms")
    return Asset(
        url=url,
        file_id=file_id(file.get("id")),
        private=True,
        page=page,
        media_type=string_at(file, "mimetype"),
        name=string_at(file, "name"),
        alt=string_at(file, "alt_txt"),
        size=count_at(file, "size"),
        width=count_at(file, "original_w"),
        height=count_at(file, "original_h"),
        seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _title(file: Json) -> Line:
    """The title, unless it only repeats the file name."""
    title = string_at(file, "title") or string_at(file, "subject")
    title_blocks = plain_document(title, emoji=False) if title != file.get("name") else ()
    match title_blocks:
        case (Paragraph(children), *_):
            return children
        case _:
            return ()


def _poster(file: Json) -> Asset | None:
    url = url_at(file, "thumb_video")
    return Asset(url=url, private=True) if url else None


def _spoken(file: Json) -> Line:
    """The start of a transcript."""
    transcript = file.get("transcription")
    inner = cast("Json", transcript).get("preview") if isinstance(transcript, dict) else None
    text = string_at(cast("Json", inner), "content") if isinstance(inner, dict) else ""
    return (Text(" ".join(text.split())),) if text.strip() else ()


def _preview(file: Json, at: str) -> list[Node]:
    """The text of a snippet as code; the text of emails and posts unchanged."""
    mode = string_at(file, "mode")
    text = string_at(file, "preview")
    if mode in _CODE and text.strip():
        language = string_at(file, "filetype")
        code = CodeBlock(
            text.replace("\r\n", "\n").removesuffix("\n"), _LANGUAGES.get(language, language)
        )
        return [Prose((code,), at=f"{at}/preview")]
    plain = string_at(file, "preview_plain_text")
    blocks = plain_document(plain, emoji=False)
    return [Prose(blocks, at=f"{at}/preview_plain_text")] if blocks else []


_LANGUAGES = {"text": "", "auto": "", "binary": ""}

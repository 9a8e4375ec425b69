"""How many tokens a model will read for a message: an estimate, rather too high than too low. Pure.

Each vendor counts its own way, and hardly one tells before it is asked:

- text: 4 characters a token where it is ASCII, else 3 bytes (scripts without letters of one byte
  cost more tokens for each character);
- a picture 1,500, as the large tiles of all three vendors come to; a sound 32 for each second, a
  video 300 (as Gemini counts both), a PDF 2,500 for each 100 kB, another file as the text in it;
  where nobody knows how long or large it is: 1,500;
- calls of tools, their results and structured data: their JSON as text;
- 8 for each message: its name, and what stands around it; 5 and the words for its thread, and for
  what it answers.
"""

from __future__ import annotations

from bridge.content.messages.agent_parts import is_hidden
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    select_parts,
)
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    VideoPart,
    write,
)

PER_MESSAGE = 8
_PER_PLACE = 5
_PER_MEDIA = 1500
_PER_SECOND = {"audio": 32, "video": 300}
_PDF_BYTES_PER_TOKEN = 40
_NO_DETAILS = PartDetails()

MediaPart = ImagePart | AudioPart | VideoPart | FilePart


def tokens_of(message: Message, reader: str = "") -> int:
    """What this message costs a reader (the id of an actor): its own private parts are read by it,
    those of others are not; of a payload and its fallback one counts."""
    own = message.actor.id == reader
    additions = read_bridge_metadata(message)[0]
    details = additions.parts
    counted = [
        part_tokens(part, details.get(str(index)))
        for index, part in select_parts(message, ())
        if own or not is_hidden(part)
    ]
    return PER_MESSAGE + sum(counted) + _where_tokens(additions)


def _where_tokens(additions: BridgeMetadata) -> int:
    """Of what is told of its thread and of what it answers."""
    thread, reply = additions.in_thread, additions.replies_to
    total = 0 if thread is None else _PER_PLACE + text_tokens(thread.words)
    if reply is not None:
        total += _PER_PLACE + text_tokens(f"{reply.author} {reply.words}")
    return total


def part_tokens(part: ContentPart, details: PartDetails | None = None) -> int:
    details = details or _NO_DETAILS
    if isinstance(part, TextPart):
        return text_tokens(part.text)
    if isinstance(part, ImagePart):
        return _PER_MEDIA
    if isinstance(part, AudioPart | VideoPart):
        seconds = details.duration_s
        return _PER_MEDIA if seconds is None else int(seconds * _PER_SECOND[part.type]) + 1
    if isinstance(part, FilePart):
        return _file_tokens(part, details)
    return text_tokens(write(part).decode())


def text_tokens(text: str) -> int:
    return (len(text) + 3) // 4 if text.isascii() else (len(text.encode()) + 2) // 3


def first_tokens(text: str, most: int) -> str:
    """The beginning of a text that is at most so many tokens, up to the end of a word where there
    is one."""
    if text_tokens(text) <= most:
        return text
    low, high = 0, min(len(text), max(most, 0) * 4)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text_tokens(text[:middle]) <= most else (low, middle - 1)
    beginning = text[:low]
    word = max(beginning.rfind(" "), beginning.rfind("\n"))
    return beginning[:word] if word > low // 2 else beginning


def _file_tokens(part: FilePart, details: PartDetails) -> int:
    inline = part.source.base64
    size = details.size if inline is None else len(inline) * 3 // 4
    if size is None:
        return _PER_MEDIA
    return size // (_PDF_BYTES_PER_TOKEN if part.media_type == "application/pdf" else 4) + 1

"""The number of tokens that a model reads for a message: an estimate, rather too high than too low.
Pure.

Each vendor counts differently, and few report the count in advance:

- text: 4 characters a token where it is ASCII, else 3 bytes (other scripts cost more tokens for
  each character);
- a picture 1,500, as the large tiles of three vendors do; a sound 32 for each second, a video 300
  (as Gemini counts both), a PDF 2,500 for each 100 kB, another file as the text in it; 1,500 if its
  length or size is unknown;
- tool calls, their results and structured data: their JSON as text;
- 8 for each message: its name and its envelope; 5 and the words for its thread, and for the message
  that it answers.
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
    """Returns the estimated tokens of a message for one reader.

    The reader's own private parts count, those of others do not. Of a payload and its fallback, one
    counts.

    Args:
        message: The message.
        reader: The actor id of the reader.
    """
    is_own = message.actor.id == reader
    additions = read_bridge_metadata(message)[0]
    details = additions.parts
    counted = [
        part_tokens(part, details.get(str(index)))
        for index, part in select_parts(message, ())
        if is_own or not is_hidden(part)
    ]
    return PER_MESSAGE + sum(counted) + _context_tokens(additions)


def _context_tokens(additions: BridgeMetadata) -> int:
    """The tokens of the text about its thread and the message that it answers."""
    thread, reply = additions.in_thread, additions.replies_to
    total = 0 if thread is None else _PER_PLACE + text_tokens(thread.words)
    if reply is not None:
        total += _PER_PLACE + text_tokens(f"{reply.author} {reply.words}")
    return total


def part_tokens(part: ContentPart, details: PartDetails | None = None) -> int:
    """Returns the estimated tokens of one part."""
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
    """Returns the estimated tokens of a text."""
    return (len(text) + 3) // 4 if text.isascii() else (len(text.encode()) + 2) // 3


def first_tokens(text: str, max_tokens: int) -> str:
    """Returns the beginning of a text in `max_tokens` tokens at most; it ends after a word."""
    if text_tokens(text) <= max_tokens:
        return text
    low, high = 0, min(len(text), max(max_tokens, 0) * 4)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if text_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
        )
    beginning = text[:low]
    word = max(beginning.rfind(" "), beginning.rfind("\n"))
    return beginning[:word] if word > low // 2 else beginning


def _file_tokens(part: FilePart, details: PartDetails) -> int:
    inline = part.source.base64
    size = details.size if inline is None else len(inline) * 3 // 4
    if size is None:
        return _PER_MEDIA
    return size // (_PDF_BYTES_PER_TOKEN if part.media_type == "application/pdf" else 4) + 1

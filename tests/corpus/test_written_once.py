"""What a channel shows does not depend on the channels that were shown the message before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from bridge.content.messages.written_once import WrittenOnce
from bridge.errors import BridgeError
from bridge.model import (
    Byline,
    ChannelRef,
    Counterparts,
    Delivery,
    EditMessage,
    Encoded,
    PostMessage,
    QuotedMessage,
)
from bridge.model.operations import Source
from bridge.uacs import Message, TextPart
from connectors.irc.encode import encode as encode_irc
from connectors.irc.form import Form
from tests.corpus.examples import EXAMPLES
from tests.corpus.test_native_mentions import CARDS, ENCODE, WITH_CORPUS, cases_of, delivery
from tests.corpus.test_native_mentions import PLATFORMS as SOURCES

ENCODERS: dict[str, Callable[[Delivery], Encoded]] = {
    **ENCODE,
    "irc": lambda request: encode_irc(request, Form(), CARDS),
}
_CASES = 4  # of each kind
DIRECT = {"slack": "D9", "discord": "9", "teams": "a:9", "irc": "bob"}


def _to(base: Delivery, platform: str, channel: str = "C2", workspace: str = "T1") -> Delivery:
    place = ChannelRef(platform=platform, workspace=workspace, channel=channel)
    return _with(base, channel=place)


def _with(base: Delivery, **changes: object) -> Delivery:
    """The delivery with other fields of its operation."""
    operation = base.operation.model_copy(update=changes)
    return base.model_copy(update={"operation": operation})


def _changed(base: Delivery, platform: str) -> dict[str, Delivery]:
    """Deliveries of the same message, each of which differs in one thing that some platform
    shows."""
    post = base.operation
    assert isinstance(post, PostMessage)
    words = QuotedMessage(author="Bob", excerpt="What *is* it?")
    known = words.model_copy(update={"native_id": "111"})
    edit = EditMessage(
        id=post.id, account=post.account, room=post.room, message=post.message,
        channel=post.channel, byline=post.byline,
    )  # fmt: skip
    direct_workspace = "@me" if platform == "discord" else "T1"
    quoting = base.model_copy(update={"quoted": known})
    return {
        "the same": base,
        "another channel": _to(base, platform, "C3"),
        "another workspace": _to(base, platform, "C2", "T2"),
        "a direct channel": _to(base, platform, DIRECT[platform], direct_workspace),
        "another name": _with(base, byline=Byline(name="Zoe")),
        "an agent": _with(base, byline=Byline(name="App", agent=True)),
        "an edit": base.model_copy(update={"operation": edit}),
        "a quote": base.model_copy(update={"quoted": words}),
        "a quote with a copy": quoting,
        "... elsewhere": _to(quoting, platform, "C3"),
        "... in a thread": quoting.model_copy(update={"thread": "222"}),
        "feedback": base.model_copy(update={"feedback": True}),
        "sources": base.model_copy(update={"sources": (Source(1, "A page", "https://e.org/"),)}),
        "counterparts": base.model_copy(update={"counterparts": Counterparts(everyone=True)}),
    }


def _result(platform: str, request: Delivery) -> Any:
    try:
        return ENCODERS[platform](request)
    except BridgeError as error:
        return repr(error)


def _assert_independent(base: Delivery, platform: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Each delivery gives after the first what it gives alone, and the first after each."""
    requests = _changed(_to(base, platform), platform)
    with monkeypatch.context() as patched:
        patched.setattr(WrittenOnce, "of", lambda _self, _delivery, *_seen, write: write())
        alone = {name: _result(platform, request) for name, request in requests.items()}
    for result in alone.values():
        for call in getattr(result, "calls", ()):
            assert orjson.loads(orjson.dumps(call.body)) == call.body
    first = "the same"
    for name in requests:
        for before, then in ((first, name), (name, first)):
            _result(platform, requests[before])
            assert _result(platform, requests[then]) == alone[then], f"{then} after {before}"
    return len({repr(result) for result in alone.values()})


@pytest.mark.parametrize("platform", ENCODERS)
def test_words_are_shown_alike_whatever_was_written_before(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = delivery("slack", next(iter(EXAMPLES["slack"].values())), "program")
    text = TextPart(text="Hello @everyone, **read** [this](https://example.com/a_b).")
    message: Message = base.message.model_copy(update={"content": (text,)})
    base = base.model_copy(update={"message": message})
    assert _assert_independent(base, platform, monkeypatch) >= 5


@pytest.mark.parametrize("platform", ENCODERS)
@pytest.mark.parametrize("origin", SOURCES)
@pytest.mark.parametrize("source", ["examples", pytest.param("corpus", marks=WITH_CORPUS)])
def test_cards_are_shown_alike_whatever_was_written_before(
    source: str, origin: str, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = 0
    cases = cases_of(origin, source)
    for case in cases[:: max(1, len(cases) // _CASES)]:
        try:
            base = delivery(origin, case.payload, "agent")
        except BridgeError:
            continue  # no message of this platform
        several += _assert_independent(base, platform, monkeypatch) > 3
    assert several >= 2

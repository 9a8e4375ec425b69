"""The agent of a story on the published `openfloor` library, as a process of its own:
`python -m bridge.app.demo.stories.library_agent STORY NAME ADDRESSES` prints its port."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from bridge.app.demo.stories.agent import StoryAgent, heard_in, serve
from bridge.app.demo.stories.all import STORIES
from bridge.app.demo.stories.story import INVITED, LEAVES, Reply

_Json = dict[str, Any]
_Next = Callable[[str, str], Reply]
of: Any = import_module("openfloor")  # it has no types


class StoryBot(of.BotAgent):
    """The library's agent in one conversation, which is all that one of them can have."""

    def __init__(self, manifest: Any, following: _Next) -> None:
        super().__init__(manifest)
        self._following = following

    def bot_on_invite(self, event: Any, in_envelope: Any, out_envelope: Any) -> None:
        self._active_conversation = of.Conversation(id=in_envelope.conversation.id)
        self._has_floor = True
        out_envelope.events.append(of.AcceptInviteEvent())
        if not any(other.eventType == "utterance" for other in in_envelope.events):
            self._reply(INVITED, in_envelope, out_envelope)

    def bot_on_utterance(self, event: Any, in_envelope: Any, out_envelope: Any) -> None:
        words = heard_in([json.loads(event.to_json())])
        self._reply(words, in_envelope, out_envelope)

    def _reply(self, heard: str, in_envelope: Any, out_envelope: Any) -> None:
        reply = self._following(in_envelope.conversation.id, heard)
        if reply.says is not None:
            feature = of.TextFeature(values=[reply.says])
            said = of.DialogEvent(speakerUri=self.speakerUri, features={"text": feature})
            out_envelope.events.append(of.UtteranceEvent(dialogEvent=said))
        if reply.then == LEAVES:
            out_envelope.events.append(of.ByeEvent())


class LibraryAgent(StoryAgent):
    """Reads and writes envelopes by the library, and has a `StoryBot` for each conversation."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._bots: dict[str, StoryBot] = {}

    def _answered(self, asked: _Json) -> bytes:
        envelope = of.Envelope.from_json(json.dumps({"openFloor": asked}), as_payload=True)
        with redirect_stdout(io.StringIO()):  # the library prints what it does
            known = self._bots.get(envelope.conversation.id)
            bot = known or StoryBot(self._own_manifest(asked), self.following)
            self._bots[envelope.conversation.id] = bot
            answer = bot.process_envelope(envelope)
        return answer.to_json(as_payload=True).encode()

    def _own_manifest(self, asked: _Json) -> Any:
        """Its manifest, with the address under which it was called."""
        addresses = (event.get("to", {}).get("serviceUrl") for event in asked["events"])
        layers = of.SupportedLayers(input=["text"], output=["text"])
        return of.Manifest(
            identification=of.Identification(
                speakerUri=self.uri, serviceUrl=next(filter(None, addresses), ""),
                organization="Story", conversationalName=self.name, synopsis="",
            ),
            capabilities=[
                of.Capability(
                    keyphrases=[], languages=["en"], descriptions=[], supportedLayers=layers
                )
            ],
        )  # fmt: skip


if __name__ == "__main__":
    serve(LibraryAgent(STORIES[sys.argv[1]], sys.argv[2], json.loads(sys.argv[3])))

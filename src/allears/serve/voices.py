"""Who can answer: each voice under a name that people choose by, with a queue of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from starlette.exceptions import HTTPException

from allears.conversation import Conversation, PersonaSentence
from allears.errors import AllearsError
from allears.listener.contract import NO_WISH, Reply, Responder, Wish
from allears.listener.matching import Matched
from allears.safety.screen import require_crisis_screening
from allears.serve.batching import Batcher
from allears.serve.metrics import Metrics
from allears.serve.settings import ServerSettings

DEFAULT = "default"


@runtime_checkable
class ShowsWords(Protocol):
    """A responder that can say which words of a reply go with which others."""

    def matched_words(
        self, message: str, reply: str, persona: Sequence[PersonaSentence] = (), listener: Sequence[str] = ()
    ) -> Matched: ...


@dataclass(frozen=True)
class ServedVoice:
    """A listener with a name, and what to tell people about it."""

    name: str
    responder: Responder
    title: str = "allears"
    description: str = (
        "Chooses its replies among thousands that were written for this, by how well they fit what you said. "
        "Quick, and it says nothing that nobody has read."
    )
    leaves_machine: bool = False  # what people say is sent elsewhere

    @property
    def takes_strategy(self) -> bool:
        return bool(getattr(self.responder, "takes_strategy", False))

    @property
    def takes_persona(self) -> bool:
        return bool(getattr(self.responder, "takes_persona", False))

    @property
    def takes_alpha(self) -> bool:
        return bool(getattr(self.responder, "takes_alpha", False))

    @property
    def country(self) -> str | None:
        """Whose help lines it names where nobody said where they are."""
        found: str | None = getattr(self.responder, "country", None)
        return found

    @property
    def shows_words(self) -> bool:
        return isinstance(self.responder, ShowsWords)

    def matched_words(
        self, message: str, reply: str, persona: Sequence[PersonaSentence], listener: Sequence[str]
    ) -> Matched:
        """Which words matched; only where it `shows_words`."""
        assert isinstance(self.responder, ShowsWords)
        return self.responder.matched_words(message, reply, persona, listener)


class Voices:
    """All voices of a server. The first answers where nobody chose."""

    def __init__(self, voices: Sequence[ServedVoice], settings: ServerSettings, metrics: Metrics) -> None:
        self._voices = {voice.name: voice for voice in voices}
        if len(self._voices) < len(voices):
            raise AllearsError("two voices have the same name; people choose by it, so give each its own")
        for voice in voices:
            screen = getattr(voice.responder, "screen", None)
            if screen is not None:
                require_crisis_screening(screen)
        self._batchers = {voice.name: Batcher(voice.responder, settings, metrics) for voice in voices}

    def __iter__(self) -> Iterator[ServedVoice]:
        return iter(self._voices.values())

    @property
    def default(self) -> ServedVoice:
        return next(iter(self._voices.values()))

    @property
    def names(self) -> list[str]:
        return list(self._voices)

    def chosen(self, name: str | None) -> ServedVoice:
        """The voice of this name. One that is not served any more gives way to the default."""
        return self._voices.get(name or "", self.default)

    def check(self, name: str) -> str:
        """The name of a voice that somebody chooses. Raises status 422 for one that is not here."""
        if name not in self._voices:
            raise HTTPException(
                422, f"voice: there is no such voice here; there are {', '.join(self.names)}."
            )
        return name

    async def start(self) -> None:
        for batcher in self._batchers.values():
            await batcher.start()

    async def stop(self) -> None:
        await asyncio.gather(*(batcher.stop() for batcher in self._batchers.values()))

    async def respond(
        self,
        message: str,
        conversation: Conversation,
        seed: int = 0,
        wish: Wish = NO_WISH,
        *,
        voice: str | None = None,
    ) -> Reply:
        """As `Batcher.respond`, by the voice of this name."""
        batcher = self._batchers[self.chosen(voice).name]
        return await batcher.respond(message, conversation, seed, wish)

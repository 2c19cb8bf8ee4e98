"""A server with the shipped listener and a second voice, which tells the α it was given.

`python server_of_voices.py PORT FILE`. The shipped voices that take an α need more than a test should wait for; what
the page does with one is the same.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from allears.conversation import Conversation
from allears.listener import Listener
from allears.listener.contract import Reply, Wish
from allears.memory import Memory
from allears.serve.app import create_app
from allears.serve.run import listen, run
from allears.serve.settings import ServerSettings
from allears.serve.voices import ServedVoice
from echo_listener import Echo


class Leaning(Echo):
    """Says how much it was asked to lean on what is known; "silence" breaks it."""

    takes_alpha = True

    def _reply(self, message: str, conversation: Conversation | None, seed: int, wish: Wish) -> Reply:
        if "silence" in message:
            raise RuntimeError("not a word")
        reply = super()._reply(message, conversation, seed, wish)
        text = f"My α was {wish.alpha}."
        *before, said = reply.conversation.turns
        turns = (*before, replace(said, text=text))
        return replace(reply, text=text, conversation=replace(reply.conversation, turns=turns))


def main() -> None:
    settings = ServerSettings(port=int(sys.argv[1]), rate=1000, burst=1000)
    voices = [
        ServedVoice("default", Listener.from_bundle(voice="chosen"), "Chosen replies"),
        ServedVoice("leaning", Leaning(), "Leaning voice", "Tells its α."),
    ]
    with listen(settings) as opened, Memory(sys.argv[2]) as memory:
        run(create_app(voices, memory, settings), settings, opened)


if __name__ == "__main__":
    main()

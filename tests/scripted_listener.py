"""A listener for the chat's tests: it answers from a script, learns what begins with "My", and can get into trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.listener.contract import NO_WISH, PersonaUse, Proposal, Ranked, Reply, ShownChange, Why, Wish

SAID = "That sounds heavy. What weighs most?"
LONGEST = 200


class ScriptedListener:
    """`before_answering` is called with every message: tests let things happen there."""

    def __init__(self, before_answering: Callable[[str], None] = lambda message: None) -> None:
        self.before_answering = before_answering
        self.seen: list[tuple[str, int, int]] = []  # message, turns before it, seed

    def respond(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Reply:
        self.before_answering(message)
        if len(message) > LONGEST:
            raise AllearsError(f"the message has {len(message)} characters; up to {LONGEST} are read")
        known = conversation or Conversation("", ())
        self.seen.append((message, len(known.turns), seed))
        if "danger" in message:
            screening = {
                "danger": "suicide",
                "evidence": [
                    {
                        "layer": "patterns",
                        "name": "wish",
                        "danger": "suicide",
                        "weight": 0.9,
                        "words": "danger",
                    }
                ],
            }
            return _reply(known, message, "Please call 112 now.\nYou matter.", Why("crisis", screening), ())
        persona = known.personas.get("seeker", Persona()).sentences
        number = len(known.turns) + 1
        learned = (PersonaSentence(message, f"turn {number}"),) if message.startswith("My ") else ()
        text = f"{SAID} ({number})"
        why = Why(
            "reply",
            emotions=(("lonely", 0.62), ("sad", 0.2)),
            strategy="Reflection of feelings",
            strategies=(("Reflection of feelings", 0.5), ("Question", 0.3)),
            persona=tuple(PersonaUse(sentence.text, 1 / len(persona)) for sentence in persona),
            learned=learned,
            changes=(ShownChange("I live in Ghent.", "I live in Bruges.", "another home"),)
            if "moved" in message
            else (),
            candidates=(
                Ranked(Proposal(text, "cards"), 2.5, 0.6, ("good 0.70, off 0.10",)),
                Ranked(Proposal("And then?", "cards"), 2.25, 0.2, ("good 0.40, off 0.20",)),
            ),
            review=("You should take pills. (medication)",) if "pills" in message else (),
            seed=seed,
            milliseconds={"read": 12.0, "rank": 30.0},
        )
        return _reply(known, message, text, why, learned)

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Iterator[str | Reply]:
        reply = self.respond(message, conversation, seed=seed, wish=wish)
        yield reply.text
        yield reply

    def respond_many(
        self,
        messages: Sequence[str],
        conversations: Sequence[Conversation | None],
        *,
        seeds: Sequence[int],
        wishes: Sequence[Wish] | None = None,
    ) -> list[Reply]:
        rows = zip(messages, conversations, seeds, strict=True)
        return [self.respond(message, conversation, seed=seed) for message, conversation, seed in rows]


def _reply(
    known: Conversation, message: str, text: str, why: Why, learned: tuple[PersonaSentence, ...]
) -> Reply:
    personas = known.personas
    if learned:
        before = personas.get("seeker", Persona()).sentences
        personas = {**personas, "seeker": Persona((*before, *learned))}
    turns = (
        *known.turns,
        Turn(Role.SEEKER, message),
        Turn(Role.SUPPORTER, text, strategy=why.strategy or None),
    )
    return Reply(text, why, replace(known, turns=turns, personas=personas))

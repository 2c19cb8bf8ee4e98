"""What a person may ask of the listener's memory in plain words: "forget that", "what do you know about me?"."""

from __future__ import annotations

import re
from dataclasses import replace

from allears.conversation import Conversation, Persona, PersonaSentence, Role
from allears.personas.provenance import turn_source

_THAT = re.compile(
    r"^\W*(please\W+|can you\W+|could you\W+)*(forget|delete|erase|scratch|ignore)\W+(about\W+)?"
    r"(that|this|it|what i (just )?(said|told you|wrote)|the last (thing|bit|message))(\W+please)?\W*$",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"^\W*(please\W+|can you\W+|could you\W+)*(forget|delete|erase)\W+"
    r"(everything|all( of)?( that| it)?|me|all about me)"
    r"(\W+(about me|i (ever )?(said|told you)|you know( about me)?))*(\W+please)?\W*$",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"^\W*(what (do|did) you (know|remember)( about me)?|what have you (learned|learnt|remembered) about me"
    r"|do you remember (me|anything about me))\W*$",
    re.IGNORECASE,
)


def asked(message: str) -> str:
    """ "forget", "forget everything", "what is known", or an empty text where nothing of the kind was asked."""
    if _THAT.match(message):
        return "forget"
    if _EVERYTHING.match(message):
        return "forget everything"
    return "what is known" if _WHAT.match(message) else ""


NOTHING_KNOWN = (
    "Nothing so far. What you tell me about yourself would be listed here, "
    "and you could change or remove any of it."
)
NOTHING_NOTED = "There was nothing noted from that, so there is nothing left of it to forget."


def answer(request: str, conversation: Conversation) -> tuple[str, Conversation, tuple[PersonaSentence, ...]]:
    """What to say, the conversation afterwards, and the persona sentences that are gone."""
    persona = conversation.personas.get(Role.SEEKER.value, Persona())
    if request == "what is known":
        return _known(persona), conversation, ()
    gone = persona.sentences
    if request == "forget":
        numbered = enumerate(conversation.turns, 1)
        last = max((number for number, turn in numbered if turn.speaker is Role.SEEKER), default=0)
        gone = tuple(sentence for sentence in gone if sentence.source == turn_source(last))
    left = tuple(sentence for sentence in persona.sentences if sentence not in gone)
    after = replace(conversation, personas={**conversation.personas, Role.SEEKER.value: Persona(left)})
    if not gone:
        return NOTHING_NOTED, after, ()
    what = "It is" if len(gone) == 1 else f"All {len(gone)} notes are"
    return f"Forgotten. {what} no longer in what I know about you.", after, gone


def _known(persona: Persona) -> str:
    if not persona.sentences:
        return NOTHING_KNOWN
    told = "\n".join(f"- {sentence.text}" for sentence in persona.sentences)
    return (
        f"This is what I have noted from what you told me:\n{told}\n"
        "Say \u201cforget that\u201d, or edit the list, and it is gone."
    )

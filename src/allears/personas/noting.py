"""What is worth remembering of what somebody said, in their own words: the listener's way of noting. Nothing to train.

A note must still say something a week later, to somebody who has not read the conversation. So a sentence is kept if
it is about the person and tells something that lasts; what they are about to do, thank for, wonder or say of somebody
who is only "he" or "she" is not. Nothing is added to what was said; what leads into a sentence ("No, ...") is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from allears.personas.copying import tells
from allears.personas.wording import sentences

_LEAD_IN = re.compile(
    r"^(?:(?:yes|yeah|yep|no|nope|ok|okay|well|so|and|but|oh|right|sure|honestly|actually|anyway|also|you'?re right|"
    r"you are right|that'?s right|that'?s true|true|exactly|to be honest|tbh|i mean)\b[\s,.:;-]*)+",
    re.IGNORECASE,
)
# Whom a sentence is about: the first of these words in it.
_ABOUT = re.compile(
    r"\b(?P<self>i|i'm|im|i've|ive|i'd|i'll|my|mine|we|we're|we've|our)\b"
    r"|\b(?:he|she|it|they|you|this|that|there|his|her|their|your|its|who|me|us|myself)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"^(?:thanks|thank you|thx|cheers|bye|goodbye|good ?night|sorry|please)\b"  # courtesies
    r"|\b(?:maybe|perhaps)\b"
    r"|^i (?:guess|suppose|hope|wonder|think|bet|mean)\b"
    r"|^i(?:'ll| will| shall| could| might| should| would(?! (?:like|love)))\b"
    r"|^i'd\b(?! (?:like|love|been|had|always|never))"
    r"|^i(?:'m| am|m) (?:going to|gonna|off to|about to|here)\b"
    r"|^i (?:have|had|need|got|want) to (?:go|tell|talk|say|ask|get (?:this|it))\b"
    r"|^i (?:do not|don'?t) (?:know|understand|see) (?:what|how|if|why|whether|where|when|who|which)\b"
    r"|^i(?: am|'m)? (?:just )?feel(?:ing)? (?:(?:a bit|a little|much|so much|already) )?(?:better|calmer|lighter)\b",
    re.IGNORECASE,
)
_SOMEBODY_ELSE = re.compile(
    r"\b(?:he|him|she|they|them|it|this)\b|\bthat\b(?=\s*[.!]?$)"
    r"|\bher\b(?!\s+\w)|\bher (?:and|again|as|at|back|because|but|for|from|if|in|now|on|since|so|to|when|with)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|our)\s+\w", re.IGNORECASE)


class NotingExtractor:
    """Sentences about the person that last."""

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        return [
            tuple(note for sentence in sentences(utterance) if (note := noted(sentence)))
            for utterance in utterances
        ]


def without_lead_in(sentence: str) -> str:
    """The sentence as it is remembered: "No, i live alone" is "I live alone"."""
    start = _LEAD_IN.match(sentence.replace("’", "'"))
    text = sentence[start.end() :] if start else sentence
    return text[:1].upper() + text[1:]


def noted(sentence: str) -> str:
    """The sentence as it is remembered; empty if it is not."""
    sentence = without_lead_in(sentence)
    text = sentence.replace("’", "'")
    about = _ABOUT.search(text)
    if not tells(sentence) or about is None or about["self"] is None or _PASSING.search(text):
        return ""
    if _SOMEBODY_ELSE.search(text) and not _OWN.search(text):  # of whom, nobody will know
        return ""
    return sentence

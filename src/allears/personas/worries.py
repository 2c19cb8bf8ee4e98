"""What weighs on somebody, in their own words: "I'm just feeling anxious about my job's future" tells a person's worry.

PERSONA-CHAT's people hardly ever worry, so a decoder that learned from them writes something smaller instead ("I have a
job."). PAL's personas of people who seek support are full of worries (Table 1). Here a rule finds them, and nothing is
added to what was said. No torch here.
"""

from __future__ import annotations

import re

from allears.personas.support import content_words

MOST_WORDS = 12  # of what it is about; a longer one is a story, not a fact about somebody
_FEELINGS = (
    "worried|anxious|nervous|scared|afraid|terrified|frightened|stressed(?: out)?|upset|sad|depressed|devastated|"
    "heartbroken|ashamed|embarrassed|guilty|angry|furious|frustrated|annoyed|lonely|overwhelmed|hopeless|desperate|"
    "disappointed|insecure|unhappy|miserable|jealous|concerned|panicking|freaking out|hurt"
)
_PLAIN = re.compile(
    r"\b(?:i am|i'm|im|i've been|i have been|i was|i feel|i felt|"
    r"i'm feeling|i am feeling|i've been feeling|i keep feeling)"
    r"(?P<between>(?: (?:just|so|really|very|quite|pretty|a bit|a little|kind of|sort of|still|also|always|too|"
    r"extremely|incredibly|getting|feeling|constantly|right now|at the moment)){0,4})"
    rf" (?P<feeling>{_FEELINGS})"
    r" (?P<link>about|that|of|over|by|because of|because|for) (?P<what>[^.,;:!?()\n]+)",
    re.IGNORECASE,
)
# where what it is about ends, and another thought begins
_NEXT = re.compile(
    r"\s+(?:and (?:i|we|he|she|they|it|my|now|then|that)|but|which|so that|so|since|although|though|while)\b.*",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|no longer|n't)\s*$", re.IGNORECASE)


def worries(utterance: str) -> tuple[str, ...]:
    """Each as a sentence in the present and in the first person: "I feel anxious about my job's future."."""
    text = utterance.replace("’", "'")
    found: dict[str, None] = {}
    for match in _PLAIN.finditer(text):
        what = _NEXT.sub("", match["what"]).strip()
        past = re.match(r"i (?:was|felt)\b", match[0], re.IGNORECASE) is not None
        if (
            past
            or not content_words(what)
            or len(what.split()) > MOST_WORDS
            or _NOT.search(text[: match.start()])
        ):
            continue
        verb = "feel" if "feel" in match[0][: match.start("feeling") - match.start()].lower() else "am"
        found[f"I {verb} {match['feeling'].lower()} {match['link'].lower()} {what}."] = None
    return tuple(found)

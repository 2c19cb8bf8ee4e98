"""A question about what the person told ("when is my exam?"), the notes that answer it, and those notes said back.

Nothing is changed here, so a guess is harmless: what is found is put first in what a voice is told, or said back where
no voice writes. Requests that change memory ("forget that") are in `requests`, word for word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from allears.conversation import Persona, PersonaSentence
from allears.personas.plain import plain_words, stem
from allears.personas.support import function_words

Similarity = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to one vector each; the nearer in meaning two texts are, the larger their vectors' cosine."""

NEAR = 0.62  # cosine from which a note answers a question that it shares no word with,
LEAD = 0.06  # and by how much it must be nearer than the next
MOST = 3  # notes for one question
CLOSE = 0.6  # of the best note's score, for another one beside it

_ASKS_FACT = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hey|um|wait|btw|hm+|oh|please|again)\W+)*(?:"
    # do you remember my ..., did I tell you what ..., you know where I ...
    r"(?:(?:do|can|did|will|don't|dont) )?you (?:still |even |really )?(?:remember|know|recall)\b(?! me$)"
    r".*\b(?:my|i|i'm|im|i've)\b"
    r"|remember (?:my|what|when|where|who|which|how)\b.*\b(?:my|i|i'm)\b"
    r"|(?:have|did|had) i (?:already |ever )?(?:tell|told|say|said|mention|mentioned)\b"
    r"|(?:what|who|when|where|which|how\b[\w ]*?|why)\b[\w' ]*? (?:did|have) i (?:tell|told|say|said|mention)"
    r"|(?:can|could) you (?:remind me|tell me again)\b.*\b(?:my|i|i'm)\b"
    # what's my ..., where do I live, how old am I
    r"|(?:what|who|when|where|which)(?:'s| is| are| was| were|s)(?: the)?(?: [\w]+ of)? my\b"
    r"|(?:what|which)\b(?: [\w']+){1,3} (?:do|did|am|was|have) i\b"
    r"|(?:what|when|which|where)\b(?: [\w']+){0,2} (?:do|does|did) my\b"
    r"|what do i do for (?:a living|work)\b"
    r"|(?:what|who|when|where|which|how (?:long|often|many|much))\b(?: [\w']+){0,2} "
    r"(?:do|did|am|was|have|had|are|were) (?:i|we)\b"
    r"|how old (?:am i|is my|are my)\b|how many\b.*\b(?:i|my)\b"
    r"|(?:what|which) (?:[\w']+ )?(?:is|are) my\b"
    r")",
    re.IGNORECASE,
)
# Somebody or something by name or with "the", which counts only where a note has that very word.
_WHO_IS = re.compile(
    r"^(?:do you (?:still )?(?:remember|know) )?"
    r"(?:who(?:'s| is| was| are|s) (?!you|i|me|it|that|this|he|she|they|there)[\w'-]+"
    r"(?: again)?|who [\w'-]+ is|(?:when|where)(?:'s| is| was|s) (?:the )[\w'-]+(?: [\w'-]+)?(?: again)?)$",
    re.IGNORECASE,
)
# Wh- questions with my or I that nobody's notes answer: asked for advice, the future or a reason.
_NOT_TOLD = re.compile(
    r"\b(?:should|shall|would|will|could i|can i|must|supposed to|wrong|the point|"
    r"point in|purpose|problem|fault|matter)\b"
    r"|^what do i do(?! for\b)|^how (?:do|can|did) i\b|\bwhat (?:do|did) you think\b|\b(?:being|feeling) \w+\W*$"
    r"|\bknow (?:how to|what i mean|what it|how (?:it|that)|that)\b"
    r"|\bmy \w+ (?!doing|called|studying|working|living)\w+ing\W*$"
    r"|\b(?:i even|have to|do i go|do i need|do i have to|i know|i mean)\b"
    r"|\bdo i (?:keep|say|tell|ask|reply|answer|turn|begin|find|handle|deal|even)\b"
    r"|\bwhy (?:do|does|did|is|am|are)\b"
    r"|\b(?:i get|i stop|i start|i fix|i feel|i deserve)\b",
    re.IGNORECASE,
)
# Words of a question that say how it is asked, not what it is about.
_ASKING = frozenset(
    map(
        stem,
        [
            "remember",
            "know",
            "recall",
            "tell",
            "told",
            "say",
            "said",
            "mention",
            "again",
            "what",
            "when",
            "where",
            "who",
            "which",
            "how",
            "long",
            "many",
            "much",
            "old",
            "name",
            "called",
            "kind",
            "time",
            "please",
            "still",
            "even",
            "right",
            "yesterday",
            "today",
            "last",
            "week",
            "remind",
            "off",
        ],
    )
)
# What people call one thing; the first stands for all.
_SAME = {
    stem(word): words.split()[0]
    for words in (
        "mum mom mother mummy mama", "dad father daddy papa", "kid kids child children", "gran grandma grandmother nan",
        "grandad grandpa grandfather", "husband hubby", "job work works working profession living employed",
        "exam exams test", "live lives living lived flat house home", "birthday born", "scared afraid fear terrified",
        "study studying studies student major", "wedding married marrying marry", "car drive driving", "food dish meal",
        "interview interviews", "move moving moved", "operation surgery operated", "holiday vacation trip",
        "therapist counsellor psychologist", "team fan", "from city grew hometown",
    )
    for word in words.split()
}  # fmt: skip
_OWNED = re.compile(r"\bmy ((?:(?:old|new|best|first|favou?rite) )?[\w-]+(?:'s [\w-]+)?)", re.IGNORECASE)
_FAINT = frozenset(
    map(stem, ["like", "love", "have", "want", "go", "do", "make", "get", "new", "good", "start", "live"])
)
_MEMBERS = {
    kind: frozenset(_SAME.get(stem(word), stem(word)) for word in words.split())
    for kind, words in {
        "pet": "dog cat hamster tortoise rabbit horse parrot bird fish puppy kitten snake budgie guinea",
        "sibl": "brother sister twin",
        "parent": "mum dad",
        "partner": "husband wife girlfriend boyfriend fiance fiancee",
        "job": "teach teacher nurse driver cook chef baker cleaner lawyer paramedic plumber electrician accountant "
        "carer waiter waitress farmer engineer programmer builder cashier doctor run manage",
        "sport": "play football tennis badminton swim run climb box basketball volleyball rugby hockey yoga judo",
        "instrument": "guitar piano trumpet violin drums cello flute bass",
        "music": "jazz rock band song songs rap opera metal records album classical",
        "from": "born childhood raised",
        "birthday": "born",
    }.items()
}
_OF_SELF = re.compile(
    r"\b(?i:my name is|my name's|call me|i'm called|i am called|i'm|i am)\s+(?P<rest>[A-Z]\w*)"
)
_NAME = re.compile(r"\b(?:called|named|name is|name's|names are)\b|(?<!^)\b[A-Z][a-zé]{2,}")
_DAY = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|next|today|tonight|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|at \d|morning|\d{4})\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:live|lives|from|moved|moving|in|at|to|near|grew up|born)\b", re.IGNORECASE)
_LIVING = re.compile(
    r"\b(?:i|i'm|im)(?: am)?(?: (?:a|an|the|drive|work|teach|run|clean|cook|bake|sell|build))\b",
    re.IGNORECASE,
)
_AGE = re.compile(r"\b\d{1,3}\b|\byears old\b|\bturn(?:ed|ing)?\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|days|weeks|months|years)\b", re.IGNORECASE
)
# What a question asks for, and what a note that answers it looks like.
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), answer)
    for asked, answer in (
        (r"\bname\b|\bcalled\b|^who\b", _NAME),
        (r"\bwhen\b|\bdate\b|\bwhat (?:day|time)\b|\bbirthday\b", _DAY),
        (r"\bwhere\b|\bwhich (?:city|town|country)\b", _PLACE),
        (r"\bhow old\b|\bage\b", _AGE),
        (r"\bhow (?:many|long)\b", _AMOUNT),
        (r"\bfor (?:a living|work)\b|\bmy job\b|\bmy old job\b", _LIVING),
    )
)
_MY_NAME = re.compile(r"\bmy (?:own )?name\b|\bwhat am i called\b", re.IGNORECASE)
_MY_AGE = re.compile(r"\bhow old (?:i am|i'm|am i)\b|\bmy age\b", re.IGNORECASE)
_MY_LIFE = re.compile(r"\b(?:do i|i|am i|did i)\b.*\b(?:live|work|from|living)\b", re.IGNORECASE)
_OF_ME = re.compile(r"^(?:i|i'm|im|i've)\b", re.IGNORECASE)


def asks_for_a_fact(message: str) -> bool:
    """Whether a message asks for something that the person told: who, what, when or where, and my or I."""
    asked = _plain(message)
    if len(asked.split()) > 20 or _NOT_TOLD.search(asked):
        return False
    return bool(_ASKS_FACT.match(asked) or _WHO_IS.match(asked))


def recalled(
    message: str, persona: Persona, similarity: Similarity | None = None
) -> tuple[PersonaSentence, ...]:
    """The notes that answer a question about what the person told, the best first; none where it is no such question.

    Args:
        similarity: For notes that share no word with the question: vectors of texts, all asked for at once.
    """
    asked, notes = _plain(message), persona.sentences
    if not notes or not asks_for_a_fact(message):
        return ()
    scores = _in_common(asked, [note.text for note in notes])
    best = max(scores)
    if similarity is not None and not (_WHO_IS.match(asked) and best <= 0):
        cosines = _cosines(asked, notes, similarity)
        if best <= 0:
            return _nearest(notes, cosines)
        scores = [score and score + cosine for score, cosine in zip(scores, cosines.tolist(), strict=True)]
        best = max(scores)
    if best <= 0:
        return ()
    order = sorted(range(len(notes)), key=lambda row: -scores[row])
    return tuple(notes[row] for row in order if scores[row] >= CLOSE * best)[:MOST]


def told(notes: Sequence[PersonaSentence]) -> str:
    """The best note in one sentence to the person: "You told me that your dog is called Rex." """
    return f"You told me that {second_person(notes[0].text)}." if notes else ""


def _plain(message: str) -> str:
    return " ".join(message.replace("’", "'").strip(' \t\n?!.,…"“”').split())


def _topic(text: str) -> frozenset[str]:
    """What a text is about: its content words in one form, and one word for all that mean the same."""
    stems = (stem(word) for word in plain_words(text) if word not in function_words() or stem(word) in _SAME)
    return frozenset(_SAME.get(word, word) for word in stems if word not in _ASKING)


def _kinds_of(topic: frozenset[str]) -> frozenset[str]:
    """The kinds of things that a note's words are of, so that "pet" finds the tortoise."""
    return topic | {kind for kind, members in _MEMBERS.items() if topic & members}


def _in_common(asked: str, notes: Sequence[str]) -> list[float]:
    """How well each note answers by its words: rare ones count more, and so does the form of an answer."""
    about, topics = _topic(asked), [_kinds_of(_topic(note)) for note in notes]
    owned = _topic(" ".join(_OWNED.findall(asked)))
    self_name, self_age = bool(_MY_NAME.search(asked)), bool(_MY_AGE.search(asked))
    scores = []
    for note, topic in zip(notes, topics, strict=True):
        common = about & topic
        score = sum(
            math.log(1 + len(notes) / sum(word in other for other in topics))
            * (2.0 if word in owned else 0.3 if word in _FAINT else 1.0)
            for word in common
        )
        if self_name and _OF_SELF.search(note):
            score += 2 if "name" in note.lower() or "call" in note.lower() else 1
        if self_age and _OF_ME.match(note) and _AGE.search(note):
            score += 2
        if re.search(r"\bfor (?:a living|work)\b", asked) and _OF_ME.match(note) and _LIVING.search(note):
            score += 2
        if score > 0:
            score += sum(0.5 for kind, answer in _KINDS if kind.search(asked) and answer.search(note))
            score += 0.5 if _MY_LIFE.search(asked) and _OF_ME.match(note) else 0
        scores.append(score)
    return scores


def _cosines(asked: str, notes: Sequence[PersonaSentence], similarity: Similarity) -> npt.NDArray[np.float32]:
    vectors = np.asarray(similarity([asked, *(note.text for note in notes)]), np.float32)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    found: npt.NDArray[np.float32] = vectors[1:] @ vectors[0]
    return found


def _nearest(
    notes: Sequence[PersonaSentence], cosines: npt.NDArray[np.float32]
) -> tuple[PersonaSentence, ...]:
    order = np.argsort(-cosines, kind="stable")
    best = cosines[order[0]]
    second = cosines[order[1]] if len(notes) > 1 else -1.0
    return (notes[order[0]],) if best >= NEAR and best - second >= LEAD else ()


# --- "i have my exam" as "you have your exam"

_PAIRS = (
    ("am i", "are you"), ("was i", "were you"), ("i am", "you are"), ("i'm", "you're"), ("im", "you're"),
    ("i was", "you were"), ("i wasn't", "you weren't"), ("i wasnt", "you weren't"),
    ("i've", "you've"), ("ive", "you've"),
    ("i'd", "you'd"), ("i'll", "you'll"), ("we're", "you're"), ("we've", "you've"), ("we'll", "you'll"),
    ("we'd", "you'd"),
    ("myself", "yourself"), ("ourselves", "yourselves"), ("mine", "yours"), ("ours", "yours"), ("my", "your"),
    ("our", "your"), ("me", "you"), ("us", "you"), ("we", "you"), ("i", "you"),
)  # fmt: skip
_TO_YOU = dict(_PAIRS)
_SWAP = re.compile(
    r"(?<![\w'-])(?:"
    + "|".join(re.escape(old) for old, _ in sorted(_PAIRS, key=lambda p: -len(p[0])))
    + r")(?![\w'])",
    re.IGNORECASE,
)
_COUNTRY = re.compile(r"\bUS\b")  # "in the US" is no "us"


def second_person(note: str) -> str:
    """A note in the first person as it is said to the person, without its full stop: I to you, my to your, am to are.

    Words are exchanged one for one; "you" and all else stay as they are, and so do names.
    """
    text = " ".join(note.replace("’", "'").split()).rstrip(" .!…")
    kept = {match.start() for match in _COUNTRY.finditer(text)}
    changed = _SWAP.sub(lambda match: match[0] if match.start() in kept else _TO_YOU[match[0].lower()], text)
    first, _, rest = changed.partition(" ")
    if first == text.partition(" ")[0] and first.lower() in function_words() and first != "US":
        return f"{first.lower()} {rest}".rstrip()
    return changed

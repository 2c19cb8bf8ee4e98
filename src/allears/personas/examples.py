"""Who said what about themselves: gold turns of Multi-Session Chat, and weak pairs from PERSONA-CHAT.

*MSC* says for each turn what it tells. Its dialogues are parted by a stable hash of their number, so that all
sessions of the same two people are on one side: `train`, `tuning` (thresholds and the choice of a checkpoint)
and `held-out` (the numbers that are reported).

*PERSONA-CHAT* gives profiles beside dialogues, so which turn tells which sentence is guessed: a turn that says
most of a sentence's content words tells it. Only its train split is read, because MSC's first sessions are
PERSONA-CHAT's valid ones.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from allears.conversation import Conversation, Role
from allears.corpora.msc import MultiSessionChat
from allears.corpora.persona_chat import PersonaChat, PersonaChatProfiles
from allears.corpora.talks import Talks
from allears.errors import AllearsError
from allears.personas.support import FRAMING_WORDS, bases, content_words, said_bases
from allears.personas.wording import sentences

PARTS = ("train", "tuning", "held-out")
HELD_OUT, TUNING = 20, 10  # percent of MSC's dialogues
_FIRST_PERSON = re.compile(r"\b(i|i'm|im|me|my|mine|myself|we|our|us|we're)\b", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"([0-9]+)$")
_MOST_SENTENCES = 3  # of a profile that one turn is taken to tell


@dataclass(frozen=True, slots=True)
class Telling:
    """An utterance and the persona text it tells ("" for nothing). `gold` when a person wrote that down for it."""

    utterance: str
    persona: str
    gold: bool = True


def part_of(dialogue: str) -> str:
    """Which part an MSC dialogue belongs to, by the number its id ends in."""
    number = _LAST_NUMBER.search(dialogue)
    key = number[1] if number else dialogue
    place = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % 100
    return "held-out" if place < HELD_OUT else "tuning" if place < HELD_OUT + TUNING else "train"


def msc_tellings(part: str, root: Path, *, split: str = "valid") -> list[Telling]:
    """The seeker's turns of one part of MSC, in the order of the file."""
    if part not in PARTS:
        raise AllearsError(f"unknown part {part!r} of MSC; the parts are {', '.join(PARTS)}")
    return [
        telling
        for conversation in MultiSessionChat().read(split, root)
        if part_of(conversation.id) == part
        for telling in _gold(conversation)
    ]


def _gold(conversation: Conversation) -> Iterator[Telling]:
    by_turn = conversation.labels["persona_by_turn"]
    for turn, told in zip(conversation.turns, by_turn, strict=True):
        if turn.speaker is Role.SEEKER:
            yield Telling(turn.text, " ".join(text.strip() for text in told))


def talk_tellings(split: str, root: Path) -> list[Telling]:
    """The seeker's turns of the talks with the lasting facts that each tells, as their authors noted them."""
    found: list[Telling] = []
    for conversation in Talks().read(split, root):
        persona = conversation.personas.get(Role.SEEKER.value)
        noted = persona.sentences if persona else ()
        for number, turn in enumerate(conversation.turns, 1):
            if turn.speaker is Role.SEEKER:
                told = [each.text for each in noted if each.source == f"turn {number}"]
                found.append(Telling(turn.text, " ".join(told)))
    return found


def persona_chat_tellings(root: Path, *, coverage: float = 0.6, seed: int = 1) -> list[Telling]:
    """Weak pairs, weak negatives, and profile sentences that tell themselves; each text pair once."""
    found: dict[tuple[str, str], Telling] = {}
    for spoken, profile in _persona_chat_sides(root, random.Random(seed)):
        known = [(sentence, _content_bases(sentence)) for sentence in map(clean, profile)]
        for utterance in spoken:
            telling = align(utterance, known, coverage)
            if telling is not None:
                found.setdefault((telling.utterance, telling.persona), telling)
        for sentence, _ in known:
            found.setdefault((sentence, sentence), Telling(sentence, sentence, gold=False))
    return list(found.values())


def spoken_in_persona_chat(root: Path, seed: int = 1) -> Iterator[str]:
    """Everything that was said in PERSONA-CHAT's train split."""
    for spoken, _ in _persona_chat_sides(root, random.Random(seed)):
        yield from spoken


def align(
    utterance: str, profile: Sequence[tuple[str, list[frozenset[str]]]], coverage: float
) -> Telling | None:
    """The profile sentences of which an utterance says at least `coverage` of the content words.

    An utterance that tells none of them may still tell something else, so it counts as telling nothing only
    when it does nothing but ask about others; otherwise it is left out (None). (On MSC's train part, 96% of
    such turns tell nothing, but only 82% of all turns without a first person.)
    """
    said = said_bases(utterance)
    shares = []
    for place, (sentence, content) in enumerate(profile):
        share = sum(not said.isdisjoint(each) for each in content) / len(content) if content else 0.0
        if share >= coverage:
            shares.append((-share, place, sentence))
    if shares:
        chosen = sorted(sorted(shares)[:_MOST_SENTENCES], key=lambda item: item[1])
        return Telling(utterance, " ".join(sentence for _, _, sentence in chosen), gold=False)
    asks = all(sentence.endswith("?") for sentence in sentences(utterance))
    return Telling(utterance, "", gold=False) if asks and not _FIRST_PERSON.search(utterance) else None


def _content_bases(sentence: str) -> list[frozenset[str]]:
    """Of the words that make the difference: everybody likes, works and lives."""
    return [bases(word) for word in content_words(sentence) if word not in FRAMING_WORDS]


def _persona_chat_sides(root: Path, chance: random.Random) -> Iterator[tuple[Iterable[str], tuple[str, ...]]]:
    """What each side of each dialogue said, utterance by utterance, and its profile."""
    for conversation in PersonaChat().read("train", root):
        for role in Role:
            spoken = [clean(turn.text) for turn in conversation.turns if turn.speaker is role]
            if role.value in conversation.personas:
                yield spoken, conversation.personas[role.value].texts
    for conversation in PersonaChatProfiles().read("train", root):
        for turn in conversation.turns:
            yield _regrouped(clean(turn.text), chance), conversation.personas[turn.speaker.value].texts


def _regrouped(text: str, chance: random.Random) -> Iterator[str]:
    """Words run together, as utterances of one to three sentences: where one ended is not known any more."""
    rest = sentences(text)
    while rest:
        count = chance.choice((1, 1, 2, 3))
        yield " ".join(rest[:count])
        rest = rest[count:]


_SPACE_BEFORE_MARK = re.compile(r"\s+([.,!?;:])")
_LOST_APOSTROPHE = re.compile(
    r"\b(i) (m|ve|ll|d)\b|\b(\w+n) (t)\b|\b(it|that|he|she|what) (s)\b", re.IGNORECASE
)


def clean(text: str) -> str:
    """PERSONA-CHAT's tokenised text, written as people write: "i m tall ." is "i'm tall."."""
    joined = _SPACE_BEFORE_MARK.sub(r"\1", " ".join(text.split()))
    return _LOST_APOSTROPHE.sub(lambda match: "'".join(filter(None, match.groups())), joined)

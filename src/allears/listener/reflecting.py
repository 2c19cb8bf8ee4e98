"""Says back what was heard, in the person's own words turned round, and no more than they said.

A pool's reply may be right for somebody else and wrong for this person; a reply made of their own words never speaks of
what nobody mentioned. Its frames are written (`reflections.toml`), so all of it is known beforehand but the statement
itself, which the review sees like any other reply. It is proposed at most every second time: an echo is no listener.

Beside it come a few plain words that fit whatever was said in that mood. They are ranked where nothing that was found
or written fits well, and no higher.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import PLAIN, REFLECTION, Likely, Proposal
from allears.listener.stages import positive
from allears.listener.turning import PLAN, STATEMENT, VERDICT, Heard, heard
from allears.listener.wording import denies

PAUSE = 1  # replies between two that say something back
FELT = 0.4  # from which a group of emotions is taken for what the person feels
CHEER = 0.65  # and joy only from here: to cheer at bad news is the worst mistake of all
GROUPS = {
    "sad": ("sad", "devastated", "disappointed"),
    "afraid": ("afraid", "terrified", "anxious", "apprehensive"),
    "angry": ("angry", "furious", "annoyed", "disgusted", "jealous"),
    "guilty": ("guilty", "ashamed", "embarrassed"),
    "lonely": ("lonely",),
    "happy": (
        "joyful",
        "excited",
        "proud",
        "impressed",
    ),  # not who waits or is ready: one may be so for chemotherapy
    "warm": ("grateful", "content", "caring", "trusting", "faithful", "nostalgic", "sentimental"),
}
SORE = ("sad", "afraid", "angry", "guilty", "lonely")
HARD, GOOD, OPEN = "hard", "good", "open"  # where no group is felt so clearly that we could say so
AGAINST = dict.fromkeys((*SORE, HARD), 1) | dict.fromkeys(
    ("happy", "warm", GOOD), -1
)  # what speaks against it
DOUBTED = 0.1  # how far the other side of the middle, that it is not said
LIGHT = "light"  # within a good mood, or read as good news, and the words do not show it
HEARS = ("Reflection of feelings", "Affirmation and Reassurance")  # plain words after which one may ask
SIDE = 0.35  # share of the other side up to which what was said is clearly hard, or clearly good
# Joy is only joined in where the words show it: "my landlord is selling the house" may be read as good news.
_JOY = re.compile(
    r"!|:\)|\b(?:happy|happi|glad|great|good|nice|wonderful|lovely|loved?|amaz|awesome|brilliant|fantastic|beautiful|delight|"
    r"finally|best|better|won\b|win|pass(?:ed|es)?\b|proud|excit|thrill|yay|fun\b|laugh|smil|relie[fv]|engaged|pregnant|"
    r"thank|grateful|lucky|succe|managed|first|favou?rite|enjoy|perfect|surpris|celebrat|can't wait)",
    re.IGNORECASE,
)
_GLAD = re.compile(
    r"\b(?:(?:was|is|it's|so|really|feels?|felt|had a) (?:\w+ )?"
    r"(?:great|wonderful|amazing|awesome|fantastic|lovely|perfect|fun)"
    r"|(?:i'm|i am|so|really) (?:happy|proud|glad|excited|thankful|grateful)|loved it|can't wait)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """Words around a statement. `group` is one of `GROUPS`, `HARD`, `GOOD`, `OPEN`, `LIGHT`, or a kind of statement."""

    group: str
    strategy: str
    texts: tuple[str, ...]


def reflections(turns: Sequence[Turn], felt: str, stage: str, seed: int = 0) -> list[Proposal]:
    """The last message said back in different ways, of different strategies; and plain words for what is `felt`."""
    if stage in ("opening", "ending") or not turns:
        return []
    if felt in ("happy", GOOD) and not _JOY.search(turns[-1].text):
        felt = LIGHT
    elif felt in SORE and _GLAD.search(turns[-1].text) and not denies([turns[-1].text]):
        felt = LIGHT  # "I went on holiday alone and it was great" may be read as lonely
    told = heard(turns[-1].text)
    best = max(reversed(told), key=lambda each: (each.kind == STATEMENT, len(each.clause)), default=None)
    group = best.kind if best and best.kind != STATEMENT else felt
    drawn = random.Random(f"{seed} {len(turns)} {turns[-1].text}")
    found = []
    if best and not _lately_done(turns):
        found = [
            Proposal(
                _around(drawn.choice(each.texts), best), REFLECTION, each.strategy, GROUPS.get(group, ())
            )
            for each in shipped_frames()
            if each.group == group
        ]
    return found + _plain_words(turns, PLAN if group == PLAN else felt, GROUPS.get(felt, ()), drawn)


def felt_for(message: Likely, mood: Likely, good: float) -> str:
    """What may be put into words (`felt_in`), unless it is doubtful whether it is good or bad news. `good`: how likely
    what was told is something good."""
    felt = felt_in(message, mood)
    return OPEN if felt in AGAINST and AGAINST[felt] * (good - 0.5) > DOUBTED else felt


def _plain_words(
    turns: Sequence[Turn], group: str, emotions: tuple[str, ...], drawn: random.Random
) -> list[Proposal]:
    """Words that fit whatever was said in that mood: first some that show it was heard, with a question after them or,
    where we asked just before, without."""
    said = " ".join(turn.text for turn in turns if turn.speaker is Role.SUPPORTER)
    words: dict[str, str] = {}  # by strategy, in the order of the file
    for each in shipped_frames(PLAIN):
        new = [text for text in each.texts if text not in said]
        if each.group == group and new:
            words[each.strategy] = drawn.choice(new)
    asked = len(turns) > 1 and turns[-2].text.rstrip().endswith("?")
    question = words.get("Question", "")
    found = [Proposal(text, PLAIN, strategy, emotions) for strategy, text in words.items()]
    for strategy in HEARS:
        if question and strategy in words and not asked:
            found.insert(0, Proposal(f"{words[strategy]} {question}", PLAIN, "Question", emotions))
    return found


def group_of(emotions: Likely) -> str:
    """Which group of emotions was read, if one was read clearly."""
    chances = dict(emotions)
    felt = {name: sum(chances.get(each, 0.0) for each in members) for name, members in GROUPS.items()}
    best = max(felt, key=felt.__getitem__)
    enough = CHEER if best == "happy" else FELT
    return best if felt[best] >= enough * (sum(chances.values()) or 1.0) else OPEN


def felt_in(message: Likely, mood: Likely) -> str:
    """What may be put into words: what the message and the mood so far agree on."""
    group = group_of(message)
    if group == group_of(mood) and group != OPEN:
        return group
    good = positive(message), positive(mood)
    if max(good) <= SIDE:
        return HARD
    if min(good) >= 1 - SIDE:
        return GOOD
    return LIGHT if min(good) >= 0.5 else OPEN


def _around(frame: str, told: Heard) -> str:
    clause = told.clause
    return frame.replace("{s}", clause).replace("{S}", clause[0].upper() + clause[1:])


def _lately_done(turns: Sequence[Turn]) -> bool:
    """Whether one of our last replies said back what the person had said before it."""
    ours = [place for place, turn in enumerate(turns) if place and turn.speaker is Role.SUPPORTER]
    return any(
        told.clause.lower() in turns[place].text.lower()
        for place in ours[-PAUSE:]
        for told in heard(turns[place - 1].text)
    )


@cache
def shipped_frames(kind: str = "frame") -> tuple[Frame, ...]:
    """What `reflections.toml` holds: frames around a statement, or plain words."""
    stored = tomllib.loads(Path(__file__).with_name("reflections.toml").read_text(encoding="utf-8"))
    frames = tuple(Frame(each["group"], each["strategy"], tuple(each["texts"])) for each in stored[kind])
    for frame in frames:
        if (
            frame.group not in (*GROUPS, HARD, GOOD, OPEN, LIGHT, VERDICT, PLAN)
            or frame.strategy not in STRATEGIES
        ):
            raise AllearsError(
                f"reflections.toml: no such group or strategy: {frame.group}, {frame.strategy}"
            )
    return frames

"""What is known of a conversation beside its words: how far it is, who spoke last, what the supporter has done so far.

Which support strategy comes next depends on these more than on the words, and an encoder reads them badly from a text.
So they are counted here, in plain Python for the trained reader and the light runtime alike, and a head that asks for
them gets them as one short vector.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.labels import STRATEGIES
from allears.text.reading import Reading

Facts = npt.NDArray[np.float32]

LATEST = 4  # strategies that are told one by one
FADING = 0.8  # of how much a strategy counts when another supporter's turn has come since

# What a turn does, as far as a few words give it away.
_SIGNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(thank\w*|thx|appreciate\w*|grateful)\b",
        r"\b(bye|goodbye|take care|have a (good|great|nice|wonderful|lovely)|good night|good luck|talk (to you )?later"
        r"|see you|welcome)\b",
        r"\b(hi|hello|hey|good (morning|evening|afternoon)|how are you)\b",
        r"\b(help\w*|advice|suggest\w*|should i|what (can|do|should) i|how (can|do|should) i|ideas?)\b",
        r"^\W*(yes|yeah|yep|yea|sure|ok|okay|right|exactly|true|that'?s true|i agree|definitely|absolutely)\b",
        r"^\W*(no|nope|not really|nah)\b",
        r"\b(good idea|great idea|will try|i'?ll try|try that|makes sense|feel(ing)? better|helpful|helped)\b",
        r"\byou('?ve|'?re)?\b",
        r"\b(sad|depress\w*|anxi\w*|angry|afraid|scared|worr\w*|hurt|lonely|stress\w*|upset|feel\w*|cry\w*|overwhelm\w*"
        r"|frustrat\w*)\b",
        r"\bi\b",
    )
)
_COLUMN = {name: column for column, name in enumerate(STRATEGIES)}


def conversation_facts(turns: Sequence[Turn]) -> Facts:
    """[FACTS] of a conversation so far; every number is between 0 and about 5."""
    supporter = [turn for turn in turns if turn.speaker is Role.SUPPORTER]
    seeker = [turn for turn in turns if turn.speaker is not Role.SUPPORTER]
    done = [_COLUMN[turn.strategy] for turn in supporter if turn.strategy in _COLUMN]
    own = bool(turns) and turns[-1].speaker is Role.SUPPORTER
    facts = [
        *_length(len(turns), len(supporter), len(seeker)),
        *_whose_turn(turns, own),
        *_done(done, own),
        *_said(seeker[-1].text if seeker else ""),
        *_said(supporter[-1].text if supporter else ""),
        *_manner(supporter, seeker),
    ]
    return np.array(facts, np.float32)


def facts_of(readings: Sequence[Reading]) -> Facts:
    """[N, FACTS] of what each reading tells of its conversation, the turns whose words are not read included."""
    found = np.zeros((len(readings), FACTS), np.float32)
    for row, reading in enumerate(readings):
        found[row] = conversation_facts((*(reading.earlier or ()), *reading.turns))
    return found


def no_facts(count: int) -> Facts:
    """[count, FACTS] where no conversation is known."""
    return np.tile(conversation_facts(()), (count, 1))


def _length(turns: int, supporter: int, seeker: int) -> list[float]:
    early = [float(turns <= number) for number in (2, 4, 6)]
    late = [float(turns >= number) for number in (20, 28)]
    # a conversation can go on for ever, a fact cannot grow for ever
    return [
        min(turns, 50) / 10,
        _log(min(turns, 50)),
        min(supporter, 25) / 10,
        min(seeker, 25) / 10,
        *early,
        *late,
    ]


def _whose_turn(turns: Sequence[Turn], own: bool) -> list[float]:
    """Whether the supporter has just spoken and speaks on, and how many turns in a row the last speaker had."""
    row = 0
    for turn in reversed(turns):
        if (turn.speaker is Role.SUPPORTER) != own:
            break
        row += 1
    row = min(row, 5)
    return [float(own), float(row if own else 0), float(0 if own else row)]


def _done(done: Sequence[int], own: bool) -> list[float]:
    """How often each strategy was used, which were the latest, and how long ago each was."""
    counts = np.bincount(np.array(done, np.int64), minlength=len(STRATEGIES)).astype(np.float64)
    facts = [*np.log1p(np.minimum(counts, 20)), *(counts / (len(done) + 2))]
    for back in range(1, LATEST + 1):  # one of the strategies, or none so far back
        facts += _one(done[-back] if back <= len(done) else len(STRATEGIES), len(STRATEGIES) + 1)
    steps = {column: back for back, column in reversed(list(enumerate(reversed(done))))}
    facts += [FADING ** steps[column] if column in steps else 0.0 for column in range(len(STRATEGIES))]
    facts += _one(done[-1] if done and own else -1, len(STRATEGIES))
    return [float(fact) for fact in facts]


def _said(text: str) -> list[float]:
    """A turn's length, its question and exclamation marks, and the signs in it."""
    marks = ["?" in text, text.rstrip().endswith("?"), "!" in text]
    return [_words(text), *map(float, marks), *(float(bool(sign.search(text))) for sign in _SIGNS)]


def _manner(supporter: Sequence[Turn], seeker: Sequence[Turn]) -> list[float]:
    """The seeker's turn before the last, and how much both write and the supporter asks on the whole."""
    before = seeker[-2].text if len(seeker) > 1 else ""
    asking = sum("?" in turn.text for turn in supporter) / max(1, len(supporter))
    return [_words(before), float("?" in before), _mean_words(supporter), asking, _mean_words(seeker)]


def _one(column: int, size: int) -> list[float]:
    return [float(place == column) for place in range(size)]


def _log(number: float) -> float:
    return float(np.log1p(number))


def _words(text: str) -> float:
    return _log(min(len(text.split()), 200))


def _mean_words(turns: Sequence[Turn]) -> float:
    return _log(min(sum(len(turn.text.split()) for turn in turns) / max(1, len(turns)), 200))


FACTS = len(conversation_facts(()))

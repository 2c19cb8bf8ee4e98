"""Where a conversation stands, and which support strategy fits: exploration, comforting, action (ESConv).

The reader's distribution over the eight strategies says what a supporter would do next; the stage says what there is
time for. Their product, renewed, is what the listener goes by: nobody is advised before they were heard.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from allears.conversation import Role, Turn
from allears.labels import POLARITY_OF, STRATEGIES
from allears.listener.contract import Likely

_GREETING = re.compile(
    r"^\W*(hi+|hello+|hey+|hiya|good (morning|afternoon|evening|day)|greetings|yo|sup|what'?s up|howdy"
    r"|how are you( doing)?( today)?|are you there|anyone there|is anybody there)"
    r"((\W|\s)+(there|allears|again|everyone|friend|you|how are you( doing)?( today)?|is (anybody|anyone) (here|there)"
    r"|are you there))*\W*$",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"\b(bye|goodbye|good night|goodnight|see you|talk (to you )?(later|soon)|gotta go|have to go"
    r"|i('m| am) (off|leaving|going to (bed|sleep))|that('s| is) all|ttyl|take care)\b",
    re.IGNORECASE,
)
_THANKS = re.compile(r"^\W*(ok(ay)?\W+|well\W+|alright\W+)?(thanks|thank you|thx|cheers)\b", re.IGNORECASE)

# How much each strategy is wanted at each stage: questions first, suggestions late.
_FITS: Mapping[str, Mapping[str, float]] = {
    "opening": {"Question": 1.5, "Others": 2.0, "Providing Suggestions": 0.05, "Information": 0.05},
    "exploration": {
        "Question": 1.6, "Restatement or Paraphrasing": 1.1, "Reflection of feelings": 1.3, "Self-disclosure": 0.05,
        "Affirmation and Reassurance": 0.8, "Providing Suggestions": 0.1, "Information": 0.1, "Others": 0.3,
    },
    "comforting": {
        "Question": 0.9, "Restatement or Paraphrasing": 0.8, "Reflection of feelings": 1.5, "Self-disclosure": 0.05,
        "Affirmation and Reassurance": 1.6, "Providing Suggestions": 0.4, "Information": 0.4, "Others": 0.3,
    },
    "action": {
        "Question": 0.8, "Restatement or Paraphrasing": 0.6, "Reflection of feelings": 0.9, "Self-disclosure": 0.05,
        "Affirmation and Reassurance": 1.3, "Providing Suggestions": 1.7, "Information": 1.0, "Others": 0.4,
    },
    "ending": {"Others": 2.5, "Affirmation and Reassurance": 1.5, "Question": 0.3, "Providing Suggestions": 0.3},
}  # fmt: skip
_NEW = 2  # turns of the person's before comforting begins
_HEARD = 4  # and before there is talk of what to do


def stage(turns: Sequence[Turn], emotions: Likely) -> str:
    """The stage of the answer to the last turn."""
    spoken = [turn.text for turn in turns if turn.speaker is Role.SEEKER]
    last = spoken[-1] if spoken else ""
    if _GREETING.match(last):
        return "opening"
    if len(spoken) > 1 and len(last.split()) <= 14 and (_FAREWELL.search(last) or _THANKS.match(last)):
        return "ending"
    told = sum(len(text.split()) > 3 for text in spoken)  # "ok" and "I don't know" tell nothing
    if told <= _NEW:
        return "exploration"
    if told <= _HEARD or positive(emotions) > 0.5:  # joy wants company, not a plan
        return "comforting"
    return "action"


def positive(emotions: Likely) -> float:
    """How likely what was said is something good."""
    total = sum(chance for _, chance in emotions)
    return (
        sum(chance for name, chance in emotions if POLARITY_OF[name] == "positive") / total if total else 0.5
    )


def strategies(read: Likely, at: str, turns: Sequence[Turn]) -> Likely:
    """The eight strategies with what they are worth now, likeliest first."""
    fits = _FITS[at]
    known = dict(read) or {name: 1 / len(STRATEGIES) for name in STRATEGIES}
    asked = _questions_in_a_row(turns)
    worth = {}
    for name in STRATEGIES:
        chance = 0.5 * known.get(name, 0.0) + 0.5 / len(STRATEGIES)  # a reader of 35% is one voice among two
        if name == "Question":
            chance *= 0.45**asked  # being asked three times in a row feels like being examined
        worth[name] = chance * fits.get(name, 0.5)
    total = sum(worth.values())
    return tuple(sorted(((name, value / total) for name, value in worth.items()), key=lambda item: -item[1]))


def _questions_in_a_row(turns: Sequence[Turn]) -> int:
    count = 0
    for turn in reversed(turns):
        if turn.speaker is Role.SUPPORTER:
            if not turn.text.rstrip().endswith("?"):
                break
            count += 1
    return count

"""What a voice wrote that does not fit the moment, as far as words alone can tell.

The reasons come from reading: one reply of each voice to a hundred conversations (`benchmarks/read_voices.py`). Most of
what was wrong missed the point: a greeting in answer to a grief, joy for the sad, a question that was answered already,
people and things that nobody had spoken of. What is refused here is not ranked at all; so a rule must be all but sure,
and what is merely likely is left to the ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from allears.conversation import Role
from allears.listener.contract import Request
from allears.listener.stages import positive
from allears.listener.wording import overlap, presumed, stems, telling, words

GOOD, HARD = 0.75, 0.35  # how likely something good was told: from here no comfort, and up to here no cheers
OPENING = "opening"
_HELP = stems(["police doctor friend"])  # whom one may be asked about, mentioned or not
ADVICE = frozenset({"Providing Suggestions", "Information"})  # these may bring up what nobody spoke of

_NUMBERS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_NUMBER = re.compile(rf"\b(\d+|{'|'.join(_NUMBERS.split())})\b", re.IGNORECASE)
_AGE = re.compile(
    rf"(\b(am|is|are|turned|turns)|'s|'m) ((\d+|{'|'.join(_NUMBERS.split())})\b)|year-old|years old",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\W*(hi+|hello|hey|hiya|welcome|greetings|good (morning|afternoon|evening))\b( there| again)?[\s,.!?]*",
    re.IGNORECASE,
)
_HOW_ARE_YOU = re.compile(
    r"\W*(how are you( doing| feeling)?( (today|now))?|how (can|may) i help( you)?( today)?|what is your name"
    r"|what brings you here( today)?)\W*$",
    re.IGNORECASE,
)
_BRIGHT = re.compile(
    r"\b(great|awesome|amazing|wonderful|fantastic|exciting|congratulations|congrats|glad|sweet|lovely|fun|proud"
    r"|happy (for|to|that)|good (idea|thing|news|plan|attitude|time|to hear)"
    r"|(very|really|so|is|pretty) (good|nice|true)|that's (good|nice)|nice (of|thing|surprise))\b",
    re.IGNORECASE,
)
_DARK = re.compile(
    r"\b(sorry|terrible|horrible|awful|sad|tough|hard|difficult|frustrating|scary|stress\w*|oh no|upset|painful|bad"
    r"|annoying|your pain|not good|no good|lonely|anxious|wrong|the problem)\b",
    re.IGNORECASE,
)
_OWN_LIFE = re.compile(
    rf"\bi(?: am|'m) (?:a|an|in|at|from|also|{'|'.join(_NUMBERS.split())}|\d+)\b"
    r"|\bi(?: have|'ve) (?:a|an|my|to|been|had|seen|always|never|one|two|three|four|five|\d+)\b"
    r"|\bi (?:work|live|study|try|tried|used|went|got|did|cook|love|hate|own|play|drive|like to)\b"
    r"|\bi (?:do not|don't|did not|didn't|never) (?:have|own|like|watch|eat|drink|drive|go|live|work|play|got|had)\b"
    r"|\b(?:happen(?:s|ed)?|did (?:this|that|it)) to me\b"
    r"|\bi\b[^.!?]*\b(?:myself|as well|too)\s*(?:[.!?]|$)",
    re.IGNORECASE,
)
_COUPLE = re.compile(
    r"\b(wife|husband|partner|girlfriend|boyfriend|fianc\w+|married|marriage|engaged|divorc\w+|separated|dating|ex)\b",
    re.IGNORECASE,
)
_AS_A_COUPLE = re.compile(r"\b(been|get|got|stay) (together|married)\b", re.IGNORECASE)
_NO_LONGER = re.compile(
    r"\b(died|dead|divorc\w+|separated|ex|broke up|left me|funeral|lost)\b", re.IGNORECASE
)
_HOLLOW_QUESTIONS = """
what is it|what do you mean( by that)?|what are you doing|how did (it|that) go|how (was|is) it
how did you do( that| it)?|when did you start|are you doing anything else|why do you think that|is it normal
is that right|what (is|was) the reason|what is your problem|what is the matter|what'?s the problem
do you have any other issues
"""
_HOLLOW = re.compile(
    rf"(oh|so|wow|\W)*\b({'|'.join(_HOLLOW_QUESTIONS.strip().splitlines())})\?$", re.IGNORECASE
)
_PAPERS = re.compile(r"\bhow old are you\b|\bwhat(?:'s| is)[^?]*\bname\b", re.IGNORECASE)
_SORRY = re.compile(r"\b(sorry to hear|so sorry|am sorry|'m sorry|so sad|terrible|not good)\b", re.IGNORECASE)
_GLAD = re.compile(
    r"\b((am|'m|so) (glad|happy|proud)|great|awesome|exciting|congratulations|good (news|time))\b",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(terrible|horrible|awful|bad|rude) (thing to do|behaviou?r)\b"
    r"|\byou(?: are|'re) (?:not|no) (?:a |an |the |any |very |being )*(?:good|best|nice|kind|great)\b",
    re.IGNORECASE,
)
_SURE_OF_OTHERS = re.compile(
    r"\bi(?: am|'m) (?:so |very )?sure (?:that )?(?:he|she|it|they)(?: will|'ll| is going to| are going to)\b",
    re.IGNORECASE,
)
_TO_COME = re.compile(
    r"\b(tomorrow|tonight|next (week|month|year)|in \w+ (days|weeks|months)|will|going to|starts?|is coming)\b",
    re.IGNORECASE,
)
_HOW_IT_WAS = re.compile(r"\bhow (did (it|that|they) go|was (it|that))\b", re.IGNORECASE)
_HOW_OLD, _HOW_MANY = (re.compile(rf"\bhow {word}\b", re.IGNORECASE) for word in ("old", "many"))
_HOW_LONG = re.compile(
    r"\bhow (?:long|far along)\b|\bsince when\b|\bwhen did (it|this|that|you|they|he|she)\b", re.IGNORECASE
)
_SO_LONG = re.compile(
    rf"\b(\d+|a|few|couple of|several|{'|'.join(_NUMBERS.split())}) (second|minute|hour|day|week|month|year|decade)s?\b"
    r"|\b(since|ago|yesterday|last (night|week|month|year|summer|winter|spring|autumn|fall)|all my life|always)\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"(?:oh|hi|so|wow|no|\W)*\b(?:what|who)(?: is|'s| was| are| were) (?:the|your|a) ([a-z]+)\?$",
    re.IGNORECASE,
)


def greets(text: str) -> bool:
    """Whether a reply begins as if nothing had been said yet."""
    return bool(_GREETING.match(text) or _HOW_ARE_YOU.match(text))


def without_greeting(text: str, request: Request) -> str:
    """A reply without its "Hi!", where the talk has begun; nothing, if the greeting was all of it."""
    if request.stage == OPENING or _GREETING.match(request.turns[-1].text):
        return text
    rest = _GREETING.sub("", text, count=1) if _GREETING.match(text) else text
    if _HOW_ARE_YOU.match(rest):
        return ""
    return rest[:1].upper() + rest[1:]


def unfit(text: str, strategy: str, request: Request) -> str:
    """Why a reply does not fit what was said, or nothing."""
    known = [turn.text for turn in request.turns] + [sentence.text for sentence in request.persona.sentences]
    return (
        _amiss(text, request)
        or _presumes(text, strategy, [*known, *request.listener])
        or _asks_in_vain(text, known, request.turns[-1].text)
    )


def _amiss(text: str, request: Request) -> str:
    for pattern, reason in (
        (_OWN_LIFE, "speaks of a life of its own"),
        (_BLAMES, "may be heard as blame"),
        (_SURE_OF_OTHERS, "promises how it will end"),
    ):
        if pattern.search(text):
            return reason
    if against_the_mood(text, request):
        return "against the mood"
    if _SORRY.search(text) and _GLAD.search(text):
        return "sorry and glad at once"
    ours = (turn.text for turn in request.turns if turn.speaker is Role.SUPPORTER)
    if any(overlap(text, said) == 1 and len(words(said)) >= len(words(text)) for said in ours):
        return "said before"
    return "says over what is known" if _parrots(text, request) else ""


def _presumes(text: str, strategy: str, known: Sequence[str]) -> str:
    new = presumed(text, stems(known)) - _HELP
    if new and strategy not in ADVICE:
        return f"nobody spoke of {', '.join(sorted(new))}"
    told = " ".join(known)
    a_couple = _COUPLE.search(told) and not _NO_LONGER.search(told)
    return "nobody spoke of a couple" if _AS_A_COUPLE.search(text) and not a_couple else ""


def _asks_in_vain(text: str, known: Sequence[str], last: str) -> str:
    if _HOLLOW.match(text):
        return "asks nothing"
    if _PAPERS.search(text):
        return "asks for a name or an age, as for a form"
    if asks_for_what_was_told(text, known):
        return "asks for what was told"
    if _HOW_IT_WAS.search(text) and _TO_COME.search(last):
        return "asks how it was before it came"
    what = _WHAT_IS.match(text)
    return "asks what a thing is" if what and stems([what[1]]) <= stems(known) else ""


def asks_for_what_was_told(text: str, told: Sequence[str]) -> bool:
    """How old, how many or how long, where that was said."""
    return any(
        asked.search(text) and any(map(answer.search, told))
        for asked, answer in ((_HOW_OLD, _AGE), (_HOW_MANY, _NUMBER), (_HOW_LONG, _SO_LONG))
    )


def against_the_mood(text: str, request: Request) -> bool:
    """Joy for the sad, or comfort for the glad."""
    if not request.emotions:
        return False
    good = positive(request.emotions)
    bright, dark = bool(_BRIGHT.search(text)), bool(_DARK.search(text))
    return (good > GOOD and dark and not bright) or (good < HARD and bright)


def _parrots(text: str, request: Request) -> bool:
    """A sentence of a word or two that only names something of the persona ("Vegetarian."), or a number."""
    persona = stems(sentence.text for sentence in request.persona.sentences)
    said = stems(turn.text for turn in request.turns if turn.speaker is Role.SEEKER)
    for sentence in re.split(r"[.!?…]+", text):
        short = words(sentence)
        if 0 < len(short) <= 2 and (
            telling(sentence) & (persona - said) or _NUMBER.fullmatch(sentence.strip())
        ):
            return True
    return False

"""Short answers that matter once danger is in the room: "I'm safe now", "yes", "no", "not really".

Pure functions of a message in plain words (`normalise.py`). All of them lean to the careful side: what is not
clearly "safe" is not safe.
"""

from __future__ import annotations

import re

_SAFE = re.compile(
    r" (?:"
    r"i am(?: now| feeling| totally| completely| really| actually| perfectly| quite)? (?:safe|out of danger|not in danger)"
    r"|i am (?:ok|okay|fine|all right|alright|better|calmer|calm|good)(?: \S+){0,2} (?:now|again|today|tonight)"
    r"|(?:feel|feeling|felt) (?:\S+ )?(?:safe|safer|better|calmer|okay|ok)"
    r"|i will (?:stay safe|be safe|be okay|be ok|be fine|keep safe|not do it|not do anything|not hurt \S+)"
    r"|i (?:would|am) not (?:going to )?(?:hurt|kill|harm|do) (?:myself|anyone|anything|it|anybody|him|her|them)"
    r"|i do not want to (?:die|hurt myself|kill myself|do it|hurt anyone)(?: any more)?"
    r"|i am not (?:suicidal|going to do it|going to do anything|thinking of (?:it|that|suicide))"
    r"|i (?:called|rang|phoned|texted|talked to|spoke to|spoke with|talked with|have called|have rung) \S+"
    r"|i have (?:called|rung|spoken|talked|told)(?: to)? \S+"
    r"|(?:my )?\S+ is (?:here )?with me(?: now)?"
    r"|i am (?:with|at|staying with) (?:my|a) \S+(?: s)?(?: (?:house|place|flat|home))?(?: now)?"
    r"|i am safe"
    r"|safe now"
    r"|(?:the )?danger is over"
    r"|it has passed"
    r"|(?:police|ambulance|paramedics) (?:is|are|came|have come)"
    r"|(?:threw|flushed|gave|handed|locked) (?:\S+ ){0,3}(?:away|pills|gun|knife|blades?)"
    r")(?= )"
)
_NOT_SAFE = re.compile(
    r" (?:not (?:feel )?(?:\S+ )?(?:safe|ok|okay|fine|better|well|sure)|never safe|unsafe|until|unless|if only|wish i (?:was|were|felt)"
    r"|used to|safe to say|better off|lied|lying|pretend\w*|just saying|almost|nearly|be safe (?:when|if|once)|nobody|no one)(?= )"
)
_YES = re.compile(
    r"^ (?:(?:oh|um|well|i guess|honestly|ok|okay) )*(?:yes|yeah|yep|yea|ya|yup|ye|sure|i am|i do|i have|i did|i think so|i guess|i guess so|kind of"
    r"|sort of|a bit|a little|sometimes|maybe|often|always|every day|all the time|right|exactly|true|absolutely|definitely|still safe|safe|y|correct|of course|mhm|uh huh)(?= )"
)
_NO = re.compile(
    r"^ (?:(?:oh|um|well|honestly|ok|okay|actually) )*(?:no|nope|nah|not|never|i am not|i do not|not really|not at all|n|i lied|i was lying|i do not know|not sure|not yet)(?= )"
)


def says_safe(plain: str, *, is_question: bool = False) -> bool:
    """The person states that they are safe, without taking it back in the same breath."""
    if is_question or _NOT_SAFE.search(plain):
        return False
    return _SAFE.search(plain) is not None


def says_yes(plain: str) -> bool:
    """A yes, also a hesitant one: after "are you thinking of ending your life?" maybe is yes."""
    return _YES.search(plain) is not None and not says_no(plain)


def says_no(plain: str) -> bool:
    return _NO.search(plain) is not None

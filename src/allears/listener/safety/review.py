"""The review of our own words, before they are said. Small and strict: what it refuses is simply not said."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RULES: tuple[tuple[str, str], ...] = (
    (
        "encourages harm",
        r"\b(you should|go ahead and|just|why don't you|you could always) (die|kill|hurt|cut|harm|hit|punch|starve|jump)\b"
        r"|\bkill (yourself|him|her|them)\b|\bend (it all|your life) (is|would be|sounds)\b|\bthey deserve to (die|suffer|be hurt)\b"
        r"|\b(better off|happier) (without you|dead)\b|\bnobody (would|will) (care|miss you)\b|\bget (your )?revenge\b"
        r"|\byou('re| are) (worthless|pathetic|stupid|useless|a burden)\b",
    ),
    (
        "diagnoses",
        r"\b(you|you've|you have|this is|that is|it's|sounds like|looks like) (\w+ ){0,3}"
        r"(clinical(ly)? depress(ion|ed)|bipolar|schizophreni\w+|ptsd|adhd|autis\w+|ocd|borderline personality|an? (eating|anxiety|mood|panic|personality) disorder)\b",
    ),
    (
        "advises on medication",
        r"\b(take|try|start|stop|double|skip|increase|reduce|halve)( taking)?( your| some| the| a| an| more| less)? "
        r"(medication|meds|medicine|pills?|tablets?|dose|dosage|antidepressants?|ssris?|xanax|prozac|valium|lithium|ibuprofen|melatonin)\b",
    ),
    (
        "claims to be human or to have lived",
        r"\b(i am|i'm|i was|i've been|i have been) (just |really |only |also )?(a |an )?(human|real person|person like you|man|woman|nurse|doctor|therapist|psychologist|"
        r"mother|father|mum|mom|dad|parent|married|divorced|teenager)\b"
        r"|\b(when i was (a |young|your age|little|at school|in)|my (own )?(wife|husband|mother|father|mum|mom|dad|son|daughter|children|kids|childhood|boss|dog|cat|ex))\b"
        r"|\bi('ve| have) (been there|been through (that|this|it|the same)|felt (that|the same)|lost (my|a)|had the same)\b"
        r"|\bwe('ve| have) all been there\b|\bi know exactly how you feel\b|\b(same|it) happened to me\b",
    ),
    (
        "promises what nobody can",
        r"\b(i promise|i guarantee)\b|\beverything (will|is going to) be (fine|ok|okay|alright|all right)\b"
        r"|\b(it|things|he|she|they) will (all )?(definitely|certainly|surely)\b|\byour secret is safe\b|\bi (won't|will never) tell anyone\b"
        r"|\byou('ll| will) (definitely|certainly|surely) (get|be|pass|recover)\b",
    ),
)  # fmt: skip
_COMPILED = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _RULES)


@dataclass(frozen=True, slots=True)
class Review:
    """Whether a reply may be said, and if not, why."""

    ok: bool
    reasons: tuple[str, ...] = ()


def review(text: str) -> Review:
    """The judgement of one reply."""
    plain = text.replace("\u2019", "'")
    reasons = tuple(name for name, pattern in _COMPILED if pattern.search(plain))
    return Review(not reasons, reasons)

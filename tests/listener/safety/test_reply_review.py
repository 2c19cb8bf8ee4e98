"""The review of our own words."""

from __future__ import annotations

import pytest

from allears.safety.review import review

REFUSED = {
    "encourages harm": [
        "You should just hurt yourself, it might help.",
        "Hit him back next time.",
        "They deserve to suffer for what they did.",
        "Maybe everyone would be better off without you.",
        "You're pathetic.",
        "Get your revenge, you'll feel great.",
        "Have a few drinks and forget about it.",
        "Nobody would miss you.",
    ],
    "diagnoses": [
        "It sounds like you have depression.",
        "You have bipolar disorder.",
        "That looks like PTSD to me.",
        "This is clearly an anxiety disorder.",
        "You are suffering from burnout.",
    ],
    "advises on medicine": [
        "You should take some melatonin tonight.",
        "Try 5 mg of valium.",
        "Stop taking your medication if it makes you tired.",
        "You should take sertraline.",
        "You could double your dose for a while.",
        "Ask your doctor for antidepressants.",
    ],
    "claims to be human": [
        "I'm a real person, don't worry.",
        "I'm a therapist, so I know.",
        "As a mother, I know how hard this is.",
        "I'm not a robot.",
        "My husband does the same thing.",
    ],
    "claims to have lived through it": [
        "I've been there.",
        "I know exactly how you feel.",
        "When I lost my dad I couldn't sleep either.",
        "I went through the same last year.",
        "We've all been there.",
        "Me too!",
        "I’ve been through this as well.",
    ],
    "promises secrecy": ["Your secret is safe with me.", "I won't tell anyone.", "This stays between us."],
    "promises how it will end": [
        "I promise it will get better.",
        "Everything will be fine.",
        "He'll come back to you.",
        "You'll definitely pass.",
        "It's going to be okay.",
        "Time heals all wounds.",
    ],
}
GOOD = [
    "I'm a program, so I haven't been there myself.",
    "I can't say I've been through this, but I'd like to understand.",
    "That sounds exhausting. What happened then?",
    "Would it help to talk to your doctor about the tablets?",
    "A doctor can tell whether it is depression.",
    "Your mother sounds important to you.",
    "What would your husband say?",
    "Do you take your medication in the morning?",
    "I can't promise that it will be fine, but I'm listening.",
    "You're not a burden.",
    "It's hard when nobody seems to notice.",
    "Being human means stumbling now and then.",
    "How did you feel when you lost your job?",
    "I don't know what it's like to have a body, and I won't pretend to.",
    "Nobody deserves to be hit.",
    "Losing a dog leaves a quiet house.",
    "Learning to swim as an adult takes courage.",
    "",
]


@pytest.mark.parametrize(
    ("reason", "line"), [(reason, line) for reason, lines in REFUSED.items() for line in lines]
)
def test_what_we_must_not_say_is_refused_with_the_reason(reason: str, line: str):
    judged = review(line)
    assert not judged.ok
    assert reason in {found.partition(":")[0] for found in judged.reasons}


@pytest.mark.parametrize("line", GOOD)
def test_what_we_may_say_passes(line: str):
    assert review(line).reasons == ()


def test_a_reason_quotes_the_words():
    assert review("Well, I've been there.").reasons == ("claims to have lived through it: i have been there",)

"""ED, Figure 3: how often each emotion occurs, and what is said most under it."""

from __future__ import annotations

from allears.conversation import Role
from allears.experiments.contract import Ask, Experiment, Key, Picture, Plan, measure, take
from allears.experiments.setting import Setting
from allears.labels import ED_EMOTIONS

SHARE = "share, %"
WORDS = {Role.SEEKER: "speaker's words", Role.SUPPORTER: "listener's words"}


def plan(setting: Setting) -> Plan:
    asked = measure("statistics", corpus="ed", split="train", whole=True)
    asks: dict[Key, Ask] = {}
    for emotion in ED_EMOTIONS:
        asks[emotion, SHARE] = take(f"share {emotion}", asked)
        for role, column in WORDS.items():
            asks[emotion, column] = take(f"{role.value} words {emotion}", asked)
    return Plan(ED_EMOTIONS, (SHARE, *WORDS.values()), asks)


EXPERIMENT = Experiment(
    name="ed-figure-3",
    paper="ED",
    place="Figure 3",
    question="How are the 32 emotions distributed in the train split, and which content words go with each?",
    plan=plan,
    differs=(
        "Our list of stop words is not the authors'; the figure's numbers are not in our copy of the paper.",
    ),
    decimals=2,
    picture=Picture("bars", "", "share of conversations (%)", (SHARE,)),
)

"""PAL, Figure 3: replies nearer to the persona, and the seeker's marks."""

from __future__ import annotations

from functools import partial

from allears.experiments.contract import Ask, Claim, Experiment, Key, Picture, Plan, measure, take
from allears.experiments.setting import Setting

ASPECTS = {"empathy": "empathy", "relevance": "relevance", "decrease of intensity": "intensity_drop"}
COLUMNS = ("slope", "R² of the means", "R² of the conversations")
_NAMES = ("slope", "r2_means", "r2")


def slopes(setting: Setting, *, encoder: str) -> Plan:
    asked = measure("persona-empathy", corpus="pesconv", split="valid", encoder=encoder)
    asks: dict[Key, Ask] = {
        (row, column): take(f"{aspect}_{name}", asked)
        for row, aspect in ASPECTS.items()
        for column, name in zip(COLUMNS, _NAMES, strict=True)
    }
    return Plan(tuple(ASPECTS), COLUMNS, asks)


EXPERIMENT = Experiment(
    name="pal-figure-3",
    paper="PAL",
    place="Figure 3",
    question="Do seekers give better marks where replies are nearer to what is known of them (sentence encoder)?",
    plan=partial(slopes, encoder="default"),
    differs=(
        "The valid split of PESConv; the paper has all of it. Our bundle's encoder, not SimCSE.",
        "The coefficients printed in the paper's figure are not in our copy. A line through a few means flatters: R² "
        "over the single conversations stands beside it.",
    ),
    claims=(
        Claim("Replies nearer to the persona: more empathy", (("empathy", "slope"), 0.0)),
        Claim("Replies nearer to the persona: more relevance", (("relevance", "slope"), 0.0)),
        Claim("Replies nearer to the persona: a larger decrease", (("decrease of intensity", "slope"), 0.0)),
    ),
    decimals=4,
    picture=Picture("bars", "", "slope of similarity over marks", ("slope",)),
)

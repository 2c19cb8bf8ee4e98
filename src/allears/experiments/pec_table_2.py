"""PEC, Table 2: sentiment and empathy as people see them, against a control group. From a study's data."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Plan, by_rows, measure, take
from allears.experiments.setting import Setting

GROUPS = {"happy": "happy", "offmychest": "offmychest", "control group": "control"}
# what the options of `allears study new empathy-annotation` are worth
VALUES = (
    ("sentiment", (("negative", -1.0), ("neutral", 0.0), ("positive", 1.0))),
    ("empathy", (("no", 0.0), ("yes", 1.0))),
)
_PUBLISHED = {
    "Sentiment": (0.85, -0.39, 0.03, 0.725),
    "Empathy": (0.73, 0.61, 0.25, 0.617),
}
KAPPA = "Fleiss' kappa"


def plan(setting: Setting) -> Plan:
    asked = measure("study", values=VALUES)
    asks: dict[Key, Ask] = {}
    for row in _PUBLISHED:
        for column, group in GROUPS.items():
            asks[row, column] = take(f"{row.lower()} {group}", asked)
        asks[row, KAPPA] = take(f"{row.lower()} kappa", asked)
    return Plan(tuple(_PUBLISHED), (*GROUPS, KAPPA), asks)


EXPERIMENT = Experiment(
    name="pec-table-2",
    paper="PEC",
    place="Table 2",
    question="Are the two halves of the corpus of contrasting sentiment, and more empathetic than casual talk?",
    plan=plan,
    published=by_rows((*GROUPS, KAPPA), _PUBLISHED),
    source="PEC, Table 2 and its caption",
    differs=(
        "No people judged: a language model did, three times with a fresh context, and its judgements of the 300 "
        "conversations were entered as a study's answers (`benchmarks/pec_table_2`). Hence the high kappa. To ask "
        "people: `allears study new empathy-annotation`, then --study with what `study export` wrote.",
        "Joyful subreddits of our sample in the place of r/happy, those of people in distress in the place of "
        "r/offmychest; most conversations begin in the middle of a thread, where the post itself is missing.",
    ),
    claims=(
        *(
            Claim(
                f"Conversations of {half} are more empathetic than casual talk",
                (("Empathy", half), ("Empathy", "control group")),
            )
            for half in ("happy", "offmychest")
        ),
    ),
    decimals=2,
)

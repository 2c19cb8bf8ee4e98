"""MIME, section 5.4: how often MIME and MoEL name the emotion."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Plan, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MOEL, MULTITASK, of_each_seed

RUNS = {"MoEL": MOEL, "MIME": MIME, "Multi-TR": MULTITASK}
MEASURES = {"top-1": "emotion_accuracy", "top-2": "emotion_top_2", "top-5": "emotion_top_5"}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, run in RUNS.items():
        asked = of_each_seed(
            setting,
            run,
            lambda each: measure("generation", each, corpus="ed", split="valid", decoding="beam-5"),
        )
        for column, name in MEASURES.items():
            asks[row, column] = take(name, *asked)
    return Plan(tuple(RUNS), tuple(MEASURES), asks)


EXPERIMENT = Experiment(
    name="mime-emotions",
    paper="MIME",
    place="section 5.4, emotion accuracies",
    question="How often is the conversation's emotion among the likeliest one, two or five?",
    plan=plan,
    published={
        ("MoEL", "top-1"): 38,
        ("MoEL", "top-2"): 63,
        ("MoEL", "top-5"): 74,
        ("MIME", "top-1"): 34,
        ("MIME", "top-2"): 58,
        ("MIME", "top-5"): 77,
    },
    source="MIME, section 5.4 (test split)",
    differs=("As in MIME's Table 2.",),
    claims=(
        Claim(
            "MoEL names the emotion more often than MIME (top-1)",
            (("MoEL", "top-1"), ("MIME", "top-1")),
            "The two are equal here, and both above what the papers report.",
        ),
    ),
)

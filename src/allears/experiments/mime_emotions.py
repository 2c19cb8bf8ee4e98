"""MIME, section 5.4: how often MIME and MoEL name the emotion."""

from __future__ import annotations

from allears.experiments.contract import Claim, Experiment, Plan, by_rows, plan_of_measures
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MOEL, MULTITASK, generation_measured

RUNS = {"MoEL": MOEL, "MIME": MIME, "Multi-TR": MULTITASK}
MEASURES = {"top-1": "emotion_accuracy", "top-2": "emotion_top_2", "top-5": "emotion_top_5"}


def plan(setting: Setting) -> Plan:
    asked = {row: generation_measured(setting, run) for row, run in RUNS.items()}
    return plan_of_measures(asked, MEASURES)


EXPERIMENT = Experiment(
    name="mime-emotions",
    paper="MIME",
    place="section 5.4, emotion accuracies",
    question="How often is the conversation's emotion among the likeliest one, two or five?",
    plan=plan,
    published=by_rows(MEASURES, {"MoEL": (38, 63, 74), "MIME": (34, 58, 77)}),
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

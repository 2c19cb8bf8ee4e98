"""MIME, Tables 6 and 7: replies side by side, of MIME, MoEL, and MIME without stochasticity."""

from __future__ import annotations

from allears.experiments.contract import Ask, Experiment, Key, Plan, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MIME_NOT_STOCHASTIC, MOEL

CONTEXTS = (
    "my sister moved to another country last week and the flat is so quiet now",
    "i finally passed my driving test after four attempts !",
    "somebody broke the window of my car and took my grandfather's radio",
    "we are going to the sea next week and i cannot wait",
    "my colleague got the job that i have been working for all year",
)
COLUMNS = {"MIME": MIME, "MoEL": MOEL, "MIME without stochasticity": MIME_NOT_STOCHASTIC}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {
        (text, column): take(text, measure("replies", run, contexts=CONTEXTS, decoding="beam-5"))
        for column, run in COLUMNS.items()
        for text in CONTEXTS
    }
    return Plan(CONTEXTS, tuple(COLUMNS), asks)


EXPERIMENT = Experiment(
    name="mime-table-6",
    paper="MIME",
    place="Tables 6 and 7",
    question="What do MIME, MoEL and MIME without stochasticity write for the same contexts?",
    plan=plan,
    differs=("The contexts are our own: no sentence of a corpus is printed here.",),
)

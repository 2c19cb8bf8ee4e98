"""PEC, Table 9: one context, several personas, and what CoBERT chooses."""

from __future__ import annotations

from allears.experiments.contract import Experiment, Plan, measure, take
from allears.experiments.setting import Setting

CONTEXT = "I ran my first ten kilometres this morning, and I did not walk once!"
PERSONAS = ("I am a nurse.", "I have two small children.", "I am afraid of my exams.")
COLUMN = "chosen reply"


def plan(setting: Setting) -> Plan:
    asked = measure("choice", "default", context=CONTEXT, personas=PERSONAS)
    return Plan(PERSONAS, (COLUMN,), {(persona, COLUMN): take(persona, asked) for persona in PERSONAS})


EXPERIMENT = Experiment(
    name="pec-table-9",
    paper="PEC",
    place="Table 9",
    question=f'Does another persona choose another reply to the same context? ("{CONTEXT}")',
    plan=plan,
    differs=(
        "Context and personas are our own, and the replies are those of our own pool: no sentence of a corpus is "
        "printed here. The paper chooses among 1,000 responses of PEC.",
        "The model is the CoBERT of the bundle that ships with allears, in both settings.",
    ),
)

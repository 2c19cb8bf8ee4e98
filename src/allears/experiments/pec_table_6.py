"""PEC, Table 6: CoBERT trained on one half of the corpus and tested on the other."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Plan, by_rows, take
from allears.experiments.pec_table_5 import DOMAINS
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import persona_run, selection_measured

_PUBLISHED = {"happy": (36.2, 41.2, None), "offmychest": (28.8, 47.0, 38.4), "PEC": (37.0, 47.5, 45.1)}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, trained_on in DOMAINS.items():
        for column, tested_on in DOMAINS.items():
            asked = selection_measured(setting, persona_run("cobert", trained_on), tested_on)
            asks[row, column] = take("recall_at_1", *asked)
    return Plan(tuple(DOMAINS), tuple(DOMAINS), asks)


EXPERIMENT = Experiment(
    name="pec-table-6",
    paper="PEC",
    place="Table 6",
    question="Does CoBERT trained on one kind of conversation (row) answer the other kind (column)? R@1.",
    plan=plan,
    published=by_rows(DOMAINS, _PUBLISHED),
    source="PEC, Table 6; one cell cannot be read in our copy of the paper and is left out",
    differs=("As in Table 5: our Reddit conversations, the valid split, gte-small.",),
    claims=(
        Claim(
            "Training in the domain beats transfer to it (happy)",
            (("happy", "happy"), ("offmychest", "happy")),
        ),
        Claim(
            "Training in the domain beats transfer to it (offmychest)",
            (("offmychest", "offmychest"), ("happy", "offmychest")),
        ),
    ),
)

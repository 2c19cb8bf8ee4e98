"""PEC, Table 8: CoBERT with more and more persona sentences."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Over, Plan, by_rows, measure, take
from allears.experiments.made_corpora import REDDIT
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import persona_run, selection_measured

COUNTS = (0, 1, 2, 5, 10, 20)
OWN = 10  # as many as it was trained with: the measurement of Table 5
COLUMNS = ("R@1", "InfTime", "RAM")
_PUBLISHED = {
    "0": (40.4, 1.00, 1.00),
    "1": (42.0, 1.34, 1.05),
    "2": (42.8, 1.38, 1.06),
    "5": (45.1, 1.55, 1.19),
    "10": (46.2, 1.90, 1.51),
    "20": (47.1, 2.96, 2.29),
}


def plan(setting: Setting) -> Plan:
    run = persona_run("cobert")
    cost = measure("persona-cost", run, corpus=REDDIT, counts=COUNTS)
    asks: dict[Key, Ask] = {}
    for count in COUNTS:
        asked = selection_measured(
            setting, run, REDDIT, **({} if count == OWN else {"persona_sentences": count})
        )
        asks[str(count), "R@1"] = take("recall_at_1", *asked)
        asks[str(count), "InfTime"] = Over(take(f"seconds_{count}", cost), take("seconds_0", cost))
        asks[str(count), "RAM"] = Over(take(f"memory_{count}", cost), take("memory_0", cost))
    return Plan(tuple(map(str, COUNTS)), COLUMNS, asks)


EXPERIMENT = Experiment(
    name="pec-table-8",
    paper="PEC",
    place="Table 8",
    question="How much do more persona sentences help, and what do they cost?",
    plan=plan,
    published=by_rows(COLUMNS, _PUBLISHED),
    source="PEC, Table 8 (valid split)",
    differs=(
        "One CoBERT, trained with up to ten sentences, reads fewer or more of them.",
        "Few people in the sample have more than ten persona sentences, so 20 is nearly the same as 10.",
        "Other runs shared the GPU while times were measured: they are rough.",
    ),
    claims=(
        Claim(
            "More persona sentences help",
            (("10", "R@1"), ("2", "R@1"), ("0", "R@1")),
            "Five or more sentences are a point above none, one and two, among which there is no difference.",
        ),
    ),
    decimals_of={"InfTime": 2, "RAM": 2},
)

"""PAL, the study of α: what leaning on the persona does, one value for all strategies against the table."""

from __future__ import annotations

from allears.experiments.contract import Claim, Experiment, Picture, Plan, by_rows, plan_of_measures
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import PAL, support_measured

ROWS: dict[str, float | None] = {
    "0": 0.0, "0.375": 0.375, "0.75": 0.75, "1.5": 1.5, "by strategy (Table 2)": None
}  # fmt: skip
MEASURES = {
    "B-2": "bleu_2", "D-1": "distinct_1", "D-2": "distinct_2", "E-2": "ead_2", "R-L": "rouge_l", "Cos-Sim": "cos_sim"
}  # fmt: skip
_PUBLISHED = {
    "0": (9.28, 4.72, 25.56, 33.05, 18.27, 0.229),
    "by strategy (Table 2)": (8.75, 5.00, 30.27, 41.82, 18.06, 0.244),
}


def plan(setting: Setting) -> Plan:
    asked = {row: support_measured(setting, PAL, alpha) for row, alpha in ROWS.items()}
    return plan_of_measures(asked, MEASURES)


EXPERIMENT = Experiment(
    name="pal-alpha",
    paper="PAL",
    place="α (Table 2, Appendix D)",
    question="How do diversity, overlap with gold and similarity to the persona change with α?",
    plan=plan,
    published=by_rows(MEASURES, _PUBLISHED),
    source="PAL, Table 3 (test split); other values of α are not printed there",
    differs=("As in PAL's Table 3.",),
    claims=(
        Claim("A larger α raises diversity (D-2)", (("0.75", "D-2"), ("0", "D-2"))),
        Claim("A larger α raises similarity to the persona", (("0.75", "Cos-Sim"), ("0", "Cos-Sim"))),
    ),
    decimals=2,
    decimals_of={"Cos-Sim": 3},
    picture=Picture("lines", "α", "%", ("D-2", "E-2", "B-2")),
)

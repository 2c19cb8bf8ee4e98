"""ED, Tables 3 and 9: what training takes."""

from __future__ import annotations

from allears.experiments.contract import Ask, Empty, Experiment, Key, Plan, Run, by_rows, measure, take
from allears.experiments.ed_table_1 import ROWS as TABLE_1
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import (
    ED_BI_ENCODER,
    ED_COBERT,
    MULTITASK,
    PRETRAIN,
    TRANSFORMER,
    TRANSFORMER_LARGE,
)

COLUMNS = PARAMETERS, MINUTES, EMPATHY = "parameters, millions", "training, minutes", "empathy, 1 to 5"
_PRETRAINED, _LARGE = TABLE_1["Pretrained, R"][2], TABLE_1["Pretrained-Large, R"][2]
ROWS: dict[str, Run | None] = {
    "Retrieval: Pretrained": PRETRAIN,
    "Retrieval: Fine-Tuned": ED_BI_ENCODER,
    "Retrieval: Fine-Tuned CoBERT (ours)": ED_COBERT,
    "Generative: Pretrained": _PRETRAINED,
    "Generative: Fine-Tuned": TRANSFORMER,
    "Generative: Multitask": MULTITASK,
    "Generative: Pretrained-Large": _LARGE,
    "Generative: Fine-Tuned-Large": TRANSFORMER_LARGE,
}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, run in ROWS.items():
        if run is None:
            continue
        asked = measure("size", run)
        asks[row, PARAMETERS] = take("parameters", asked, times=1e-6)
        asks[row, MINUTES] = take("minutes", asked)
        asks[row, EMPATHY] = Empty("people rate empathy: `allears study new likert` asks them")
    return Plan(tuple(ROWS), COLUMNS, asks)


_DAY, _HOUR = 24 * 60, 60
_PUBLISHED = {
    "Retrieval: Pretrained": (217.0, 13.5 * _DAY, 3.4),
    "Retrieval: Fine-Tuned": (217.0, _HOUR, 3.7),
    "Generative: Pretrained": (85.1, 2 * _DAY, 2.3),
    "Generative: Fine-Tuned": (85.1, _HOUR, 3.3),
    "Generative: Multitask": (None, _HOUR, 3.2),
    "Generative: Pretrained-Large": (86.2, 2.5 * _DAY, 2.8),
    "Generative: Fine-Tuned-Large": (86.2, _HOUR / 2, 3.6),
}
EXPERIMENT = Experiment(
    name="ed-table-3",
    paper="ED",
    place="Tables 3 and 9",
    question="How large are the models, and how long do they train?",
    plan=plan,
    published=by_rows(COLUMNS, _PUBLISHED),
    source="ED, Tables 3 and 9; of retrieval the rows with BERT. Minutes there are on 8 (retrieval) or 32 GPUs",
    differs=(
        "Minutes here are of the one machine that the page names, from reading the corpus to the best model; up to "
        "ten other runs shared its GPU.",
        "Fine-tuning's minutes come on top of what it starts from.",
    ),
)

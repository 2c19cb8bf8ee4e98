"""ED, Table 6: does fine-tuning on EmpatheticDialogues help or hurt elsewhere?"""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Plan, by_rows, measure, take
from allears.experiments.made_corpora import REDDIT_ALL
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import ED_BI_ENCODER, PRETRAIN, selection_measured

RUNS = {"Pretrained": PRETRAIN, "Fine-Tuned": ED_BI_ENCODER}
CORPORA = {"DD": "dailydialog", "R": REDDIT_ALL}
COLUMNS = ("DD P@1,100", "R P@1,100", "DD BLEU", "R BLEU")
_PUBLISHED = {"Pretrained": (39.04, 58.95, 6.65, 1.43), "Fine-Tuned": (44.58, 56.25, 7.14, 1.64)}
_RETRIEVED = 1000  # contexts that are answered from the whole pool


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, run in RUNS.items():
        for shown, corpus in CORPORA.items():
            asked = selection_measured(setting, run, corpus)
            asks[row, f"{shown} P@1,100"] = take("recall_at_1", *asked)
            limit = None if setting.small else _RETRIEVED
            asks[row, f"{shown} BLEU"] = take(
                "avg_bleu",
                measure("retrieval", run, corpus=corpus, split="valid", pools=(corpus,), limit=limit),
            )
    return Plan(tuple(RUNS), COLUMNS, asks)


EXPERIMENT = Experiment(
    name="ed-table-6",
    paper="ED",
    place="Table 6",
    question="What does fine-tuning on EmpatheticDialogues do to DailyDialog and Reddit?",
    plan=plan,
    published=by_rows(COLUMNS, _PUBLISHED),
    source="ED, Table 6 (its Transformer; our retrieval model is a BERT)",
    differs=(
        "Our pretraining has already seen DailyDialog, Reddit and EmpatheticDialogues; the paper's only Reddit.",
        f"BLEU is of {_RETRIEVED} contexts, answered from the training split of the same corpus.",
        "There is no larger retrieval model.",
    ),
    claims=(
        Claim(
            "Fine-tuning on ED helps on DailyDialog (P@1,100)",
            (("Fine-Tuned", "DD P@1,100"), ("Pretrained", "DD P@1,100")),
            "Our pretraining has learned from DailyDialog itself, and fine-tuning on ED alone forgets some of that; "
            "the paper's had only seen Reddit. Both of ours are above both of the paper's.",
        ),
    ),
    decimals=2,
)

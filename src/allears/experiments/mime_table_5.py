"""MIME, Table 5: what mimicry and grouping bring."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Empty, Experiment, Key, Plan, Run, by_rows, take
from allears.experiments.mime_table_2 import PEOPLE
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MIME_NO_MIMICRY, MIME_PLAIN, generation_measured

ROWS: dict[str, Run] = {
    "neither": MIME_PLAIN,
    "grouping": MIME_NO_MIMICRY,
    "mimicry and grouping": MIME,
}
COLUMNS = ("BLEU", "PPL", *PEOPLE)
_PUBLISHED = {
    "neither": (2.45, 3.14, 3.58, 4.23),
    "grouping": (2.96, 3.67, 3.63, 4.09),
    "mimicry and grouping": (2.98, 3.87, 3.60, 4.28),
}

_NO_DIFFERENCE = (
    "With three seeds there is no difference beyond the seeds' own: from a start that can already talk, what the "
    "emotions change in the decoder's input hardly changes its words."
)


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, run in ROWS.items():
        asked = generation_measured(setting, run)
        asks[row, "BLEU"], asks[row, "PPL"] = take("moses_bleu", *asked), take("ppl", *asked)
        for column in PEOPLE:
            asks[row, column] = Empty("people rate this: `allears study new likert` asks them")
    return Plan(tuple(ROWS), COLUMNS, asks)


EXPERIMENT = Experiment(
    name="mime-table-5",
    paper="MIME",
    place="Table 5",
    question="What do emotion grouping and mimicry bring?",
    plan=plan,
    published=by_rows(("BLEU", *PEOPLE), _PUBLISHED),
    source="MIME, Table 5 (test split)",
    differs=("As in MIME's Table 2.",),
    claims=(
        Claim("Grouping helps (BLEU)", (("grouping", "BLEU"), ("neither", "BLEU")), _NO_DIFFERENCE),
        Claim(
            "Mimicry helps (BLEU)", (("mimicry and grouping", "BLEU"), ("grouping", "BLEU")), _NO_DIFFERENCE
        ),
    ),
    decimals=2,
)

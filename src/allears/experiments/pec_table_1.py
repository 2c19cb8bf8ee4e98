"""PEC, Table 1: how large the corpus is, how much people say, and how much is known of them."""

from __future__ import annotations

from allears.experiments.contract import Ask, Experiment, Key, Plan, by_rows, measure, take
from allears.experiments.made_corpora import DISTRESS, JOY
from allears.experiments.setting import Setting

ROWS = ("#Conv.", "#Utter.", "#Speaker", "#Avg.PS", "#Std.PS", "#Avg.U", "#Avg.P")
DOMAINS = {"happy": JOY, "offmychest": DISTRESS}
SPLITS = ("train", "valid", "test")
_PUBLISHED = {
    "happy train": (157_000, 367_000, 93_000, 66.0, 38.1, 21.5, 10.9),
    "happy valid": (20_000, 46_000, 17_000, 70.8, 36.7, 21.9, 10.8),
    "happy test": (23_000, 54_000, 19_000, 70.0, 36.9, 21.3, 10.8),
    "offmychest train": (124_000, 293_000, 89_000, 59.6, 40.2, 30.4, 10.9),
    "offmychest valid": (16_000, 38_000, 16_000, 66.8, 39.0, 31.5, 10.9),
    "offmychest test": (15_000, 35_000, 16_000, 67.1, 38.8, 30.0, 10.9),
}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {
        (row, f"{domain} {split}"): take(row, measure("statistics", corpus=corpus, split=split))
        for domain, corpus in DOMAINS.items()
        for split in SPLITS
        for row in ROWS
    }
    return Plan(ROWS, tuple(_PUBLISHED), asks)


EXPERIMENT = Experiment(
    name="pec-table-1",
    paper="PEC",
    place="Table 1",
    question="How large are the two halves of the corpus, how long are turns, and how much is known of a speaker?",
    plan=plan,
    published={
        (row, column): value
        for (column, row), value in by_rows(ROWS, _PUBLISHED).items()  # printed by columns
    },
    source="PEC, Table 1 (counts there are rounded to thousands)",
    differs=(
        "PEC itself cannot be had here. These are conversations built by the same rules from a sample of Reddit of "
        "2020: joyful subreddits in the place of r/happy, those of people in distress in the place of r/offmychest.",
        "A person has at most seven earlier comments in the sample, so far fewer persona sentences.",
        "Only whoever answers must have a persona (`--persona-of respondent`), and orphans are kept.",
    ),
)

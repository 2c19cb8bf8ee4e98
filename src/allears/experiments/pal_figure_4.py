"""PAL, Figure 4: the right strategy among the n likeliest."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Picture, Plan, Run, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import HARD_PROMPT, JOINT, MISC, PAL, support_measured

GENERATORS: dict[str, Run] = {"PAL": PAL, "Hard Prompt": HARD_PROMPT, "MISC": MISC, "Blenderbot-Joint": JOINT}
READERS = {"our reader (bundle)": "default", "fastText": "fasttext", "frequency": "frequency"}
ROWS = tuple(f"top-{n}" for n in range(1, 8))


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for n, row in enumerate(ROWS, 1):
        for column, run in GENERATORS.items():
            asks[row, column] = take(f"strategy_top_{n}", *support_measured(setting, run))
        for column, model in READERS.items():
            asks[row, column] = take(
                f"top_{n}", measure("strategy-curve", model, corpus="esconv", split="valid")
            )
    return Plan(ROWS, (*GENERATORS, *READERS), asks)


EXPERIMENT = Experiment(
    name="pal-figure-4",
    paper="PAL",
    place="Figure 4",
    question="How often is the supporter's strategy among the n likeliest?",
    plan=plan,
    differs=(
        "The figure's numbers are not in our copy of the paper.",
        "Beside the generators: our reader and fastText, which see past strategies, and the strategies by frequency.",
    ),
    claims=(
        Claim("PAL predicts strategies better than MISC (top-1)", (("top-1", "PAL"), ("top-1", "MISC"))),
        Claim(
            "Persona helps to choose a strategy: PAL above Blenderbot-Joint (top-1)",
            (("top-1", "PAL"), ("top-1", "Blenderbot-Joint")),
            "The two are within chance of each other: with some 2,200 examples a share of 31% is known to two points.",
        ),
    ),
    picture=Picture("lines", "", "right strategy among the n likeliest (%)"),
)

"""PEC, Figure 3: what persona brings, by how much of the training data is empathetic."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Picture, Plan, measure, take
from allears.experiments.made_corpora import CASUAL, MIXTURES, SHARES, SUPPORTIVE
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import persona_run, selection_measured

VALID = {"supportive": SUPPORTIVE, "casual": CASUAL}
ROWS = tuple(f"{share}%" for share in SHARES)
COLUMNS = tuple(f"{valid}: {what}" for valid in VALID for what in ("with persona", "without", "persona gain"))


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for share, row in zip(SHARES, ROWS, strict=True):
        with_persona = persona_run("cobert", MIXTURES[share])
        without = persona_run("cobert", MIXTURES[share], ("data.persona=false",), name="cobert-none")
        for valid, corpus in VALID.items():
            asked = tuple(
                measure(
                    "selection", with_persona.seeded(seed), without.seeded(seed), corpus=corpus, split="valid",
                    against_persona=0,
                )
                for seed in setting.all_seeds
            )  # fmt: skip
            alone = selection_measured(setting, without, corpus, persona_sentences=0)
            asks[row, f"{valid}: with persona"] = take("recall_at_1", *asked)
            asks[row, f"{valid}: without"] = take("recall_at_1", *alone)
            asks[row, f"{valid}: persona gain"] = take("difference_recall_at_1", *asked)
    return Plan(ROWS, COLUMNS, asks)


EXPERIMENT = Experiment(
    name="pec-figure-3",
    paper="PEC",
    place="Figure 3",
    question="Does persona help empathetic answers more, the more empathetic conversations a model has learned from?",
    plan=plan,
    published={
        ("0%", "supportive: persona gain"): 3.77,
        ("100%", "supportive: persona gain"): 6.32,
        ("0%", "casual: persona gain"): 3.44,
        ("100%", "casual: persona gain"): 3.31,
    },
    source="PEC, section 6 (the figure's other points are not printed)",
    differs=(
        "Supportive and casual subreddits of our sample in the place of PEC and CASUAL; training sets have as many "
        "conversations as the smaller of the two, a few thousand in the place of 150K.",
        "The model without persona is trained without it. Gains are paired: the same examples and candidates.",
    ),
    claims=(
        Claim(
            "Persona helps empathetic answers more with empathetic training data",
            (("100%", "supportive: persona gain"), ("0%", "supportive: persona gain")),
        ),
    ),
    decimals=2,
    picture=Picture(
        "lines",
        "share of supportive conversations in training",
        "R@1 (%)",
        tuple(each for each in COLUMNS if "gain" not in each),
    ),
)

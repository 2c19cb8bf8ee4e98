"""A small recipe and a made-up experiment over it."""

from __future__ import annotations

from allears.experiments.contract import (
    Claim,
    Empty,
    Experiment,
    Minus,
    Over,
    Picture,
    Plan,
    Run,
    measure,
    take,
)
from allears.experiments.setting import Setting

RECIPE = """task = "selection"
[data]
train = ["ed"]
valid = "ed"
candidates = 10
[model]
name = "bow"
options = { embedding_size = 8 }
[training]
epochs = 1
batch = 8
learning_rate = 1e-2
save_every = 1
"""
FIRST, SECOND = Run("first", "tiny"), Run("second", "tiny", ("training.epochs=2",))
BROKEN = Run("broken", "tiny", ("model.name=nobody",))


def made_up_plan(setting: Setting) -> Plan:
    asked = {
        each: measure("selection", each, corpus="ed", split="valid", candidates=10)
        for each in (FIRST, SECOND, BROKEN)
    }
    one, two = (take("recall_at_1", asked[each]) for each in (FIRST, SECOND))
    return Plan(
        ("first", "second", "broken", "both"),
        ("R@1", "MRR"),
        {
            ("first", "R@1"): one,
            ("second", "R@1"): two,
            ("broken", "R@1"): take("recall_at_1", asked[BROKEN]),
            ("both", "R@1"): Minus(two, one),
            ("both", "MRR"): Over(two, take("mrr", asked[BROKEN])),
            ("first", "MRR"): Empty("people would have to say this"),
            ("second", "MRR"): take("no_such_measure", asked[SECOND]),
        },
    )


MADE_UP = Experiment(
    name="made-up",
    paper="Nobody",
    place="Table 0",
    question="Does another epoch help?",
    plan=made_up_plan,
    published={("first", "R@1"): 12.0, ("second", "R@1"): 13.5},
    source="nowhere",
    differs=("Everything is made up.",),
    claims=(Claim("Another epoch helps", (("second", "R@1"), ("first", "R@1"))),),
    picture=Picture("lines", "run", "R@1", ("R@1",)),
)

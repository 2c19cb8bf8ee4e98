"""ED, Table 10: naming the emotion from the description of the situation."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Empty, Experiment, Key, Plan, Run, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import of_each_seed

READER = Run("ed-emotion", "ed-emotion")
COLUMNS = ("fastText", "ours, fine-tuned", "ours, the bundle's reader", "DeepMoji chain-thaw")
HEADS = {"ED": "ed-emotion", "ED-CUT": "ed-emotion-cut"}
_OTHERS = ("SE0714", "OLYMPIC", "PSYCHEXP", "SS-TWITTER", "SS-YOUTUBE", "SE0614", "SCv1", "SCv2-GEN")


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, head in HEADS.items():
        asks[row, "fastText"] = take("accuracy", measure("understanding", "fasttext", head=head, corpus="ed"))
        asks[row, "ours, fine-tuned"] = take(
            "accuracy",
            *of_each_seed(
                setting,
                READER,
                lambda run, head=head: measure("understanding", run, head=head, corpus="ed"),  # type: ignore[misc]
            ),
        )
        asks[row, "ours, the bundle's reader"] = take(
            "accuracy", measure("understanding", "default", head=head, corpus="ed")
        )
        asks[row, "DeepMoji chain-thaw"] = Empty("DeepMoji is not part of allears")
    asks |= {(row, "fastText"): Empty("the corpus is not among those at hand") for row in _OTHERS}
    return Plan((*HEADS, *_OTHERS), COLUMNS, asks)


EXPERIMENT = Experiment(
    name="ed-table-10",
    paper="ED",
    place="Table 10",
    question="How often is the right one of 32 emotions named, given the description of the situation?",
    plan=plan,
    published={
        ("ED", "fastText"): 43.0,
        ("ED", "DeepMoji chain-thaw"): 48.0,
        ("ED-CUT", "fastText"): 41.0,
        ("ED-CUT", "DeepMoji chain-thaw"): 45.0,
    },
    source="ED, Table 10 (test split, given as shares); best of DeepMoji's settings. Its rows of other benchmarks are "
    "F1 or accuracy of corpora that are not at hand",
    differs=("The valid split.", "A fine-tuned gte-small in the place of DeepMoji."),
    claims=(
        Claim(
            "Headline: emotion accuracy on ED above the paper's best, 48%", (("ED", "ours, fine-tuned"), 48.0)
        ),
        Claim(
            "Descriptions that do not contain their label are harder",
            (("ED", "fastText"), ("ED-CUT", "fastText")),
        ),
    ),
)

"""The third paper's results: MoEL with the responder's persona, in three variants, and MoEL on ED; and beyond the paper
what dialogue act and intent bring on top, which its authors planned and left undone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from allears.experiments.contract import Ask, Claim, Experiment, Key, Plan, Run, by_rows, take
from allears.experiments.made_corpora import LABELS_VALID
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import FROM_MOEL, MOEL, generation_measured


def variant(persona: str, conditions: Sequence[str] = ()) -> Run:
    changes = [f"model.options.persona={persona}"]
    if conditions:
        changes.append(f"model.options.conditions={json.dumps(list(conditions))}")
    return Run(
        "-".join(("reddit-modmoel", persona, *conditions)), "reddit-modmoel", tuple(changes), FROM_MOEL
    )


ROWS: dict[str, tuple[Run, str]] = {
    "persona primary, PEC-16": (variant("primary"), LABELS_VALID),
    "persona last, PEC-16": (variant("last"), LABELS_VALID),
    "no persona, PEC-16": (variant("none"), LABELS_VALID),
    "persona last, with act": (variant("last", ("act",)), LABELS_VALID),
    "persona last, with intent": (variant("last", ("intent",)), LABELS_VALID),
    "MoEL, ED-32": (MOEL, "ed"),
}
# column -> how it is decoded, the measure, and a factor to the paper's unit
MEASURES: dict[str, tuple[str, str, float]] = {
    "emotion accuracy": ("beam-5", "emotion_accuracy", 0.01),
    "BLEU, beam": ("beam-5", "moses_bleu", 1.0),
    "BLEU, greedy": ("greedy", "moses_bleu", 1.0),
    "METEOR, beam": ("beam-5", "meteor", 0.01),
    "METEOR, greedy": ("greedy", "meteor", 0.01),
    "PPL": ("beam-5", "ppl", 1.0),
    "sentiment gain, beam": ("beam-5", "sentiment_gain", 1.0),
    "sentiment gain, greedy": ("greedy", "sentiment_gain", 1.0),
}
_PUBLISHED = {
    "persona primary, PEC-16": (0.243, 2.02, 2.10, 0.104, 0.108, 143.2, 0.028, 0.088),
    "persona last, PEC-16": (0.233, 2.17, 2.11, 0.106, 0.111, 144.7, 0.010, 0.052),
    "no persona, PEC-16": (0.285, 1.75, 1.53, 0.096, 0.103, 146.3, 0.111, 0.153),
    "MoEL, ED-32": (0.346, 2.33, 2.30, 0.120, 0.125, 73.3, -0.025, 0.049),
}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, (run, corpus) in ROWS.items():
        for column, (decoding, name, times) in MEASURES.items():
            asked = generation_measured(setting, run, corpus, decoding)
            asks[row, column] = take(name, *asked, times=times)
    return Plan(tuple(ROWS), tuple(MEASURES), asks)


EXPERIMENT = Experiment(
    name="modmoel-results",
    paper="ModMoEL",
    place="results",
    question="What does the responder's persona bring to MoEL, and where should it be attended to?",
    plan=plan,
    published=by_rows(MEASURES, _PUBLISHED),
    source="notes.md, ModMoEL (test split)",
    differs=(
        "Our Reddit conversations in the place of PEC, with at most 10 persona sentences (theirs: up to 100, at least "
        "25), without their filter by length; the valid split.",
        "All start from a MoEL with one listener for all emotions that has seen other dialogue "
        "(recipes/moel-pretrain.toml); the persona's attention begins without a say.",
        "Emotions of Reddit are guessed by our reader (theirs: by their classifier), so accuracy is agreement with it.",
        "Acts and intents of Reddit are our reader's, learned as guesses from the context; the paper has no such rows.",
        "METEOR by word and stem, with WordNet only where NLTK has it.",
    ),
    claims=(
        Claim(
            "Persona raises BLEU (beam)",
            (("persona last, PEC-16", "BLEU, beam"), ("no persona, PEC-16", "BLEU, beam")),
        ),
        Claim("Persona lowers PPL", (("no persona, PEC-16", "PPL"), ("persona last, PEC-16", "PPL"))),
        Claim(
            "The intent lowers PPL further",
            (("persona last, PEC-16", "PPL"), ("persona last, with intent", "PPL")),
        ),
    ),
    decimals=3,
    decimals_of={"BLEU, beam": 2, "BLEU, greedy": 2, "PPL": 1},
)

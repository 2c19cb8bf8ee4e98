"""Runs that several tables rest on: the same run is trained once, whoever asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from allears.experiments.contract import Measurement, Run, measure
from allears.experiments.made_corpora import REDDIT
from allears.experiments.setting import Setting

PRETRAIN = Run("dialogue-pretrain", "dialogue-pretrain")
_FROM_PRETRAIN = (("model.start", PRETRAIN),)
_FRESH = ("bow", "hlstm", "dim")  # word models: nothing to start from

ED_BI_ENCODER = Run("ed-bi-encoder", "ed-bi-encoder", uses=_FROM_PRETRAIN)
ED_COBERT = Run(
    "ed-cobert",
    "ed-cobert",
    uses=(*_FROM_PRETRAIN, ("negatives.teachers", tuple(ED_BI_ENCODER.seeded(seed) for seed in (1, 2, 3)))),
)

GENERATOR_PRETRAIN = Run("generator-pretrain", "generator-pretrain")
_FROM_GENERATOR = (("model.start", GENERATOR_PRETRAIN),)
PAL = Run("esconv-pal", "esconv-pal", uses=_FROM_GENERATOR)
JOINT = Run("esconv-joint", "esconv-joint", uses=_FROM_GENERATOR)
HARD_PROMPT = Run("esconv-hard-prompt", "esconv-hard-prompt", uses=_FROM_GENERATOR)
MISC = Run("esconv-misc", "esconv-misc", uses=_FROM_GENERATOR)

TRANSFORMER = Run("ed-transformer", "ed-transformer")
TRANSFORMER_LARGE = Run("ed-transformer-large", "ed-transformer-large")
# The word-level models of MIME's tables all start from the same plain Transformer.
WORD_PRETRAIN = Run("word-pretrain", "word-pretrain")
_FROM_WORDS = (("model.start", WORD_PRETRAIN),)
MULTITASK = Run("ed-multitask", "ed-multitask", uses=_FROM_WORDS)
MOEL_PRETRAIN = Run("moel-pretrain", "moel-pretrain")
FROM_MOEL = (("model.start", MOEL_PRETRAIN),)
MOEL = Run("ed-moel", "ed-moel", uses=FROM_MOEL)
MIME = Run("ed-mime", "ed-mime", uses=_FROM_WORDS)
MIME_NO_MIMICRY = Run("ed-mime-no-mimicry", "ed-mime", ("model.options.mimicry=false",), _FROM_WORDS)
MIME_PLAIN = Run(
    "ed-mime-plain", "ed-mime", ("model.options.mimicry=false", "model.options.grouping=false"), _FROM_WORDS
)
MIME_NOT_STOCHASTIC = Run(
    "ed-mime-not-stochastic", "ed-mime", ("model.options.stochastic=false",), _FROM_WORDS
)
MIME_IMPROVED = Run("ed-mime-improved", "ed-mime-improved")


def persona_run(model: str, corpus: str = REDDIT, changes: Sequence[str] = (), name: str = "") -> Run:
    """A selection model on persona conversations: `recipes/persona-MODEL.toml`, on one of our Reddit corpora."""
    own = (
        () if corpus == REDDIT else (f"data.train={json.dumps([corpus])}", f"data.valid={json.dumps(corpus)}")
    )
    where = "" if corpus == REDDIT else f"-{corpus.partition('.')[0].removeprefix('reddit-')}"
    return Run(
        f"persona-{name or model}{where}",
        f"persona-{model}",
        (*own, *changes),
        () if model in _FRESH else _FROM_PRETRAIN,
    )


def of_each_seed(setting: Setting, run: Run, ask: Callable[[Run], Measurement]) -> tuple[Measurement, ...]:
    """The same question to the same run with every seed."""
    return tuple(ask(run.seeded(seed)) for seed in setting.all_seeds)


def selection_measured(setting: Setting, run: Run, corpus: str, **settings: Any) -> tuple[Measurement, ...]:
    """What tables ask of a selection model: the true response among others, on a corpus's valid split."""
    return of_each_seed(
        setting, run, lambda each: measure("selection", each, corpus=corpus, split="valid", **settings)
    )


def generation_measured(
    setting: Setting, run: Run, corpus: str = "ed", decoding: str = "beam-5", **settings: Any
) -> tuple[Measurement, ...]:
    """What tables ask of a generator: replies on a corpus's valid split."""
    return of_each_seed(
        setting,
        run,
        lambda each: measure("generation", each, corpus=corpus, split="valid", decoding=decoding, **settings),
    )


def support_measured(setting: Setting, run: Run, alpha: float | None = None) -> tuple[Measurement, ...]:
    """What PAL's tables ask of a generator: replies on PESConv's valid split, with one α or by the strategies' own."""
    return of_each_seed(
        setting,
        run,
        lambda each: measure(
            "generation", each, corpus="pesconv", split="valid", alpha=alpha, persona_similarity=True
        ),
    )

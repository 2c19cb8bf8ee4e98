"""Which response is chosen, and how well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from allears.conversation import Role, Turn
from allears.experiments.contract import Measurement
from allears.experiments.measures.kind import Measures, device_for, place_of

if TYPE_CHECKING:
    from allears.experiments.lab import Lab


def selection(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.split_examples import split_examples
    from allears.evaluation.selection import compare, evaluate_selection
    from allears.models.selection.loading import load_selector

    examples = split_examples(
        lab.corpora.place(asked.option("corpus")), asked.option("split", "valid"), lab.corpora.root
    )
    sides = [(asked.of, asked.option("persona_sentences"))]
    if asked.against:
        sides.append((asked.against, asked.option("against_persona", asked.option("persona_sentences"))))
    reports = [
        evaluate_selection(
            load_selector(place_of(lab, model), device_for(lab, model), persona_sentences=sentences),
            examples,
            asked.option("candidates", lab.setting.candidates),
            persona_sentences=sentences,
            limit=lab.setting.limit,
        )
        for model, sentences in sides
    ]
    found: Measures = dict(reports[0].flat())
    if asked.against:
        comparison = compare(reports[0], reports[1])
        for name, difference in (("recall_at_1", comparison.recall_at_1), ("mrr", comparison.mrr)):
            found |= {
                f"difference_{name}": difference.value,
                f"difference_{name}_low": difference.low,
                f"difference_{name}_high": difference.high,
            }
        found["p_value"] = comparison.recall_test.p_value
    return found


def retrieval(lab: Lab, asked: Measurement) -> Measures:
    """The best of several pools together, against what people said."""
    from random import Random

    from allears.corpora.split_examples import split_examples
    from allears.evaluation.retrieval import read_pool, retrieval_bleu
    from allears.metrics.bleu import sacrebleu_metrics
    from allears.models.selection.loading import load_selector

    sacrebleu_metrics()
    corpus, split = lab.corpora.place(asked.option("corpus")), asked.option("split", "valid")
    examples = split_examples(corpus, split, lab.corpora.root)
    limit = asked.option("limit") or lab.setting.limit
    if limit and limit < len(examples):
        examples = [examples[place] for place in sorted(Random(0).sample(range(len(examples)), limit))]
    pool: list[str] = []
    for name in asked.option("pools"):
        pool += read_pool(lab.corpora.place(name), lab.corpora.root)
    report = retrieval_bleu(
        load_selector(place_of(lab, asked.of), device_for(lab, asked.of)), examples, pool, persona_sentences=0
    )
    return {
        "avg_bleu": report.avg_bleu, "bleu_4": report.bleu_4, "pool": report.pool, "examples": len(examples)
    }  # fmt: skip


def choice(lab: Lab, asked: Measurement) -> Measures:
    """Which of our own replies a model chooses for a context of ours, given a persona sentence."""
    from random import Random

    from allears.listener.cards import shipped_cards
    from allears.models.selection.loading import load_selector
    from allears.runtime.selector import Query

    selector = load_selector(place_of(lab, asked.of), device_for(lab, asked.of))
    pool = list(dict.fromkeys(reply for card in shipped_cards() for reply in card.replies))
    texts = Random(0).sample(pool, min(len(pool), 60 if lab.setting.small else 1000))  # the paper's 1K
    encoded = selector.encode_responses(texts)
    context = (Turn(Role.SEEKER, asked.option("context")),)
    found = {}
    for sentence in asked.option("personas"):
        scores = selector.score([Query(context, (sentence,))], encoded, np.arange(len(texts))[None])
        found[sentence] = texts[int(scores[0].argmax())]
    return found

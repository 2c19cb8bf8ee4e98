"""`allears evaluate generation`: how good a generator's replies are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from allears.cli import options
from allears.cli.evaluate_tables import named_values_table
from allears.cli.options import optional, value
from allears.cli.output import console, plain_table, print_json, say
from allears.cli.progress import watched
from allears.evaluation.generation import BY_POLARITY
from allears.evaluation.measured_generation import NOTHING, OWN, TABLE, check_replies_path, measure_generator
from allears.evaluation.names import short_name
from allears.evaluation.setting import EvaluationSetting
from allears.labels import POLARITIES
from allears.runtime.bundle import DEFAULT

_SHOWN = {
    "ppl": "perplexity per token", "ppl_word": "perplexity per word", "strategy_accuracy": "strategy, %",
    "strategy_top_3": "strategy among three, %", "emotion_accuracy": "emotion, %",
    "emotion_top_2": "emotion among two, %", "emotion_top_5": "emotion among five, %",
    "bleu_1": "BLEU-1", "bleu_2": "BLEU-2", "bleu_3": "BLEU-3",
    "bleu_4": "BLEU-4", "avg_bleu": "AVG BLEU", "moses_bleu": "BLEU-4 as MoEL and MIME cut words",
    "rouge_l": "ROUGE-L", "meteor": "METEOR",
    "distinct_1": "Distinct-1", "distinct_2": "Distinct-2", "ead_1": "EAD-1", "ead_2": "EAD-2",
    "cos_sim": "cosine to persona", "sentiment_gain": "sentiment gain", "repetition": "repetition, %",
    "emotional_reactions": "emotional reactions, 0 to 2", "interpretations": "interpretations, 0 to 2",
    "explorations": "explorations, 0 to 2", "length": "words per reply",
    "spread_different": "other replies with another seed, %", "spread_bleu_2": "BLEU-2 between seeds",
    "spread_distinct_2": "Distinct-2 over all seeds", "spread_moses_bleu": "BLEU-4 (MoEL's), mean over seeds",
    "spread_moses_bleu_std": "its standard deviation",
}  # fmt: skip


def generation(
    model: str = typer.Argument(
        help="A generator's run folder, a bundle, `default` (the one that ships with allears), or a whole listener: "
        "`listener`, or with another voice `listener:chosen`."
    ),
    *,
    corpus: options.CorpusName = "pesconv",
    split: options.Splits = "valid",
    root: options.Root = None,
    limit: int | None = optional("A seeded sample of this many examples.", min=1),
    alpha: str = value(
        TABLE,
        "How much a strategy leans on the persona: `table` (PAL, Table 2), or one number for all strategies; "
        "0 switches it off.",
    ),
    decoding: str = value(
        OWN,
        "own (what the generator was tuned for, or else PAL's), sample (PAL's: top-k 10, top-p 0.9, "
        "temperature 0.5), greedy, beam, or beam-5 (MoEL's and MIME's); changed like this: beam-5,length_penalty=3.",
    ),
    encoder: str = value(
        DEFAULT, "Compares replies with personas: an encoder, a bundle, word vectors, `default` or `none`."
    ),
    reader: str = value(
        NOTHING, "Tells EPITOME's mechanisms of empathy: a reader's run, `default` or `none`."
    ),
    replies: Path | None = optional("Write every reply beside its prompt (.jsonl), to be read."),
    seed: int = value(0, "Draws the sample and the replies.", min=0),
    seeds: int = value(1, "Also write with so many seeds, and say how far the replies differ.", min=1),
    device: options.Device = "cpu",
    as_json: options.JsonTable = False,
) -> None:
    """What a generator would have said, against what people said: PPL, strategy, BLEU, Distinct, persona and more.

    Examples:

        allears evaluate generation runs/esconv-pal --corpus pesconv --split valid

        allears evaluate generation runs/esconv-pal --alpha 0 --json

        allears evaluate generation runs/esconv-joint --limit 200 --replies replies.jsonl

        allears evaluate generation runs/ed-mime --corpus ed --decoding beam-5,length_penalty=3

        allears evaluate generation listener --limit 200 --reader default
    """
    if replies is not None:
        check_replies_path(replies)
    setting = EvaluationSetting(split, root, limit, seed, device, watched)
    measured = measure_generator(
        model,
        corpus,
        setting,
        alpha=alpha,
        decoding=decoding,
        encoder=encoder,
        reader=reader,
        seeds=seeds,
    )
    measures = measured.report.measures
    if replies is not None:
        measured.write_replies(replies)
        say(f"wrote {len(measured.examples):,} replies to {replies}")
    if as_json:
        record: dict[str, Any] = {"model": model, "corpus": corpus, "split": split, "seed": seed}
        print_json(record | {"alpha": alpha, "decoding": decoding} | measures)
        return
    title = f"{short_name(model)} on {corpus} {split}, {decoding}, alpha {alpha}"
    console.print(named_values_table(title, "value", _SHOWN, measures, exact="cos_sim"))
    _polarities(measures)
    console.print(
        f"{len(measured.examples):,} replies; perplexity of {int(measures['ppl_examples']):,} responses that are not "
        "longer than the model can write",
        highlight=False,
    )


def _polarities(measures: dict[str, float]) -> None:
    """The same by positive and negative emotions, where the corpus has emotions."""
    names = [name for name in BY_POLARITY if f"{name}_positive" in measures]
    if not names:
        return
    table = plain_table("by what the person felt (MIME's split)", "measure", numbers=POLARITIES)
    for name in names:
        values = [measures.get(f"{name}_{polarity}") for polarity in POLARITIES]
        shown = ["" if number is None else f"{number:.2f}" for number in values]
        table.add_row(_SHOWN.get(name, name), *shown)
    console.print(table)

"""`allears evaluate generation`: how good a generator's replies are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from allears.cli.evaluate_tables import empty_table, short_name
from allears.cli.output import console, errors
from allears.cli.progress import watched
from allears.decoding import PAL_ALPHAS, AlphaTable
from allears.decoding import decoding as decoding_named
from allears.errors import AllearsError
from allears.evaluation.generation import BY_POLARITY, GenerationReport, evaluate_generation, reply_spread
from allears.labels import POLARITIES
from allears.metrics.bleu import sacrebleu_metrics
from allears.models.generation.examples import GenerationExample, read_examples
from allears.models.generation.loading import load_generator
from allears.runtime.generator import Generator, settings_of

TABLE, NOTHING, DEFAULT, LISTENER, OWN = "table", "none", "default", "listener", "own"
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
        "`listener`, or with another voice `listener:retrieval`."
    ),
    *,
    corpus: str = typer.Option(
        "pesconv", "--corpus", help="A corpus (see `allears data list`) or a .jsonl file in our schema."
    ),
    split: str = typer.Option("valid", "--split", help="train, valid or test; several joined: valid+test."),
    root: Path | None = typer.Option(
        None,
        "--root",
        help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
        show_default=False,
    ),
    limit: int | None = typer.Option(
        None, "--limit", min=1, help="A seeded sample of this many examples.", show_default=False
    ),
    alpha: str = typer.Option(
        TABLE,
        "--alpha",
        help="How much a strategy leans on the persona: `table` (PAL, Table 2), or one number for all strategies; "
        "0 switches it off.",
    ),
    decoding: str = typer.Option(
        OWN,
        "--decoding",
        help="own (what the generator was tuned for, or else PAL's), sample (PAL's: top-k 10, top-p 0.9, "
        "temperature 0.5), greedy, beam, or beam-5 (MoEL's and MIME's); changed like this: beam-5,length_penalty=3.",
    ),
    encoder: str = typer.Option(
        DEFAULT,
        "--encoder",
        help="Compares replies with personas: an encoder, a bundle, word vectors, `default` or `none`.",
    ),
    reader: str = typer.Option(
        NOTHING,
        "--reader",
        help="Tells EPITOME's mechanisms of empathy: a reader's run, `default` or `none`.",
    ),
    replies: Path | None = typer.Option(
        None,
        "--replies",
        help="Write every reply beside its prompt (.jsonl), to be read.",
        show_default=False,
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="Draws the sample and the replies."),
    seeds: int = typer.Option(
        1, "--seeds", min=1, help="Also write with so many seeds, and say how far the replies differ."
    ),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
    as_json: bool = typer.Option(
        False, "--json", help="Print one JSON object for machines instead of a table."
    ),
) -> None:
    """What a generator would have said, against what people said: PPL, strategy, BLEU, Distinct, persona and more.

    Examples:

        allears evaluate generation runs/esconv-pal --corpus pesconv --split valid

        allears evaluate generation runs/esconv-pal --alpha 0 --json

        allears evaluate generation runs/esconv-joint --limit 200 --replies replies.jsonl

        allears evaluate generation runs/ed-mime --corpus ed --decoding beam-5,length_penalty=3

        allears evaluate generation listener --limit 200 --reader default
    """
    # Whatever can be wrong is found before the long part begins.
    settings, alphas = None if decoding == OWN else decoding_named(decoding), alpha_table(alpha)
    sacrebleu_metrics()
    if replies is not None and (replies.suffix != ".jsonl" or not replies.absolute().parent.is_dir()):
        raise AllearsError(f"{replies}: replies are written as .jsonl, into a folder that is there")
    generator = _generator(model, device)
    if settings is None:
        settings = settings_of(generator)
    examples = _examples(corpus, split, root, limit, seed)
    report = evaluate_generation(
        generator,
        examples,
        settings=settings,
        alphas=alphas,
        seed=seed,
        embed=_embed(encoder, device),
        sentiment=_sentiment(),
        reader=_reader(reader, device),
        watch=watched,
    )
    if seeds > 1:
        chosen = range(seed, seed + seeds)
        report.measures.update(
            reply_spread(generator, examples, settings=settings, seeds=chosen, watch=watched)
        )
    if replies is not None:
        _write(replies, examples, report)
    if as_json:
        record: dict[str, Any] = {"model": model, "corpus": corpus, "split": split, "seed": seed}
        record |= {"alpha": alpha, "decoding": decoding} | report.measures
        typer.echo(json.dumps(record))
        return
    table = empty_table(f"{short_name(model)} on {corpus} {split}, {decoding}, alpha {alpha}", "measure")
    table.add_column("value", justify="right", no_wrap=True)
    for name, shown in _SHOWN.items():
        if name in report.measures:
            table.add_row(
                shown, f"{report.measures[name]:.3f}" if name == "cos_sim" else f"{report.measures[name]:.2f}"
            )
    console.print(table)
    _polarities(report)
    console.print(
        f"{len(examples):,} replies; perplexity of {int(report.measures['ppl_examples']):,} responses that are not "
        "longer than the model can write",
        highlight=False,
    )


def _generator(name: str, device: str) -> Generator:
    """`listener` and `listener:VOICE` are the default bundle's listener; everything else is a generator's name."""
    who, _, voice = name.partition(":")
    if who != LISTENER or Path(name).exists():
        return load_generator(name, device)
    from allears.listener.as_generator import ListenerGenerator
    from allears.listener.listener import Listener

    return ListenerGenerator(Listener.from_bundle(voice=voice or DEFAULT, watch=watched))


def _polarities(report: GenerationReport) -> None:
    """The same by positive and negative emotions, where the corpus has emotions."""
    names = [name for name in BY_POLARITY if f"{name}_positive" in report.measures]
    if not names:
        return
    table = empty_table("by what the person felt (MIME's split)", "measure")
    for polarity in POLARITIES:
        table.add_column(polarity, justify="right", no_wrap=True)
    for name in names:
        values = [report.measures.get(f"{name}_{polarity}") for polarity in POLARITIES]
        shown = ["" if value is None else f"{value:.2f}" for value in values]
        table.add_row(_SHOWN.get(name, name), *shown)
    console.print(table)


def alpha_table(text: str) -> AlphaTable | None:
    """None stands for the generator's own table."""
    if text == TABLE:
        return None
    try:
        value = float(text)
    except ValueError:
        raise AllearsError(f"--alpha takes `table` or a number such as 0 or 0.75; got {text!r}") from None
    return PAL_ALPHAS.all(value)


def _examples(
    corpus: str, split: str, root: Path | None, limit: int | None, seed: int
) -> list[GenerationExample]:
    from random import Random

    found = [example for example in read_examples(corpus, split, root) if example.answers]
    if not found:
        raise AllearsError(f"in the {split} split of {corpus} nobody answers another person")
    if limit is None or limit >= len(found):
        return found
    return [found[place] for place in sorted(Random(seed).sample(range(len(found)), limit))]


def _embed(name: str, device: str) -> Any:
    if name == NOTHING:
        return None
    from allears.models.reader.sentence_loading import load_sentence_encoder
    from allears.runtime.bundle import default_bundle

    return load_sentence_encoder(default_bundle() if name == DEFAULT else name, device).vectors


def _sentiment() -> Any:
    from allears.models.reader.sentiment import VaderSentiment

    return VaderSentiment().compound


def _reader(name: str, device: str) -> Any:
    if name == NOTHING:
        return None
    from allears.corpora.heads import head
    from allears.evaluation.annotate import mechanism_head
    from allears.labels import MECHANISMS
    from allears.models.reader.loading import load_reading_model

    return load_reading_model(name, head(mechanism_head(MECHANISMS[0])), device=device)


def _write(path: Path, examples: list[GenerationExample], report: GenerationReport) -> None:
    lines = [
        json.dumps(
            {
                "turns": [
                    {"speaker": turn.speaker.value, "text": turn.text} for turn in example.prompt.turns
                ],
                "persona": list(example.prompt.persona),
                "own_persona": list(example.prompt.own_persona),
                "emotion": example.labels.emotion,
                "strategy": reply.strategy,
                "reply": reply.text,
                "gold_strategy": example.prompt.strategy,
                "gold": example.response,
            },
            ensure_ascii=False,
        )
        for example, reply in zip(examples, report.replies, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    errors.print(f"wrote {len(lines):,} replies to {path}", highlight=False, soft_wrap=True)

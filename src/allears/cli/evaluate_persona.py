"""`allears evaluate understanding persona`: how good a persona extractor is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from allears.cli.evaluate_tables import empty_table, short_name
from allears.cli.output import console, errors
from allears.cli.progress import watched
from allears.corpora import corpus as corpus_named
from allears.corpora import data_root
from allears.evaluation.persona import PersonaReport, evaluate_persona, gold_turns
from allears.evaluation.persona_judgement import check_form_path, write_form
from allears.models.extractor.loading import load_extractor

PERSONA = "persona"
_SHOWN = {
    "f1": "tells something or not: F1",
    "precision": "  precision",
    "recall": "  recall",
    "rouge_l": "ROUGE-L of turns that tell something",
    "rouge_l_found": "  where something was found",
    "similarity": "  similarity of tokens, there",
    "unsupported": "content words that were never said",
    "contradictions": "sentences opposed to the turn or to gold",
    "dropped": "sentences dropped by the check",
}


def persona(
    model: str,
    *,
    corpus: str | None,
    split: str,
    root: Path | None,
    limit: int | None,
    seed: int,
    encoder: str | None,
    all_turns: bool,
    check: bool,
    judgement: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """F1 of persona-or-not, ROUGE-L and similarity to gold, and how much is invented or opposed."""
    # Whatever can be wrong is found before the long part begins.
    if judgement is not None:
        check_form_path(judgement)
    where = corpus or "msc"
    extractor = load_extractor(model, device)
    talks = list(corpus_named(where).read(split, data_root(root)))
    turns = gold_turns(talks, all_turns=all_turns)
    comparer = None
    if encoder is not None:
        from allears.models.reader.sentence_loading import load_token_encoder

        comparer = load_token_encoder(encoder, device)
    report = evaluate_persona(
        extractor, turns, encoder=comparer, check=check, limit=limit, seed=seed, watch=watched
    )
    if judgement is not None:
        rows = write_form(judgement, report.told, talks)
        errors.print(f"wrote {rows:,} conversations to judge to {judgement}", highlight=False, soft_wrap=True)
    if as_json:
        record: dict[str, Any] = {
            "head": PERSONA,
            "model": model,
            "corpus": where,
            "split": split,
            "seed": seed,
        }
        record |= {"all_turns": all_turns, "checked": check} | report.flat()
        typer.echo(json.dumps(record))
        return
    _show(report, f"persona on {where} {split}: {short_name(model)} (%)")


def _show(report: PersonaReport, title: str) -> None:
    numbers = report.flat()
    table = empty_table(title, "measure")
    table.add_column("%", justify="right", no_wrap=True)
    for name, shown in _SHOWN.items():
        if name in numbers:
            table.add_row(shown, f"{numbers[name]:.2f}")
    console.print(table)
    console.print(
        f"{numbers['examples']:,} turns, {numbers['positives']:,} of which tell something; "
        f"{numbers['sentences']:,} sentences kept",
        highlight=False,
    )

"""`allears evaluate understanding persona`: how good a persona extractor is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from allears.cli.evaluate_tables import named_values_table
from allears.cli.output import console, print_json, say
from allears.evaluation.measured_understanding import PERSONA, measure_extractor
from allears.evaluation.names import short_name
from allears.evaluation.persona_judgement import check_form_path, write_form
from allears.evaluation.setting import EvaluationSetting

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
    corpus: str | None,
    setting: EvaluationSetting,
    *,
    encoder: str | None,
    judgement: Path | None,
    all_turns: bool,
    check: bool,
    as_json: bool,
) -> None:
    """F1 of persona-or-not, ROUGE-L and similarity to gold, and how much is invented or opposed."""
    if judgement is not None:
        check_form_path(judgement)
    measured = measure_extractor(model, corpus, setting, encoder=encoder, all_turns=all_turns, check=check)
    numbers = measured.report.flat()
    if judgement is not None:
        rows = write_form(judgement, measured.report.told, measured.conversations)
        say(f"wrote {rows:,} conversations to judge to {judgement}")
    if as_json:
        record: dict[str, Any] = {"head": PERSONA, "model": model, "corpus": measured.corpus}
        record |= {"split": setting.split, "seed": setting.seed, "all_turns": all_turns, "checked": check}
        print_json(record | numbers)
        return
    title = f"persona on {measured.corpus} {setting.split}: {short_name(model)} (%)"
    console.print(named_values_table(title, "%", _SHOWN, numbers))
    console.print(
        f"{numbers['examples']:,} turns, {numbers['positives']:,} of which tell something; "
        f"{numbers['sentences']:,} sentences kept",
        highlight=False,
    )

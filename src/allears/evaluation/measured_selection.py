"""Rankers by their names, measured on corpora by theirs: alone, against another, elsewhere, with less persona."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.conversation import Example
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError
from allears.evaluation.retrieval import RetrievalReport, read_pool, retrieval_bleu
from allears.evaluation.selection import SelectionComparison, SelectionReport, compare, evaluate_selection
from allears.evaluation.setting import EvaluationSetting
from allears.metrics.bleu import sacrebleu_metrics
from allears.models.selection.loading import load_selector
from allears.runtime.selector import Selector


@dataclass(frozen=True, slots=True)
class SelectionSetting(EvaluationSetting):
    """How every ranker of a measurement is asked."""

    candidates: int = 100
    batch: int = 32
    context_turns: int | None = None

    @property
    def title(self) -> str:
        return f"{self.split}, {self.candidates} candidates, seed {self.seed}"

    def examples(self, corpus: str) -> list[Example]:
        return split_examples(corpus, self.split, self.root, self.context_turns)

    def report(
        self, selector: Selector, examples: Sequence[Example], persona_sentences: int | None = None
    ) -> SelectionReport:
        return evaluate_selection(
            selector,
            examples,
            self.candidates,
            self.seed,
            batch=self.batch,
            persona_sentences=persona_sentences,
            limit=self.limit,
            watch=self.watch,
        )


@dataclass(frozen=True, slots=True)
class MeasuredRanker:
    """One ranker's report, and where they were asked for, another's with the comparison, and retrieval BLEU."""

    report: SelectionReport
    reports: dict[str, SelectionReport]  # of both sides, by their names
    other: str | None
    comparison: SelectionComparison | None
    retrieved: dict[str, RetrievalReport]  # by pool

    def flat(self) -> dict[str, Any]:
        """What is added to the report's own numbers in JSON."""
        record: dict[str, Any] = {}
        if self.other is not None and self.comparison is not None:
            record |= {"against": self.other} | self.comparison.flat(self.reports[self.other])
        for name, result in self.retrieved.items():
            numbers = {"avg_bleu": result.avg_bleu, "bleu_4": result.bleu_4}
            if "avg_bleu" not in record:  # the first pool's numbers also stand without its name
                record |= numbers
            record |= {f"{measure}_{name}": number for measure, number in numbers.items()}
        return record


def measure_ranker(
    model: str,
    corpus: str,
    setting: SelectionSetting,
    *,
    persona_sentences: int | None = None,
    against: str | None = None,
    against_persona: int | None = None,
    pools: Sequence[str] = (),
    by_emotion: bool = False,
) -> MeasuredRanker:
    """One ranker on one corpus, alone or beside another; whatever can be wrong is found before the long part begins."""
    if pools:
        sacrebleu_metrics()
    sides = {model: (model, persona_sentences)}
    other = _other_name(against, against_persona)
    if against is not None and other is not None:
        sides[other] = (against, persona_sentences if against_persona is None else against_persona)
    selectors = {
        name: load_selector(folder, setting.device, persona_sentences=sentences)
        for name, (folder, sentences) in sides.items()
    }
    examples = setting.examples(corpus)
    if by_emotion and not any(example.labels.get("emotion") for example in examples):
        raise AllearsError(
            f"the {setting.split} split of {corpus} carries no emotions; leave out --by-emotion"
        )
    texts_by_pool = _pools(pools, setting.root)
    reports = {
        name: setting.report(selector, examples, sides[name][1]) for name, selector in selectors.items()
    }
    report = reports[model]
    sampled = [examples[position] for position in report.positions]
    retrieved = {
        name: retrieval_bleu(
            selectors[model],
            sampled,
            texts,
            batch=setting.batch,
            persona_sentences=persona_sentences,
            watch=setting.watch,
        )
        for name, texts in texts_by_pool.items()
    }
    comparison = None if other is None else compare(report, reports[other])
    return MeasuredRanker(report, reports, other, comparison, retrieved)


def measure_transfer(
    models: Sequence[str], corpora: Sequence[str], setting: SelectionSetting
) -> dict[tuple[str, str], SelectionReport]:
    """Every model on every corpus, in their order."""
    selectors = {name: load_selector(name, setting.device) for name in models}
    splits = {name: setting.examples(name) for name in corpora}
    return {
        (model, corpus): setting.report(selector, examples)
        for model, selector in selectors.items()
        for corpus, examples in splits.items()
    }


def measure_persona_counts(
    model: str, corpus: str, counts: Sequence[int], setting: SelectionSetting
) -> dict[int, SelectionReport]:
    """The same ranker with at most so many persona sentences, for each number of `counts`."""
    selector = load_selector(model, setting.device, persona_sentences=max(counts))
    examples = setting.examples(corpus)
    if not any(example.persona.sentences for example in examples):
        raise AllearsError(
            f"the {setting.split} split of {corpus} carries no personas; every count would be the same"
        )
    return {number: setting.report(selector, examples, number) for number in counts}


def _other_name(against: str | None, persona: int | None) -> str | None:
    """What the other side of a comparison is called: the same model with less persona needs a name of its own."""
    if against is None and persona is not None:
        raise AllearsError("--against-persona says what the other model gets: name that model with --against")
    return against if against is None or persona is None else f"{against}, persona {persona}"


def _pools(names: Sequence[str], root: Path | None) -> dict[str, list[str]]:
    pools: dict[str, list[str]] = {}
    for name in names:
        # what tells a pool's numbers apart in JSON: a corpus by its name, a file by its stem
        short = re.sub(r"\W+", "_", Path(name).name.partition(".")[0].lower())
        if short in pools:
            raise AllearsError(f"two pools are called {short!r}; rename one of the files")
        pools[short] = read_pool(name, root)
    return pools

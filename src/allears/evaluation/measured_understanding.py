"""Readers by their names, measured on a head; and a persona extractor by its name, on what people wrote down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allears.conversation import Conversation
from allears.corpora import corpus as corpus_named
from allears.corpora import data_root
from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.errors import AllearsError
from allears.evaluation.persona import PersonaReport, evaluate_persona, gold_turns
from allears.evaluation.setting import EvaluationSetting
from allears.evaluation.understanding import (
    HeadComparison,
    UnderstandingReport,
    compare,
    evaluate_understanding,
)
from allears.models.extractor.loading import load_extractor
from allears.models.reader.loading import load_reading_model

PERSONA, PERSONA_CORPUS = "persona", "msc"  # no head of a reader, and where it is measured


@dataclass(frozen=True, slots=True)
class MeasuredHead:
    """One model's report on a head; with another model beside it, that one's and the comparison."""

    head: Head
    model: str
    corpus: str
    setting: EvaluationSetting
    past: str
    reports: dict[str, UnderstandingReport]  # of both models, by their names
    against: str | None
    comparison: HeadComparison | None

    @property
    def report(self) -> UnderstandingReport:
        return self.reports[self.model]

    @property
    def title(self) -> str:
        shown = f", {self.past} past strategies" if self.head.name == "strategy" else ""
        return f"{self.head.name} on {self.corpus} {self.setting.split}{shown}"

    def record(self) -> dict[str, Any]:
        """Names and numbers as `--json` prints them."""
        record: dict[str, Any] = {"head": self.head.name, "model": self.model, "corpus": self.corpus}
        record |= {"split": self.setting.split, "seed": self.setting.seed} | self.report.flat()
        if self.head.name == "strategy":
            record["past"] = self.past
        if self.against is not None and self.comparison is not None:
            record |= {"against": self.against} | self.comparison.flat(self.reports[self.against])
        return record


def measure_head(
    head: str,
    model: str,
    corpus: str | None,
    setting: EvaluationSetting,
    *,
    past: str = "gold",
    against: str | None = None,
    with_confusion: bool = False,
) -> MeasuredHead:
    """A model on a head's readings, alone or against another; `with_confusion` refuses a head that has no matrix."""
    chosen = head_named(head)
    if chosen.multi_label and with_confusion:
        raise AllearsError(f"{head} gives several labels at once, which a confusion matrix cannot show")
    names = list(dict.fromkeys([model] if against is None else [model, against]))
    models = {
        name: load_reading_model(name, chosen, setting.root, corpus=corpus, device=setting.device)
        for name in names
    }
    readings = chosen.read(setting.split, setting.root, corpus=corpus)
    seed, limit, watch = setting.seed, setting.limit, setting.watch
    reports = {
        name: evaluate_understanding(reader, chosen, readings, past=past, seed=seed, limit=limit, watch=watch)
        for name, reader in models.items()
    }
    comparison = None if against is None else compare(reports[model], reports[against], seed)
    where = corpus or chosen.corpus
    return MeasuredHead(chosen, model, where, setting, past, reports, against, comparison)


@dataclass(frozen=True, slots=True)
class MeasuredExtractor:
    """A persona extractor's report, and the conversations that it is about."""

    report: PersonaReport
    corpus: str
    conversations: Sequence[Conversation]


def measure_extractor(
    model: str,
    corpus: str | None,
    setting: EvaluationSetting,
    *,
    encoder: str | None = None,
    all_turns: bool = False,
    check: bool = True,
) -> MeasuredExtractor:
    """A persona extractor on a corpus that has a persona for each turn; `encoder` adds the similarity to gold."""
    where = corpus or PERSONA_CORPUS
    extractor = load_extractor(model, setting.device)
    talks = list(corpus_named(where).read(setting.split, data_root(setting.root)))
    turns = gold_turns(talks, all_turns=all_turns)
    comparer = None
    if encoder is not None:
        from allears.models.reader.sentence_loading import load_token_encoder

        comparer = load_token_encoder(encoder, setting.device)
    seed, limit, watch = setting.seed, setting.limit, setting.watch
    report = evaluate_persona(
        extractor, turns, encoder=comparer, check=check, limit=limit, seed=seed, watch=watch
    )
    return MeasuredExtractor(report, where, talks)

"""How often do the taggers decide alike about candidate persona sentences of a dump?

A candidate is a sentence of which rules 1 and 2 hold (4 to 20 words, the first is "i"); 3 to 5 are the question.
"""

from __future__ import annotations

import hashlib
import heapq
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from allears.corpora.reddit.dumps import read_dump
from allears.corpora.reddit.engine import open_engine
from allears.corpora.reddit.lexicon import learned_from
from allears.corpora.reddit.records import SENTENCE_RULES, candidates, cleaned, functions, record_rules
from allears.corpora.reddit.rules import kept, mark
from allears.corpora.reddit.tagger import BUILT_IN, same_decisions
from allears.errors import AllearsError


@dataclass(frozen=True, slots=True)
class Agreement:
    """The share of different sentences on which the taggers agree: of all, and of those that none of the people
    wrote whose sentences the lexicon was learned from."""

    sentences: int
    share: float
    unseen_sentences: int
    unseen_share: float


def candidate_sentences(comments: Path) -> list[tuple[str, str]]:
    """Who wrote what: pairs of an author and a sentence, each once."""
    use = functions(masked=True, tagger_name=BUILT_IN)
    with tempfile.TemporaryDirectory() as folder, open_engine("duckdb", Path(folder)) as engine:
        read_dump(comments, Path(folder) / "raw.parquet", submissions=False, author_id=lambda name: name)
        with engine.one_thread():
            records = mark(cleaned(engine.read("raw.parquet"), use), record_rules(()))
            listed = kept(mark(candidates(engine.save(records, "cleaned.parquet")), SENTENCE_RULES))
            found = listed.select("author", "text").distinct().to_pyarrow()
    return list(zip(found["author"].to_pylist(), found["text"].to_pylist(), strict=True))


def agreement(pairs: Iterable[tuple[str, str]], most: int) -> Agreement:
    """On up to `most` different sentences, chosen by a hash, so that every run takes the same ones."""
    seen: dict[str, bool] = {}
    for author, sentence in pairs:
        seen[sentence] = seen.get(sentence, False) or learned_from(author)
    if not seen:
        raise AllearsError("there are no candidate sentences to compare the taggers on")
    chosen = heapq.nsmallest(most, seen, key=lambda sentence: hashlib.sha256(sentence.encode()).digest())
    same = same_decisions(chosen)
    unseen = [alike for sentence, alike in zip(chosen, same, strict=True) if not seen[sentence]]
    return Agreement(len(same), sum(same) / len(same), len(unseen), sum(unseen) / max(len(unseen), 1))

"""Candidate persona sentences of a dump, to compare taggers on: rules 1 and 2 hold, 3 to 5 are the question."""

from __future__ import annotations

import hashlib
import heapq
import tempfile
from pathlib import Path

from allears.corpora.reddit.dumps import read_dump
from allears.corpora.reddit.engine import open_engine
from allears.corpora.reddit.records import SENTENCE_RULES, candidates, cleaned, functions, record_rules
from allears.corpora.reddit.rules import kept, mark
from allears.corpora.reddit.tagger import BUILT_IN


def candidate_sentences(comments: Path, most: int) -> list[str]:
    """Up to `most` different sentences, chosen by a hash, so that every run takes the same ones."""
    use = functions(masked=True, tagger_name=BUILT_IN)
    with tempfile.TemporaryDirectory() as folder, open_engine("duckdb", Path(folder)) as engine:
        read_dump(comments, Path(folder) / "raw.parquet", submissions=False, author_id=lambda name: "")
        with engine.one_thread():
            records = mark(cleaned(engine.read("raw.parquet"), use), record_rules(()))
            listed = kept(mark(candidates(engine.save(records, "cleaned.parquet"), use), SENTENCE_RULES))
            found = listed.select("text").distinct().to_pyarrow()["text"].to_pylist()
    return heapq.nsmallest(most, found, key=lambda sentence: hashlib.sha256(sentence.encode()).digest())

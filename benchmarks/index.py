"""How long does a search take, stage by stage, and how much of it grows with the pool?

    python benchmarks/index.py                                  # made-up vectors, a model with fresh weights
    python benchmarks/index.py --model runs/ed-cobert           # made-up vectors, that model's speed
    python benchmarks/index.py --model runs/ed-cobert --pool ed --pool dailydialog --pool personachat
    python benchmarks/index.py --json

Three stages are timed for each query, in turn over the pools so that a busy machine harms all of them alike:
encoding the query, the first stage (approximate, and exact beside it), and ranking the nearest hundred.
Recall is the share of the exact hundred nearest that the approximate first stage finds.

Made-up vectors lie in clusters, with a spectrum like that of a sentence encoder's vectors of real replies
(an effective dimension of about a hundred). With --pool the replies, and ED's valid contexts as queries, are
real, and encoded by the model: minutes for a hundred thousand.

The exit code is 1 if recall is below 98% or the largest pool's query takes twice the smallest's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from allears.conversation import Role, Turn
from allears.corpora.split_examples import split_examples
from allears.evaluation.selection import query_for
from allears.models.selection.loading import load_selector
from allears.runtime import nearest
from allears.runtime.candidates import Candidate, read_candidates
from allears.runtime.index import CandidateIndex
from allears.runtime.index_files import GRAPH_FILE, IndexWriter
from allears.runtime.selector import CandidateStates, Query
from allears.runtime.two_stage import TwoStage, two_stage

LEAST_RECALL = 0.98
MOST_GROWTH = 2.0
NEAREST = 100
TOPICS = 2000  # clusters
TOKENS = 17  # in a reply of ED, on average
WRITTEN_AT_ONCE = 5000
STAGES = ("encode", "first stage", "rank")
MESSAGE = (
    "I have been feeling really down since my dog passed away last week, and nobody at work understands. "
    "They say it was only a dog, but he was with me for fourteen years."
)


@dataclass
class Pool:
    """One index and what was measured on it; times in milliseconds, one per query."""

    index: CandidateIndex
    times: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in (*STAGES, "exact")})
    recalls: list[float] = field(default_factory=list)

    def median(self, stage: str) -> float:
        return float(np.median(self.times[stage]))

    @property
    def total(self) -> float:
        """One whole query, with the approximate first stage."""
        return float(np.median(np.sum([self.times[stage] for stage in STAGES], axis=0)))


class MadeUpVectors:
    """Clusters whose directions matter less and less, and queries from the same clusters but farther out."""

    def __init__(self, size: int, seed: int = 0):
        self.generator = np.random.default_rng(seed)
        self.scales = (1 + np.arange(size, dtype=np.float32)) ** -0.35  # variance falls as position^-0.7
        self.topics = self._noise(TOPICS)

    def draw(self, count: int, spread: float) -> np.ndarray:
        chosen = self.topics[self.generator.integers(TOPICS, size=count)]
        vectors = chosen + spread * self._noise(count)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _noise(self, count: int) -> np.ndarray:
        return self.generator.standard_normal((count, len(self.scales)), np.float32) * self.scales


def fresh_model(folder: Path) -> Any:
    """CoBERT on an encoder of gte-small's shape, exported to int8: as fast as a trained one."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers

    from allears.models.selection.saved import ModelCard, TorchSelector, build
    from allears.nn.encoder import Encoder
    from allears.text.layout import Limits
    from allears.text.tokenizer import WordPiece
    from allears.training.export.ranker import export

    torch.manual_seed(0)
    words = sorted({word.strip(".,") for word in MESSAGE.split()})
    vocabulary = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", ",", *words])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.save(str(folder / "tokenizer.json"))
    shape = {
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    }
    encoder = Encoder.from_config({"model_type": "bert", "vocab_size": 30_522} | shape)
    options = {"similarity": "cosine", "temperature": "learned", "pooled": True}
    card = ModelCard("cobert", options, Limits(), encoder=encoder.config)
    export(TorchSelector(build(card, encoder), card, WordPiece(folder)), folder / "bundle")
    return load_selector(folder / "bundle")


def made_up_index(folder: Path, count: int, vectors: MadeUpVectors, selector: TwoStage) -> CandidateIndex:
    """An index on disk as `allears index build` leaves it, with made-up vectors and token states."""
    size = len(vectors.scales)
    keeps_states = len(selector.encode_responses(["yes"]).states) > 0
    tokens = TOKENS if keeps_states else 0
    states = vectors.generator.standard_normal((WRITTEN_AT_ONCE * tokens, size), np.float32).astype(
        np.float16
    )
    with IndexWriter(folder) as writer:
        for start in track(
            range(0, count, WRITTEN_AT_ONCE), f"writing {count:,}", transient=True, console=ERRORS
        ):
            rows = min(WRITTEN_AT_ONCE, count - start)
            part = CandidateStates(
                vectors.draw(rows, 0.8), states[: rows * tokens], tokens * np.arange(rows + 1, dtype=np.int64)
            )
            texts = [Candidate(f"reply {start + row}") for row in range(rows)]
            writer.append(part, texts, np.arange(start, start + rows))
        writer.finish()
        nearest.build_graph(
            np.load(writer.data / "vectors.npy", mmap_mode="r"), writer.data / GRAPH_FILE, watch=watch
        )
        writer.commit(fingerprint=selector.fingerprint, model="", next_id=count)
    return CandidateIndex(folder, selector)


def real_indexes(
    folder: Path, pools: Sequence[str], sizes: Sequence[int], root: Path | None, selector: TwoStage
) -> list[CandidateIndex]:
    """The first replies of a shuffled pool, for each size; a size above the pool takes all of it."""
    found = list({item.text: item for pool in pools for item in read_candidates(pool, root=root)}.values())
    np.random.default_rng(0).shuffle(found)  # type: ignore[arg-type]
    chosen = sorted({min(size, len(found)) for size in sizes})
    return [
        CandidateIndex.build(folder / str(size), found[:size], selector, graph=True, watch=watch)
        for size in chosen
    ]


def measure(
    pools: Sequence[Pool], queries: Sequence[Query], selector: TwoStage, made_up: np.ndarray | None
) -> None:
    for number, query in enumerate(track(queries, "asking", transient=True, console=ERRORS)):
        for pool in pools:
            marks = [time.perf_counter()]
            encoded = selector.encode_queries([query])
            vectors = encoded.vectors if made_up is None else made_up[number : number + 1]
            marks.append(time.perf_counter())
            near, _ = pool.index.nearest(vectors, NEAREST, exact=False)
            marks.append(time.perf_counter())
            selector.rank(encoded, pool.index.reader.states, near)
            marks.append(time.perf_counter())
            exact, _ = pool.index.nearest(vectors, NEAREST, exact=True)
            marks.append(time.perf_counter())
            for stage, seconds in zip((*STAGES, "exact"), np.diff(marks), strict=True):
                pool.times[stage].append(1000 * seconds)
            pool.recalls.append(len(np.intersect1d(near, exact)) / exact.shape[1])


def report(pools: Sequence[Pool], growth: float) -> Table:
    table = Table()
    for heading in ("pool", "encode", "first stage", "(exact)", "rank 100", "together", "recall at 100"):
        table.add_column(heading, justify="right")
    for pool in pools:
        times = [pool.median(stage) for stage in ("encode", "first stage", "exact", "rank")]
        table.add_row(
            f"{len(pool.index):,}",
            *(f"{value:.2f}" for value in (*times, pool.total)),
            f"{100 * np.mean(pool.recalls):.2f}%",
        )
    table.caption = f"the largest pool's query takes {growth:.2f} times the smallest's"
    return table


ERRORS = Console(stderr=True)


def watch(items: Sequence[Any], what: str) -> Any:
    return track(items, what, transient=True, console=ERRORS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time per stage of a search, its growth, and its recall.")
    parser.add_argument("--model", help="a run folder, a bundle folder or 'default'; else fresh weights")
    parser.add_argument("--pool", action="append", help="a corpus or a file of replies; else made-up vectors")
    parser.add_argument("--root", type=Path, help="folder of the corpora (default: $ALLEARS_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # whatever counts cores, it counts these
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        selector = two_stage(load_selector(options.model) if options.model else fresh_model(folder))
        if options.pool:
            examples = split_examples("ed", "valid", options.root)
            queries = [
                query_for(example) for example in examples[:: max(1, len(examples) // options.queries)]
            ]
            indexes, made_up = real_indexes(folder, options.pool, options.sizes, options.root, selector), None
        else:
            queries = [Query((Turn(Role.SEEKER, MESSAGE),))] * options.queries
            vectors = MadeUpVectors(selector.encode_responses(["yes"]).vectors.shape[1])
            indexes = [made_up_index(folder / str(size), size, vectors, selector) for size in options.sizes]
            made_up = vectors.draw(len(queries), 1.0)
        pools = [Pool(index) for index in indexes]
        measure(pools, queries[:2], selector, made_up)  # the first touch of files and graphs is not measured
        pools = [Pool(pool.index) for pool in pools]
        measure(pools, queries, selector, made_up)
        growth = (
            max(pools, key=lambda pool: len(pool.index)).total
            / min(pools, key=lambda pool: len(pool.index)).total
        )
        recall = min(float(np.mean(pool.recalls)) for pool in pools)
        what = "made-up vectors" if made_up is not None else " + ".join(options.pool)
        if options.json:
            sizes = {
                str(len(pool.index)): {stage: pool.median(stage) for stage in (*STAGES, "exact")}
                | {"together": pool.total, "recall_at_100": float(np.mean(pool.recalls))}
                for pool in pools
            }
            print(json.dumps({"what": what, "threads": options.threads, "pools": sizes, "growth": growth}))
        else:
            print(f"milliseconds per query, median; {options.threads} threads; {what}")
            Console().print(report(pools, growth))
    sys.exit(0 if recall >= LEAST_RECALL and growth < MOST_GROWTH else 1)


if __name__ == "__main__":
    main()

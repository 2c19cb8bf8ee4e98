from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from allears.training.export.ranker import export
from tiny_models import tiny_selector

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "index.py"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    export(tiny_selector(folder / "run", pooled=True, similarity="cosine"), folder / "bundle")
    return folder / "bundle"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_stage_is_timed_for_every_pool(bundle: Path):
    done = run("--model", bundle, "--sizes", 300, 3000, "--queries", 10, "--json")
    found = json.loads(done.stdout)
    assert list(found["pools"]) == ["300", "3000"]
    for pool in found["pools"].values():
        assert set(pool) == {"encode", "first stage", "rank", "exact", "together", "recall_at_100"}
        assert min(pool.values()) > 0
        assert pool["recall_at_100"] >= 0.98
    assert done.returncode == (0 if found["growth"] < 2 else 1)


def test_a_pool_of_ones_own_is_searched_with_real_contexts(bundle: Path, tmp_path: Path):
    (tmp_path / "empatheticdialogues").mkdir()
    (tmp_path / "empatheticdialogues" / "valid.csv").write_text(
        "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
        "c:0,1,sad,p,0,my cat is lost,,\nc:0,2,sad,p,1,so sorry,,\n"
    )
    words = ["my", "your", "the", "cat", "dog", "boat", "house", "lost", "sad", "glad", "sorry"]
    replies = [f"{a} {b} {c}" for a in words for b in words for c in words[:3]]
    (tmp_path / "replies.txt").write_text("\n".join(replies))
    done = run(
        "--model", bundle, "--pool", tmp_path / "replies.txt", "--root", tmp_path, "--sizes", 200, 9999
    )
    assert "replies.txt" in done.stdout
    assert "363" in done.stdout  # a size above the pool takes all of it
    assert "recall at 100" in done.stdout

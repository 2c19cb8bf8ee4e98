from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from allears.models.generation import saved
from allears.training.export.bundle import export_together
from tiny_gguf import tiny_model
from tiny_models import tiny_selector, tiny_voice

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "generation.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    ranker = tiny_selector(folder / "ranker")
    voice = tiny_voice(ranker)
    saved.save(folder / "run", voice.module, voice.card, voice.tokenizer)
    export_together(ranker, folder / "bundle", voice=voice)
    export_together(ranker, folder / "silent")
    return folder


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_ratio_is_measured(made: Path):
    tiny = tiny_model(made)
    done = run(
        "--bundle", made / "bundle", "--run", made / "run", "--gguf", tiny.file, "--rounds", 1, "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name in (
        "two_branches_ratio",
        "proposals_in_passes",
        "cache_ratio_1",
        "cache_ratio_6",
        "words_a_second_torch",
        "llama_cpp_ratio",
        "own_clock_ratio",
        "gguf_first_word_cached_s",
    ):
        assert found[name] > 0
    assert found["same_words_1"]
    assert found["same_words_6"]
    assert isinstance(found["broken_limits"], list)


def test_a_bundle_without_a_voice_is_one_sentence(made: Path):
    done = run("--bundle", made / "silent")
    assert done.returncode == 2
    assert "carries no voice" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1

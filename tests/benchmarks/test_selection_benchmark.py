from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from allears.models.selection.saved import ENCODER_MODELS, WORD_MODELS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "selection.py"
TINY = ["--small", "--candidates", "4", "--contexts", "2", "--repeats", "1", "--threads", "1", "--json"]


@pytest.fixture(scope="module")
def benchmark() -> Any:
    specification = importlib.util.spec_from_file_location("selection_benchmark", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


def test_every_model_is_measured_against_the_bi_encoder(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(benchmark, "memory_of", lambda name, setting: 2 if name == "bow" else 4)
    assert benchmark.main(TINY) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name.partition(",")[0] for name in found["models"]} == set(WORD_MODELS | ENCODER_MODELS)
    assert all(row["time_ratio"] > 0 for row in found["models"].values())
    assert found["models"]["bow"]["memory_ratio"] == 0.5
    assert found["plain"]["largest_relative_difference"] < 1e-5


def test_memory_is_measured_in_a_process_of_its_own(benchmark: Any):
    setting = benchmark.Setting("cpu", "", True, 4, 1, 1, 1)
    held = torch.ones(200 * 2**20 // 4)  # 200 MB here must not count there
    assert 0 <= benchmark.memory_of("bi_encoder", setting) < held.nbytes / 4


def found(device: str, *, speed_up: float, cobert: float) -> dict[str, Any]:
    return {
        "device": device,
        "plain": {"scoring_speed_up": speed_up},
        "models": {"cobert": {"time_ratio": cobert}},
    }


def test_limits_are_broken_only_where_they_hold(benchmark: Any):
    assert benchmark.check(found("cpu", speed_up=8.1, cobert=9.0)) == []
    assert benchmark.check(found("cuda", speed_up=1.0, cobert=1.2)) == []
    assert benchmark.check(found("cpu", speed_up=7.9, cobert=1.0)) == [
        "CoBERT scores 7.9 times as fast as the plain way, not 8"
    ]
    assert benchmark.check(found("cuda", speed_up=9.0, cobert=1.4)) == [
        "CoBERT takes 1.40 times the Bi-encoder's time, not 1.3"
    ]


def test_check_decides_the_exit_code(benchmark: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(benchmark, "measure", lambda *_: {"broken_limits": ["too slow"]})
    assert benchmark.main([*TINY, "--check"]) == 1
    assert benchmark.main(TINY) == 0


def test_the_plain_way_and_ours_must_agree(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(benchmark.PlainCoBERT, "score", lambda self, sides: torch.ones(1, 4))
    assert benchmark.main(TINY) == 2
    assert "disagree" in capsys.readouterr().err


def test_an_encoder_that_is_not_there_is_one_sentence(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    assert benchmark.main(["--encoder", "no/such/folder", "--threads", "1"]) == 2
    assert "the encoder 'no/such/folder' cannot be loaded" in capsys.readouterr().err

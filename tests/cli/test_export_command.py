"""`allears export` through `main`: the bundle it writes, and its one sentence when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from allears.selection.runtime import OnnxSelector
from allears.understanding import saved
from allears.understanding.runtime import OnnxReader
from command_line import Run
from tiny_models import tiny_reader, tiny_selector


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "run"
    tiny_selector(folder)
    return folder


def test_it_writes_a_bundle_and_lists_its_files(run: Run, trained: Path, tmp_path: Path):
    code, out, _ = run("export", trained, "--out", tmp_path / "bundle")
    assert code == 0
    assert "cobert, int8" in out
    for name in ("tokenizer.json", "encoder.onnx", "encoder.onnx.data.0", "ranker.onnx", "together"):
        assert name in out
    assert OnnxSelector.from_bundle(tmp_path / "bundle", verify=True).card.name == "cobert"


def save_reader(folder: Path, *, of: Path, seed: int = 0) -> Path:
    reader = tiny_reader(tiny_selector(of, seed=seed))
    saved.save(folder, reader.model, reader.card, reader.tokenizer)
    return folder


def test_a_reader_goes_into_the_same_bundle(run: Run, trained: Path, tmp_path: Path):
    reader = save_reader(tmp_path / "reader" / "best", of=tmp_path / "ranker").parent
    code, out, err = run("export", trained, "--reader", reader, "--out", tmp_path / "bundle")
    assert code == 0, err
    for name in ("encoder.onnx", "ranker.onnx", "reader.onnx", "reader.json"):
        assert name in out
    assert OnnxSelector.from_bundle(tmp_path / "bundle", verify=True).ranker is not None
    assert "strategy" in OnnxReader.from_bundle(tmp_path / "bundle", verify=True).card.heads


def test_a_reader_on_another_encoder_is_one_sentence(run: Run, trained: Path, tmp_path: Path):
    reader = save_reader(tmp_path / "reader", of=tmp_path / "ranker", seed=7)
    code, _, err = run("export", trained, "--reader", reader, "--out", tmp_path / "bundle")
    assert code == 2
    assert "the reader's encoder has other weights than that of the ranker" in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "bundle").exists()


def test_a_reader_that_is_none_is_one_sentence(run: Run, trained: Path, tmp_path: Path):
    code, _, err = run("export", trained, "--reader", trained, "--out", tmp_path / "bundle")
    assert code == 2
    assert "this is no reader" in err


def test_precision_and_metrics_are_noted(run: Run, trained: Path, tmp_path: Path):
    (tmp_path / "metrics.json").write_text('{"recall_at_1": 64.2}')
    options = ("--precision", "float16", "--metrics", tmp_path / "metrics.json")
    assert run("export", trained, "--out", tmp_path / "bundle", *options)[0] == 0
    card = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    assert card["precision"] == "float16"
    assert card["metrics"] == {"recall_at_1": 64.2}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--precision", "int3"), "unknown precision 'int3'; use one of int8, float16, float32"),
        (("--metrics", "nowhere.json"), "nowhere.json: cannot be read as JSON"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    run: Run, trained: Path, tmp_path: Path, options: tuple[str, ...], problem: str
):
    code, _, err = run("export", trained, "--out", tmp_path / "bundle", *options)
    assert code == 2
    assert problem in err
    assert not (tmp_path / "bundle").exists()


def test_metrics_that_are_no_object_are_refused(run: Run, trained: Path, tmp_path: Path):
    (tmp_path / "metrics.json").write_text("[1]")
    code, _, err = run(
        "export", trained, "--out", tmp_path / "bundle", "--metrics", tmp_path / "metrics.json"
    )
    assert code == 2
    assert "expected a JSON object" in err


def test_a_folder_without_a_model_is_one_sentence(run: Run, tmp_path: Path):
    code, _, err = run("export", tmp_path, "--out", tmp_path / "bundle")
    assert code == 2
    assert "no model.json here" in err


def test_without_the_training_install_it_says_what_to_install(
    run: Run, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delitem(sys.modules, "allears.selection.export", raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = run("export", trained, "--out", tmp_path / "bundle")
    assert code == 2
    assert 'pip install "allears[train]"' in err

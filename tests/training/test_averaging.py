"""The mean of runs: what it holds, and which runs have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from allears.cli import app
from allears.errors import AllearsError
from allears.training.averaging import average_runs


def run(folder: Path, **weights: torch.Tensor) -> Path:
    (folder / "best").mkdir(parents=True)
    (folder / "best" / "model.json").write_text(json.dumps({"name": folder.name}))
    (folder / "best" / "tokenizer.json").write_text("{}")
    save_file(
        {name.replace("__", "."): value for name, value in weights.items()}, folder / "best/model.safetensors"
    )
    return folder


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "best" / "model.safetensors")


def test_weights_are_shares_of_the_whole(tmp_path):
    a, b = run(tmp_path / "a", x=torch.tensor([0.0, 4.0])), run(tmp_path / "b", x=torch.tensor([8.0, 4.0]))
    average_runs({a: 3.0, b: 1.0}, tmp_path / "mean")
    assert weights_of(tmp_path / "mean")["x"].tolist() == [2.0, 4.0]
    assert json.loads((tmp_path / "mean/best/model.json").read_text()) == {"name": "a"}
    assert (tmp_path / "mean/best/tokenizer.json").is_file()
    assert json.loads((tmp_path / "mean/average.json").read_text())["runs"] == {str(a): 3.0, str(b): 1.0}


def test_halves_are_summed_in_full_precision_and_stay_halves(tmp_path):
    values = [torch.full((1,), value, dtype=torch.float16) for value in (2048.0, 1.0, 1.0)]
    runs = {run(tmp_path / str(n), x=value): 1.0 for n, value in enumerate(values)}
    average_runs(runs, tmp_path / "mean")
    found = weights_of(tmp_path / "mean")["x"]
    assert found.dtype == torch.float16
    assert found.item() == pytest.approx(2050 / 3, rel=1e-3)


def test_a_decoder_can_come_to_another_encoder(tmp_path):
    voice = run(tmp_path / "voice", encoder__w=torch.zeros(2), decoder__w=torch.ones(2))
    ranker = run(tmp_path / "ranker", encoder__w=torch.full((2,), 5.0), scale=torch.ones(1))
    average_runs({voice: 1.0}, tmp_path / "out", encoder_of=ranker)
    found = weights_of(tmp_path / "out")
    assert set(found) == {"encoder.w", "decoder.w"}
    assert found["encoder.w"].tolist() == [5.0, 5.0]
    assert found["decoder.w"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": torch.zeros(3)}, "x differs"),
        ({"y": torch.zeros(2)}, "differs"),
    ],
)
def test_runs_of_different_models_have_no_mean(tmp_path, change, said):
    a, b = run(tmp_path / "a", x=torch.zeros(2)), run(tmp_path / "b", **change)
    with pytest.raises(AllearsError, match=said):
        average_runs({a: 1.0, b: 1.0}, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_mistakes_are_one_sentence(tmp_path):
    a = run(tmp_path / "a", x=torch.zeros(2))
    joint = tmp_path / "joint"
    run(joint / "best" / "ranker", x=torch.zeros(2))
    (joint / "best/ranker/best/model.json").rename(joint / "best/ranker/model.json")
    cut = run(tmp_path / "cut", x=torch.zeros(2))
    (cut / "best/model.safetensors").write_bytes(b"no weights")
    for given, said in (
        ([str(a), str(a)], "named twice"),
        ([f"{a}=much"], "'much' is no weight"),
        ([f"{a}=-1"], "every weight above 0"),
        ([str(tmp_path / "none")], "no model.json here"),
        ([str(joint)], "a joint run has several models"),
        ([str(cut)], "cannot be read"),
        ([str(a), "--encoder-of", str(a)], "no encoder"),
    ):
        found = CliRunner().invoke(app, ["average", *given, "--out", str(tmp_path / "mean")])
        assert isinstance(found.exception, AllearsError), (given, found.output)
        assert said in str(found.exception)
    (tmp_path / "mean").mkdir()
    with pytest.raises(AllearsError, match="exists already"):
        average_runs({a: 1.0}, tmp_path / "mean")


def test_the_command_averages(tmp_path):
    a, b = run(tmp_path / "a", x=torch.tensor([0.0])), run(tmp_path / "b", x=torch.tensor([1.0]))
    found = CliRunner().invoke(app, ["average", f"{a}=0.25", f"{b}=0.75", "--out", str(tmp_path / "mean")])
    assert found.exit_code == 0, found.output
    assert weights_of(tmp_path / "mean")["x"].tolist() == [0.75]

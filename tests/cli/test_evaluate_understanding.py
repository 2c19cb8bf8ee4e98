"""`allears evaluate understanding` through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from allears.cli import main
from allears.cli.output import console, errors
from allears.corpora.heads import HEADS
from made_up_corpora import ESCONV
from training_fixtures import corpus_root  # noqa: F401 - fixture

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(console, "_width", 200)
    monkeypatch.setattr(errors, "_width", 200)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["allears", "evaluate", "understanding", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def made_up(corpus_root: Path) -> Path:  # noqa: F811
    """The root of a small EmpatheticDialogues."""
    return corpus_root


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained reader of three heads."""
    torch = pytest.importorskip("torch")
    from allears.corpora.heads import head
    from allears.models.reader import saved
    from allears.text.layout import Limits
    from tiny_models import tiny_encoder, tiny_tokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("reader")
    encoder = tiny_encoder()
    heads = {name: head(name).labels for name in ("ed-emotion", "strategy", "goemotions")}
    card = saved.ReaderCard(heads, Limits(), encoder.config, {"multi_label": ["goemotions"]})
    saved.save(folder, saved.build(card, encoder), card, tiny_tokenizer(folder))
    return folder


def test_every_head_is_listed(run: Run):
    code, out, _ = run("list")
    assert code == 0
    assert all(name in out for name in HEADS)


def test_fasttext_is_fitted_and_measured(run: Run, made_up: Path):
    pytest.importorskip("fasttext")
    code, out, _ = run("ed-emotion", "fasttext", "--root", made_up, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["accuracy"] == 100  # four stories, each with its emotion
    assert (found["head"], found["model"], found["corpus"], found["split"]) == (
        "ed-emotion",
        "fasttext",
        "ed",
        "valid",
    )
    assert {"macro_f1", "top_1", "top_2", "top_3", "top_5", "ece", "examples"} <= set(found)
    assert found["examples"] == 30


def test_a_reader_is_measured_against_fasttext_with_pictures(
    run: Run, made_up: Path, reader: Path, tmp_path: Path
):
    pytest.importorskip("fasttext")
    pictures = tmp_path / "confusion.png", tmp_path / "sure.png"
    code, out, _ = run(
        "ed-emotion", reader, "--root", made_up, "--against", "fasttext",
        "--plot", pictures[0], "--calibration-plot", pictures[1],
    )  # fmt: skip
    assert code == 0
    assert "McNemar" in out
    assert "minus fasttext" in out
    assert all(picture.stat().st_size > 5000 for picture in pictures)


def test_the_comparison_is_in_the_json(run: Run, made_up: Path, reader: Path):
    pytest.importorskip("fasttext")
    _, out, _ = run(
        "ed-polarity", reader, "--root", made_up, "--against", "fasttext", "--json", "--limit", 20
    )
    found = json.loads(out)
    assert found["examples"] == 20
    assert found["difference"] == pytest.approx(found["accuracy"] - found["against_accuracy"])
    assert 0 <= found["p_value"] <= 1


def test_past_strategies_are_gold_or_predicted(run: Run, reader: Path, tmp_path: Path):
    root = ESCONV.write(tmp_path)
    for past in ("gold", "predicted"):
        code, out, _ = run("strategy", reader, "--root", root, "--split", "train", "--past", past, "--json")
        assert code == 0
        assert json.loads(out)["past"] == past
        assert json.loads(out)["examples"] == 5


def test_a_file_of_ones_own_is_measured(run: Run, reader: Path, tmp_path: Path):
    talk = {
        "id": "a",
        "turns": [{"speaker": "seeker", "text": "😀"}],
        "emotion": "sad",
        "situation": "It rained.",
    }
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps(talk) + "\n")
    code, out, _ = run("ed-emotion", reader, "--corpus", own, "--json")
    assert code == 0
    assert json.loads(out)["examples"] == 1
    own.write_text(json.dumps(talk | {"emotion": "purple"}) + "\n")
    code, out, err = run("ed-emotion", reader, "--corpus", own, "--json")
    assert (code, out) == (2, "")
    assert "unknown label 'purple' for the head ed-emotion" in err


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained ranker and reader on one encoder, exported."""
    pytest.importorskip("torch")
    from allears.training.export.bundle import export_with_reader
    from tiny_models import tiny_reader, tiny_selector

    folder = tmp_path_factory.mktemp("bundle")
    selector = tiny_selector(folder / "run")
    export_with_reader(selector, tiny_reader(selector), folder / "bundles" / "default", precision="float32")
    return folder / "bundles" / "default"


def test_a_bundle_is_measured(run: Run, made_up: Path, bundle: Path):
    code, out, err = run("ed-emotion", bundle, "--root", made_up, "--limit", 20, "--json")
    assert code == 0, err
    assert json.loads(out)["examples"] == 20
    assert json.loads(out)["labels"] == 32


def test_the_bundle_that_ships_with_allears_is_measured_when_none_is_named(
    run: Run, made_up: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("allears.runtime.bundle.files", lambda package: bundle.parents[1])
    named = json.loads(run("ed-emotion", "default", "--root", made_up, "--json")[1])
    assert json.loads(run("ed-emotion", "--root", made_up, "--json")[1]) == named
    assert named["model"] == "default"
    by_path = json.loads(run("ed-emotion", bundle, "--root", made_up, "--json")[1])
    assert by_path["accuracy"] == named["accuracy"]


def test_an_install_without_a_bundle_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.runtime.bundle.files", lambda package: tmp_path)
    code, _, err = run("ed-emotion")
    assert code == 2
    assert "this install carries no default bundle" in err


def test_a_bundle_is_measured_where_torch_is_not_installed(made_up: Path, bundle: Path):
    code = f"""
import sys
for name in ("torch", "transformers", "safetensors", "onnx", "accelerate", "scipy", "faiss", "fasttext"):
    sys.modules[name] = None  # as if it were not installed
sys.argv = ["allears", "evaluate", "understanding", "ed-emotion", {str(bundle)!r}, "--root", {str(made_up)!r}, "--json"]
from allears.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["examples"] == 30


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ed-emotoin", "fasttext"], "unknown head 'ed-emotoin'; did you mean 'ed-emotion'?"),
        (["ed-emotion", "nowhere"], "nowhere: no such model"),
        (["ed-emotion", "vader"], "VADER only tells positive from negative"),
        (["ed-emotion", "fasttext", "--plot", "c.bmp"], "a picture ends in"),
        (["goemotions", "fasttext", "--plot", "c.png"], "a confusion matrix cannot show"),
        (["ed-emotion", "fasttext", "--root", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run: Run, arguments: list[str], sentence: str):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1

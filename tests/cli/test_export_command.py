"""`allears export` through `main`: the bundle it writes, and its one sentence when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.decoding import Settings
from allears.models.extractor import saved as extractors
from allears.models.generation import saved as voices
from allears.models.generation.loading import load_generator
from allears.models.reader import saved
from allears.models.selection import saved as rankers
from allears.runtime.generator import Prompt
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from command_line import Run
from tiny_models import tiny_extractor, tiny_reader, tiny_selector, tiny_voice


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


def save_joint(run: Path, parts: dict[str, str]) -> Path:
    """A joint run's folder: parts by name and kind, all on one encoder."""
    ranker = tiny_selector(run.parent / "alone")
    for name, kind in parts.items():
        folder = run / "best" / name
        if kind == "ranker":
            rankers.save(folder, ranker.model, ranker.card, ranker.tokenizer)
        elif kind == "reader":
            reader = tiny_reader(ranker)
            saved.save(folder, reader.model, reader.card, reader.tokenizer)
        else:
            extractor = tiny_extractor(ranker)
            extractors.save(folder, extractor.model, extractor.card, extractor.tokenizer)
    return run


def test_a_joint_run_is_exported_with_all_its_parts(run: Run, tmp_path: Path):
    parts = {"extractor": "extractor", "ranker": "ranker", "reader": "reader"}
    code, out, err = run(
        "export",
        save_joint(tmp_path / "joint", parts),
        "--out",
        tmp_path / "bundle",
        "--precision",
        "float32",
    )
    assert code == 0, err
    for name in ("encoder.onnx", "ranker.onnx", "reader.onnx", "extractor.json", "extractor_step.onnx"):
        assert name in out
    assert OnnxSelector.from_bundle(tmp_path / "bundle", verify=True).ranker is not None
    assert "strategy" in OnnxReader.from_bundle(tmp_path / "bundle").card.heads
    extractor = extractors.load(tmp_path / "joint" / "best" / "extractor")
    said = ["my cat is lost", "a job is a job"]
    assert OnnxExtractor.from_bundle(tmp_path / "bundle").write(said) == extractor.write(said)


def test_a_joint_run_of_two_parts_is_exported_with_those(run: Run, tmp_path: Path):
    joint = save_joint(tmp_path / "joint", {"answers": "ranker", "who": "extractor"})
    code, out, err = run("export", joint, "--out", tmp_path / "bundle")
    assert code == 0, err
    assert "extractor.json" in out
    assert "reader.json" not in out


def test_an_extractor_goes_into_the_bundle_of_a_ranker_by_its_own_run(run: Run, tmp_path: Path):
    joint = save_joint(tmp_path / "joint", {"ranker": "ranker", "extractor": "extractor"}) / "best"
    code, out, err = run(
        "export", joint / "ranker", "--extractor", joint / "extractor", "--out", tmp_path / "bundle"
    )
    assert code == 0, err
    assert "extractor_gate.onnx" in out


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"who": "extractor", "reads": "reader"}, "has trained no ranker, and a bundle is made around one"),
        ({"a": "ranker", "b": "ranker"}, "two parts of one kind, a and b; export them by their own folders"),
    ],
)
def test_a_joint_run_that_is_no_bundle_is_one_sentence(
    run: Run, tmp_path: Path, parts: dict[str, str], problem: str
):
    code, _, err = run("export", save_joint(tmp_path / "joint", parts), "--out", tmp_path / "bundle")
    assert code == 2
    assert problem in err
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize(
    ("of", "problem"),
    [(0, "this is no persona extractor"), (7, "the persona extractor's encoder has other weights")],
)
def test_an_extractor_that_does_not_belong_is_one_sentence(
    run: Run, trained: Path, tmp_path: Path, of: int, problem: str
):
    other = trained
    if of:
        extractor = tiny_extractor(tiny_selector(tmp_path / "other", seed=of))
        other = tmp_path / "extractor"
        extractors.save(other, extractor.model, extractor.card, extractor.tokenizer)
    code, _, err = run("export", trained, "--extractor", other, "--out", tmp_path / "bundle")
    assert code == 2
    assert problem in err
    assert not (tmp_path / "bundle").exists()


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
    for module in ("runs", "bundle", "extractor"):
        monkeypatch.delitem(sys.modules, f"allears.training.export.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = run("export", trained, "--out", tmp_path / "bundle")
    assert code == 2
    assert 'pip install "allears[train]"' in err


# --- a voice


def save_voice(folder: Path, *, of: Path, seed: int = 0) -> Path:
    voice = tiny_voice(tiny_selector(of, seed=seed))
    voices.save(folder, voice.module, voice.card, voice.tokenizer)
    return folder


def test_a_voice_goes_into_the_same_bundle(run: Run, trained: Path, tmp_path: Path):
    voice = save_voice(tmp_path / "voice" / "best", of=tmp_path / "ranker").parent
    code, out, err = run(
        "export", trained, "--voice", voice, "--precision", "float32", "--out", tmp_path / "bundle"
    )
    assert code == 0, err
    for name in ("encoder.onnx", "ranker.onnx", "voice.json", "voice_mix.onnx", "voice_step.onnx"):
        assert name in out
    prompt = Prompt((Turn(Role.SEEKER, "my cat is lost"),), ("my dog is glad.",))
    settings = Settings(method="greedy")
    written = load_generator(tmp_path / "bundle").generate([prompt], settings)
    assert written[0][0].text == load_generator(voice).generate([prompt], settings)[0][0].text


def test_a_voice_is_added_to_a_bundle_that_is_there(run: Run, trained: Path, tmp_path: Path):
    voice = save_voice(tmp_path / "voice", of=tmp_path / "ranker")
    bundle, other = tmp_path / "bundle", tmp_path / "other"
    assert run("export", trained, "--out", bundle)[0] == 0
    before = {path.name: path.read_bytes() for path in bundle.iterdir() if path.name != "bundle.json"}
    code, out, err = run("export", bundle, "--voice", voice, "--out", other)
    assert code == 0, err
    assert "voice.json" in out
    assert not (bundle / "voice.json").exists()
    assert run("export", bundle, "--voice", voice, "--out", bundle)[0] == 0
    for folder in (bundle, other):
        assert load_generator(folder)
        assert all((folder / name).read_bytes() == content for name, content in before.items())
        assert OnnxSelector.from_bundle(folder, verify=True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "this is a bundle already; name what to add to it"),
        (["--voice", "{voice}", "--precision", "float32"], "--base, --precision, --keep-float and --metrics"),
        (["--voice", "{other}"], "the voice's encoder has other weights than that of"),
        (["--voice", "{reader}"], "this is no generator"),
    ],
)
def test_what_cannot_be_added_to_a_bundle_is_one_sentence(
    run: Run, trained: Path, tmp_path: Path, arguments: list[str], problem: str
):
    places = {
        "voice": save_voice(tmp_path / "voice", of=tmp_path / "ranker"),
        "other": save_voice(tmp_path / "other", of=tmp_path / "another", seed=7),
        "reader": save_reader(tmp_path / "reader", of=tmp_path / "ranker"),
    }
    bundle = tmp_path / "bundle"
    assert run("export", trained, "--out", bundle)[0] == 0
    before = sorted(path.name for path in bundle.iterdir())
    code, _, err = run("export", bundle, *(each.format(**places) for each in arguments), "--out", bundle)
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) == 1
    assert sorted(path.name for path in bundle.iterdir()) == before


def test_a_bundle_is_not_copied_over_something_else(run: Run, trained: Path, tmp_path: Path):
    voice = save_voice(tmp_path / "voice", of=tmp_path / "ranker")
    assert run("export", trained, "--out", tmp_path / "bundle")[0] == 0
    code, _, err = run("export", tmp_path / "bundle", "--voice", voice, "--out", trained)
    assert code == 2
    assert "exists already; give a new folder" in err

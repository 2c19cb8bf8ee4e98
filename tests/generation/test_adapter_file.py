"""An adapter's file: int8 as it is shipped, float16 as training writes it, and one sentence for a broken one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from causal_models import fresh_adapter, save_language_model, torch_generator
from generator_models import talks
from safetensors.numpy import load_file, save_file

from allears.decoding import PAL_ALPHAS, Settings
from allears.errors import AllearsError
from allears.models.generation import causal_model
from allears.models.generation.causal_model import LoadedCausal
from allears.runtime.adapter_file import pack, read_adapter, unpack, write_adapter
from allears.runtime.causal_onnx import open_adapted
from allears.training.export.adapter import export_adapter
from command_line import Run, run  # noqa: F401  # a fixture


def weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Of one layer; rows of very different sizes, one of them empty."""
    random = np.random.default_rng(seed)
    first = random.normal(size=(8, 96)) * 10.0 ** random.uniform(-5, 0, (8, 1))
    first[3] = 0
    found = {
        "model.layers.0.proj.lora_A": first,
        "model.layers.0.proj.lora_B": random.normal(size=(64, 8)) * 1e-3,
        "strategies.weight": random.normal(size=(8, 64)),
        "strategy_head.bias": random.normal(size=8),
    }
    return {name: value.astype(np.float16) for name, value in found.items()}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> LoadedCausal:
    return fresh_adapter(save_language_model(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def trained(found, tmp_path_factory) -> Path:
    """A run's folder, as training leaves it."""
    place = tmp_path_factory.mktemp("run")
    causal_model.save(place / "best", found.model, found.card)
    return place


def test_no_number_is_off_by_more_than_half_a_step_of_its_row():
    learned = weights()
    again = unpack(pack(learned))
    assert list(again) == list(learned)
    for name in ("model.layers.0.proj.lora_A", "model.layers.0.proj.lora_B"):
        wide = learned[name].astype(np.float32)
        step = np.abs(wide).max(1, keepdims=True) / 127
        assert (np.abs(again[name] - wide) <= step / 2 * 1.0001).all()
        np.testing.assert_allclose(np.abs(again[name]).max(1), np.abs(wide).max(1), rtol=1e-6)


def test_only_the_matrices_are_rounded():
    learned = weights()
    packed = pack(learned)
    assert {name: value.dtype for name, value in packed.items() if "lora" in name} == {
        "model.layers.0.proj.lora_A": np.int8,
        "model.layers.0.proj.lora_A.scale": np.float16,
        "model.layers.0.proj.lora_B": np.int8,
        "model.layers.0.proj.lora_B.scale": np.float16,
    }
    for name in ("strategies.weight", "strategy_head.bias"):
        np.testing.assert_array_equal(unpack(packed)[name], learned[name].astype(np.float32))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_packing_again_changes_nothing(kind):
    once = pack({name: value.astype(kind) for name, value in weights().items()})
    twice = pack(unpack(once))
    assert once.keys() == twice.keys()
    for name, value in once.items():
        np.testing.assert_array_equal(twice[name], value)


def test_a_float16_file_is_read_as_it_is(tmp_path):
    learned = weights()
    save_file(learned, tmp_path / "model.safetensors")
    for name, value in read_adapter(tmp_path / "model.safetensors").items():
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, learned[name].astype(np.float32))


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e6])
def test_numbers_that_float16_cannot_hold_are_not_written(tmp_path, bad):
    learned = {name: value.astype(np.float32) for name, value in weights().items()}
    learned["model.layers.0.proj.lora_B"][5, 2] = bad
    with pytest.raises(AllearsError, match="lora_B holds numbers that float16 cannot"):
        write_adapter(tmp_path / "model.safetensors", learned)
    assert not list(tmp_path.iterdir())


MATRIX = "model.layers.0.proj.lora_A"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda kept: kept.pop(f"{MATRIX}.scale"), r"lora_A is int8, but its .*lora_A\.scale is missing"),
        (lambda kept: kept.pop(MATRIX), r"lora_A\.scale has no int8 matrix"),
        (
            lambda kept: kept.update({MATRIX: np.zeros((8, 96), np.float16)}),
            r"lora_A\.scale has no int8 matrix",
        ),
        (
            lambda kept: kept.update({f"{MATRIX}.scale": np.ones(7, np.float16)}),
            r"lora_A\.scale is float16 \[7\], expected one float16 for each row of \[8, 96\]",
        ),
        (
            lambda kept: kept.update({f"{MATRIX}.scale": np.full(8, np.nan, np.float16)}),
            "lora_A holds numbers that are not finite",
        ),
        (
            lambda kept: kept.update({"strategies.weight": np.zeros((8, 64), np.int64)}),
            "strategies.weight is kept in int64, expected float16 or int8",
        ),
    ],
)
def test_a_broken_file_is_one_sentence_that_names_it(tmp_path, change, sentence):
    kept = pack(weights())
    change(kept)
    path = tmp_path / "model.safetensors"
    save_file(kept, path)
    with pytest.raises(AllearsError, match=sentence) as told:
        read_adapter(path)
    assert str(told.value).startswith(f"{path}: the adapter is missing or corrupt (")


def test_half_a_file_is_one_sentence(tmp_path):
    path = tmp_path / "model.safetensors"
    write_adapter(path, weights())
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(AllearsError, match="the adapter is missing or corrupt"):
        read_adapter(path)


def test_the_shipped_adapter_is_half_as_large_and_writes_the_same(found, trained, tmp_path):
    _, small = export_adapter(trained, tmp_path / "shipped")
    own, shipped = load_file(trained / "best" / "model.safetensors"), load_file(small)
    size = [sum(value.nbytes for value in kept.values()) for kept in (own, shipped)]
    assert size[1] < 0.7 * size[0]  # a tiny model: its vectors, which stay, weigh more than in a real one
    again = causal_model.load(tmp_path / "shipped")
    prompts = [example.prompt for example in talks(6)]
    greedy = Settings(method="greedy", longest=16)
    written = [
        [each[0].text for each in generator.generate(prompts, greedy, alphas=PAL_ALPHAS.all(0))]
        for generator in (torch_generator(found), again)
    ]
    likely = [
        [each.log_probability for each in generator.log_likelihood(prompts, written[0])]
        for generator in (torch_generator(found), again)
    ]
    assert likely[1] == pytest.approx(likely[0], rel=0.01)
    assert sum(mine == theirs for mine, theirs in zip(*written, strict=True)) >= 5


def test_the_shipped_adapter_runs_without_torch(found, trained, tmp_path):
    export_adapter(trained, tmp_path / "shipped")
    prompts = [example.prompt for example in talks(4)]
    replies = ["so sorry about your cat."] * 4
    light = open_adapted(tmp_path / "shipped", cache=tmp_path / "cache", threads=1)
    mine, theirs = (
        [each.log_probability for each in generator.log_likelihood(prompts, replies)]
        for generator in (light, torch_generator(found))
    )
    assert mine == pytest.approx(theirs, rel=0.03)  # what the int8 graph itself changes


def test_the_export_command_ships_an_adapter(run: Run, trained, tmp_path):  # noqa: F811
    code, out, err = run("export", trained, "--out", tmp_path / "shipped")
    assert code == 0, err
    assert "language-model, int8" in out
    assert "model.safetensors" in out
    assert sorted(path.name for path in (tmp_path / "shipped").iterdir()) == [
        "model.json",
        "model.safetensors",
    ]
    assert (tmp_path / "shipped" / "model.json").read_bytes() == (
        trained / "best" / "model.json"
    ).read_bytes()
    assert {str(value.dtype) for value in load_file(tmp_path / "shipped" / "model.safetensors").values()} == {
        "int8",
        "float16",
    }
    if sys.platform != "win32":  # whoever installs it is not always who uses it
        assert (tmp_path / "shipped" / "model.safetensors").stat().st_mode == (
            tmp_path / "shipped" / "model.json"
        ).stat().st_mode


def test_exporting_what_was_exported_gives_the_same_bytes(trained, tmp_path):
    _, once = export_adapter(trained, tmp_path / "once")
    _, twice = export_adapter(tmp_path / "once", tmp_path / "twice")
    assert once.read_bytes() == twice.read_bytes()


def test_a_place_that_an_adapter_cannot_take_is_one_sentence(run: Run, trained, tmp_path):  # noqa: F811
    before = (trained / "best" / "model.safetensors").read_bytes()
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "bundle.json").write_text("{}")
    (tmp_path / "file").write_text("")
    for out, sentence in (
        (trained, "this is the run itself"),
        (trained / "best", "this is the run itself"),
        (tmp_path / "bundle", "a bundle is here, and an adapter is none"),
        (tmp_path / "file", "the adapter cannot be written there"),
    ):
        code, _, err = run("export", trained, "--out", out)
        assert code == 2
        assert sentence in " ".join(err.split())
    assert (trained / "best" / "model.safetensors").read_bytes() == before


def test_options_that_an_adapter_has_no_use_for_are_one_sentence(run: Run, trained, tmp_path):  # noqa: F811
    for options in (("--precision", "float32"), ("--voice", trained), ("--keep-float", "layer.1")):
        code, _, err = run("export", trained, "--out", tmp_path / "shipped", *options)
        assert code == 2
        assert "is exported alone and in int8; give --out and nothing else" in " ".join(err.split())
    assert not (tmp_path / "shipped").exists()


def test_an_adapter_is_exported_without_torch(trained, tmp_path):
    import subprocess

    code = (
        "import sys; from allears.training.export.adapter import export_adapter; "
        f"export_adapter({str(trained)!r}, {str(tmp_path / 'shipped')!r}); "
        "assert not {'torch', 'transformers', 'peft'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""From a joint recipe to a bundle that ranks, reads and remembers: train, export, open."""

from __future__ import annotations

from pathlib import Path

from persona_models import ranker_beside, save_small_encoder, small_extractor, write_corpora

from allears.models.extractor import saved
from allears.models.selection import saved as rankers
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.loop import train
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task
from command_line import Run, run  # noqa: F401 - fixture

EXTRACTOR = Path(__file__).parents[3] / "recipes" / "persona-extractor.toml"
RANKER = """task = "selection"
[data]
train = ["ed"]
valid = "ed"
root = "{root}"
candidates = 10
[model]
name = "cobert"
encoder = "{encoder}"
[limits]
context_tokens = 60
[negatives]
part = 4
[training]
batch = 8
"""
READER = """task = "understanding"
[data]
root = "{root}"
[heads]
names = ["ed-emotion"]
[model]
encoder = "{encoder}"
[limits]
context_tokens = 60
first_turn_tokens = 40
[training]
batch = 8
metric = "accuracy"
"""
JOINT = """task = "joint"
[[parts]]
name = "ranker"
recipe = "{ranker}"
[[parts]]
name = "reader"
recipe = "{reader}"
[[parts]]
name = "who"
recipe = "{extractor}"
set = ["data.root={root}", "model.encoder={encoder}", "model.layers=2", "limits.utterance_tokens=24",
  "limits.persona_tokens=16", "training.batch=16", "training.epochs=2"]
rounds = 2.0
[training]
epochs = 2
accumulate = 3
learning_rate = 2e-3
head_learning_rate = 2e-3
metric = "score"
"""


def test_one_command_makes_one_bundle_of_a_joint_run(tmp_path: Path, corpus_root: Path, run: Run):  # noqa: F811
    write_corpora(corpus_root)
    places = {
        "root": corpus_root,
        "encoder": save_small_encoder(tmp_path / "encoder"),
        "extractor": EXTRACTOR,
    }
    for name, text in (("ranker", RANKER), ("reader", READER), ("joint", JOINT)):
        places[name] = tmp_path / f"{name}.toml"
        places[name].write_text(text.format(**places))
    recipe = read_recipe(places["joint"])
    train(make_task(recipe, tmp_path / "run"), recipe, tmp_path / "run")

    code, out, err = run("export", tmp_path / "run", "--out", tmp_path / "bundle")
    assert code == 0, err
    assert "extractor_step.onnx" in out
    bundle = tmp_path / "bundle"
    selector = OnnxSelector.from_bundle(bundle, verify=True)
    reader = OnnxReader.from_bundle(bundle, selector.encoder, selector.tokenizer)
    extractor = OnnxExtractor.from_bundle(bundle, selector.encoder, selector.tokenizer)
    assert list(reader.card.heads) == ["ed-emotion"]
    model = saved.load(tmp_path / "run" / "best" / "who")
    assert extractor.card.threshold == model.card.threshold
    said = ["hello, i work on a boat today, and you?", "do you have a boat in oslo?"]
    assert abs(extractor.tells(said) - model.tells(said)).max() < 0.05

    (tmp_path / "said.txt").write_text("\n".join(said))
    code, _, err = run("persona", "extract", tmp_path / "said.txt", "--model", bundle, "--json")
    assert code == 0, err


def test_an_extractor_on_a_frozen_encoder_goes_into_the_rankers_bundle(tmp_path: Path, run: Run):  # noqa: F811
    ranker = ranker_beside(small_extractor(tmp_path / "tokenizer"))
    rankers.save(tmp_path / "ranker", ranker.model, ranker.card, ranker.tokenizer)
    changes = {
        "data.root": write_corpora(tmp_path / "data"),
        "model.encoder": "",
        "model.start": tmp_path / "ranker",
        "model.layers": 1,
        "limits.utterance_tokens": 24,
        "limits.persona_tokens": 16,
        "training.batch": 16,
        "training.epochs": 1,
        "training.learning_rate": 0.0,
        "training.head_learning_rate": 2e-3,
    }
    recipe = read_recipe(EXTRACTOR, [f"{key}={value}" for key, value in changes.items()])
    train(make_task(recipe, tmp_path / "run"), recipe, tmp_path / "run")
    code, _, err = run(
        "export", tmp_path / "ranker", "--extractor", tmp_path / "run", "--out", tmp_path / "bundle"
    )
    assert code == 0, err
    assert OnnxExtractor.from_bundle(tmp_path / "bundle").card.layers == 1
